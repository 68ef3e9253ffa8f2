import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergePatch } from '../../../../src/managed/run/merge-patch.ts'
import { applyMergePatch, equalJSON } from '../../../../src/util/json.ts'

/**
 * JSON objects without null, which a merge patch cannot set; names often collide, so that fields change, appear and
 * disappear.
 */
const { object } = fc.letrec<{ object: Record<string, unknown>; value: unknown }>((tie) => ({
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', ''), tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('', 'x', 0, 1, true, false),
    fc.array(fc.constantFrom(1, 2, 'x'), { maxLength: 3 }),
    tie('object'),
  ),
}))

test('a server that applies the patch has what was wanted', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const patch = mergePatch(before, after)
      expect(equalJSON(patch === undefined ? before : applyMergePatch(before, patch), after)).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test('equal documents need no patch, whatever the order of their fields', () => {
  fc.assert(
    fc.property(object, (document) => {
      const reordered = Object.fromEntries(Object.entries(document).reverse())
      expect(mergePatch(document, reordered)).toBeUndefined()
    }),
  )
})

test('a patch names only what differs', () => {
  const before = { id: 'a', create: { nonce: 'n', attempt: 1 }, conditions: [1], uri: 'u' }
  const after = { id: 'a', create: { nonce: 'm', attempt: 1 }, conditions: [1], uri: undefined }
  expect(mergePatch(before, after)).toEqual({ create: { nonce: 'm' }, uri: null })
})

test('undefined fields equal absent ones', () => {
  expect(mergePatch({ a: undefined, b: { c: undefined } }, { b: {} })).toBeUndefined()
})
