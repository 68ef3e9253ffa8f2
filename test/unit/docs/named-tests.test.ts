import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** A test, or a folder of tests, as these pages name them: `unit/kube/client`. */
const NAMED = /`(?<name>(?:unit|contract|cluster|hostile|faults|chart|image|node)\/[a-z0-9/-]+)`/g

const tests = new Set<string>()
for await (const path of glob('**/*.test.ts', { cwd: join(ROOT, 'test') })) tests.add(path.replace(/\.test\.ts$/, ''))

function isThere(name: string): boolean {
  return [...tests].some((path) => path === name || path.startsWith(`${name}/`) || path.startsWith(`${name}-`))
}

test.each(['internals/history.md', 'reliability.md'])('every test that docs/%s names exists', async (page) => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8')
  const names = [...text.matchAll(NAMED)].map(({ groups }) => groups?.name ?? '')
  expect(names.length).toBeGreaterThan(0)
  expect([...new Set(names)].filter((name) => !isThere(name))).toEqual([])
})
