import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { celProblem } from '../../../src/emulator/fields/cel-syntax.ts'

/** What the parser of cel-go v0.26.0 says of each, with all macros and without extensions. */
const { valid, invalid } = JSON.parse(
  readFileSync(new URL('../../fixtures/cel-expressions.json', import.meta.url), 'utf8'),
) as { readonly valid: readonly string[]; readonly invalid: readonly string[] }

test.each(valid)('%j is an expression', (text) => {
  expect(celProblem(text)).toBeUndefined()
})

test.each(invalid)('%j is no expression', (text) => {
  expect(celProblem(text)).toBeDefined()
})

test('the position of a problem is counted from 0', () => {
  expect(celProblem('a &&& b')).toEqual({ summary: 'unexpected "&"', position: 4 })
  expect(celProblem('1 +')).toEqual({ summary: 'unexpected end', position: 3 })
})

test('an expression of any length and depth is judged', () => {
  expect(celProblem('('.repeat(500_000))?.summary).toBe('deeper than 250 levels')
  expect(celProblem(`${'!'.repeat(500_000)}a`)).toBeUndefined()
  expect(celProblem(Array(100_000).fill('has(a.b)').join(' && '))).toBeUndefined()
})
