import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { equalJSON } from '../../../src/util/json.ts'

/** The meaning, in plain words: equal once absent and undefined fields are left out. */
function isEqual(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(compact(left), compact(right))
}

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.map(([key, field]) => [key, compact(field)]))
}

const key = fc.constantFrom('a', 'b', 'constructor', 'toString')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, '', 'a', null, true, undefined),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

test('two values are equal if they are the same once undefined fields are left out', () => {
  fc.assert(
    fc.property(value, value, (left, right) => {
      expect(equalJSON(left, right)).toBe(isEqual(left, right))
    }),
    { numRuns: 5000 },
  )
})

test('a copy is equal, whatever the order of its fields and with fields that are undefined', () => {
  fc.assert(
    fc.property(value, (original) => {
      const copy = structuredClone(original)
      expect(equalJSON(original, copy)).toBe(true)
      expect(equalJSON({ a: original, b: 1, c: undefined }, { b: 1, a: copy })).toBe(true)
    }),
  )
})
