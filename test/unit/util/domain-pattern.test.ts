import { expect, test } from 'vitest'
import { coversDomain, isDomainPattern } from '../../../src/util/domain-pattern.ts'

test.each([
  ['shop.example.com', true],
  ['*.example.com', true],
  ['localhost', true],
  ['*', false],
  ['', false],
  ['*.', false],
  ['a.*.example.com', false],
  ['*example.com', false],
  ['Shop.example.com', false],
  ['shop.example.com.', false],
  ['-a.example.com', false],
  [`${'a.'.repeat(130)}com`, false],
] as const)('%j is a name or a pattern: %s', (text, is) => {
  expect(isDomainPattern(text)).toBe(is)
})

test('a pattern covers what is below it at any depth, and neither its own suffix nor what only ends alike', () => {
  const covered = ['a.example.com', 'b.a.example.com', '*.example.com', 'example.com', 'aexample.com', '.example.com']
  expect(covered.map((name) => coversDomain('*.example.com', name))).toEqual([true, true, true, false, false, false])
  expect(covered.map((name) => coversDomain('example.com', name))).toEqual([false, false, false, true, false, false])
})
