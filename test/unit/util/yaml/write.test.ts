import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readYaml } from '../../../../src/util/yaml/read.ts'
import { looksLikeAnother, writeYaml } from '../../../../src/util/yaml/write.ts'
import { awkwardTexts } from '../../../yaml/awkward-texts.ts'

const text = fc.oneof(
  fc.constantFrom(...awkwardTexts),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((each) => each.isWellFormed()),
  fc.array(fc.constantFrom(...awkwardTexts), { maxLength: 3 }).map((parts) => parts.join('\n')),
)

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}))

describe('what is written as YAML', () => {
  test.each(['1.1', '1.2'] as const)('is read the same by a reader of YAML %s, and as kubectl reads', (version) => {
    fc.assert(
      fc.property(fc.dictionary(text, value, { minKeys: 1 }), (content) => {
        const expected: unknown = JSON.parse(JSON.stringify(content))
        const written = writeYaml(content)
        expect(parse(written, { version })).toEqual(expected)
        expect(readYaml(written).map((document) => document.value)).toEqual([expected])
        expect(readYaml(written).flatMap(({ warnings }) => warnings)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('quotes what only one version of YAML takes for text, and keeps lines readable', () => {
    expect(
      writeYaml({ on: 'yes', name: 'office', cidr: '192.0.2.0/24', url: 'https://a.example/x', pem: 'one\ntwo\n' }),
    ).toBe('"on": "yes"\nname: office\ncidr: "192.0.2.0/24"\nurl: https://a.example/x\npem: |\n  one\n  two\n')
  })

  test('cannot hold half a surrogate pair', () => {
    expect(() => writeYaml({ a: '\ud83d' })).toThrow(RangeError)
  })
})

test.each(['on', 'no', 'y', 'n', 'off', 'true', 'null', '1000', '0310', '1e3', '0x1f', '2001-01-01', '-1'])(
  'the name %s may be taken for something else',
  (name) => {
    expect(looksLikeAnother(name)).toBe(true)
  },
)

test.each(['office', 'one', 'x1', 'null-route', '192-0-2-0-24-shop', 'nope'])('the name %s is text to all', (name) => {
  expect(looksLikeAnother(name)).toBe(false)
})
