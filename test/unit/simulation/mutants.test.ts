import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { protocolMutants } from '../../mutants/all.ts'
import { AT_REST, NOT_AT_REST, suites } from '../../mutants/at-rest.ts'
import { withSeams } from '../../mutants/with-seams.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(`${ROOT}${file}`, 'utf8'))

it.each(protocolMutants)('the mutant "$title" replaces what exactly one module exports', ({ seams }) => {
  for (const seam of seams) {
    if (seam.type === 'method') continue
    const found = sources.filter((source) => withSeams(source, new Set([seam.name])) !== undefined)
    expect(found, seam.name).toHaveLength(1)
  }
})

it('gives each mutant a title of its own, and a suite that must detect it', () => {
  expect(new Set(protocolMutants.map(({ title }) => title)).size).toBe(protocolMutants.length)
  expect(protocolMutants.filter(({ killers }) => killers.length === 0)).toEqual([])
  expect(protocolMutants.length).toBeLessThanOrEqual(20)
})

it('expects every suite of the matrix to detect an object unlike its spec, except existing ones that are named', () => {
  const expected = new Set(AT_REST.map(({ suite }) => suite))
  const others = suites.filter((suite) => !expected.has(suite))
  expect(new Set(others)).toEqual(new Set(Object.keys(NOT_AT_REST)))
  expect(expected.size).toBeGreaterThan(others.length)
})
