import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sameContent } from '../../../src/api/same-content.ts'

const json = fc.jsonValue() as fc.Arbitrary<unknown>

it('a value has the same content as itself sent over the wire', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(sameContent(value, JSON.parse(JSON.stringify(value)))).toBe(true)
    }),
  )
})

it('the order of members and members that are null do not matter', () => {
  const members = fc.dictionary(fc.string(), json)
  fc.assert(
    fc.property(members, fc.string(), (value, key) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse())
      expect(sameContent(value, reversed)).toBe(true)
      const { [key]: _, ...without } = value
      expect(sameContent(without, { ...without, [key]: null })).toBe(true)
    }),
  )
})

it.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, {}],
  [{ a: {} }, { a: [] }],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, null]],
  [{ a: '' }, { a: null }],
  [{ a: false }, {}],
  [0, '0'],
  [null, 0],
])('%j differs from %j', (a, b) => {
  expect(sameContent(a, b)).toBe(false)
  expect(sameContent(b, a)).toBe(false)
})
