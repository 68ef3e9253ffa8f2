import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** As wide as the formatter makes code: it leaves comments as they are. */
const WIDEST = 120

test('comments in the code are at most as wide as the code', () => {
  const files = globSync('{src,test,scripts,bench,controlplane}/**/*.ts', { cwd: ROOT })
  expect(files.length).toBeGreaterThan(1_000)
  const wide = files.flatMap((file) => {
    const lines = readFileSync(`${ROOT}${file}`, 'utf8').split('\n')
    return lines.flatMap((line, index) => {
      return line.length > WIDEST && /^\s*(\* |\/\/|\/\*)/.test(line) ? [`${file}:${index + 1}`] : []
    })
  })
  expect(wide).toEqual([])
})
