import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Files that people copy from. */
const SHOWN = [
  '*.md',
  'docs/**/*.md',
  'examples/**/*.yaml',
  'gitops/**/*',
  'charts/culvert/{README.md,values.yaml}',
  'charts/culvert/templates/NOTES.txt',
  'src/cli/**/*.ts',
]
/** An entry of `access` for every namespace, in YAML or JSON. */
const EVERYBODY = /namespaceSelector["']?:\s*\{\s*\}/

test('no example shares an account with every namespace', async () => {
  const found: string[] = []
  let files = 0
  for await (const path of glob(SHOWN, { cwd: ROOT })) {
    const text = await readFile(join(ROOT, path), 'utf8').catch(() => '')
    files++
    if (EVERYBODY.test(text)) found.push(path)
  }
  expect(files).toBeGreaterThan(80)
  expect(found).toEqual([])
})
