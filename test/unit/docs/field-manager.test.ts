import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** A command with arguments; prose names some without any. Of subresources, Flux takes nothing. */
const WRITES = /kubectl [^`]*\b(?:annotate|label|patch) (?!--subresource)[^`\s]/

// Flux removes what managers with names that begin with `kubectl` have set.
test('every command that writes into a resource names a field manager that Flux leaves alone', () => {
  const files = globSync(['*.md', '{docs,examples,charts,gitops,src}/**/*.{md,yaml,txt,tpl,ts}'], {
    cwd: ROOT,
    exclude: ['docs/decisions/*'],
  })
  const lines = files.flatMap((file) => {
    return readFileSync(`${ROOT}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) => (WRITES.test(line) ? [{ at: `${file}:${index + 1}`, line }] : []))
  })
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.filter(({ line }) => !line.includes('--field-manager=culvert-user'))).toEqual([])
})
