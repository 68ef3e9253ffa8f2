import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameFrom, namesFor, type Unnamed } from '../../../../src/cli/export/resource-names.ts'

/** What RFC 1123 says of a label. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Texts that people write, and some that they should not. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.constantFrom(
    '',
    '---',
    'Büro – Zürich',
    '*.example.com',
    'office',
    'Office',
    'offiCE ',
    '办公室',
    '𝒪ffice',
    'a'.repeat(300),
  ),
)

const object: fc.Arbitrary<Unnamed> = fc.record({
  id: fc.uuid().map((id) => `ipp_${id.replaceAll('-', '')}`),
  createdMs: fc.integer({ min: 0, max: 3 }),
  given: fc.option(fc.constantFrom('office', 'shop', 'a'), { nil: undefined, freq: 5 }),
  texts: fc.array(fc.option(text, { nil: undefined }), { maxLength: 3 }),
  otherwise: fc.constant('ippolicy'),
})

const objects = fc.uniqueArray(object, { selector: ({ id }) => id, maxLength: 40 })

test('every object gets a name of its own that Kubernetes accepts', () => {
  fc.assert(
    fc.property(objects, (all) => {
      const names = namesFor(all)
      expect([...names.keys()].toSorted()).toEqual(all.map(({ id }) => id).toSorted())
      expect(new Set(names.values()).size).toBe(all.length)
      for (const name of names.values()) expect(name).toMatch(LABEL)
    }),
  )
})

test('names do not depend on the order of the objects', () => {
  fc.assert(
    fc.property(
      objects.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        expect(new Map([...namesFor(shuffled)].toSorted())).toEqual(new Map([...namesFor(all)].toSorted()))
      },
    ),
  )
})

test('a newer object changes no name of an older one', () => {
  const unmarked = objects.map((all) => all.map((each) => ({ ...each, given: undefined })))
  fc.assert(
    fc.property(unmarked, object, (all, newer) => {
      const before = namesFor(all)
      const after = namesFor([...all, { ...newer, id: 'ipp_newer', given: undefined, createdMs: 9 }])
      for (const [id, name] of before) expect(after.get(id)).toBe(name)
    }),
  )
})

test('of objects that are known by the same text, the oldest has the plain name', () => {
  const twins = ['ipp_2abcdef', 'ipp_1uvwxyz'].map((id, index) => {
    return { id, createdMs: 1 - index, given: undefined, texts: ['The Office!'], otherwise: 'ippolicy' }
  })
  expect([...namesFor(twins).entries()]).toEqual([
    ['ipp_1uvwxyz', 'the-office'],
    ['ipp_2abcdef', 'the-office-abcdef'],
  ])
})

test.each([
  ['Büro – Zürich', 'buro-zurich'],
  ['*.Example.com', 'wildcard-example-com'],
  ['  --x--  ', 'x'],
  ['办公室', undefined],
  ['', undefined],
  [
    'a very long description that continues and continues until nobody reads it',
    'a-very-long-description-that-continues-and',
  ],
])('%j becomes %j', (from, name) => {
  expect(nameFrom(from)).toBe(name)
})
