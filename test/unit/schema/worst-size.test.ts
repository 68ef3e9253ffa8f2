import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { sizeProblem, worstSize } from '../../../scripts/crds/worst-size.ts'
import {
  anyObject,
  bytesText,
  choice,
  integer,
  list,
  object,
  stringMap,
  text,
  timestamp,
} from '../../../src/schema/define.ts'
import { isASCII } from '../../../src/schema/pattern.ts'
import { atMostOne, keysLimit, mapLimit, unionOf } from '../../../src/schema/rules.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { budgetOf, textBudget } from '../../../src/schema/text-budget.ts'

const d = { description: 'A field.' }
const short = text({ ...d, maxLength: 10 })
const size = (schema: TSchema) => worstSize(toStructural(schema, 'spec'), 'spec')

describe('the largest value', () => {
  test.each<[string, TSchema, number]>([
    ['a text counts four bytes for each character', short, 2 + 40],
    ['a text that is limited in bytes counts these', bytesText('a', 10, d), 2 + 10],
    ['a text of an ASCII pattern counts its characters', text({ ...d, maxLength: 10, pattern: '^[a-z]+$' }), 2 + 10],
    ['a choice counts its longest word', choice(['Allow', 'Inline'], d), 8],
    ['a time is short', timestamp(d), 42],
    ['a list counts its items and commas', list(short, { ...d, maxItems: 3 }), 2 + 3 * 43],
    ['a map counts names', stringMap(short, { ...d, maxProperties: 2, rules: [keysLimit(5, 'a')] }), 2 + 2 * 66],
    [
      'a map that is limited as a whole',
      stringMap(short, { ...d, maxProperties: 2, rules: [mapLimit(9, 6, 'a')] }),
      38,
    ],
    ['fields are named', object({ a: short }, d), 2 + 5 + 42],
    [
      'of alternatives the larger counts',
      object({ a: short, b: integer(d) }, { ...d, rules: [atMostOne(['a', 'b'])] }),
      49,
    ],
  ])('%s', (_what, schema, bytes) => {
    expect(size(schema).bytes).toBe(bytes)
  })

  test('of a union counts its largest member, next to the discriminator', () => {
    const members = { a: Type.Optional(short), b: Type.Optional(integer(d)) }
    const union = object(
      { type: choice(['A', 'B'], d), ...members },
      { ...d, rules: [unionOf('type', { A: 'a', B: 'b' })] },
    )
    expect(size(union).bytes).toBe(2 + (8 + 3) + (5 + 42))
  })

  test.each<[string, TSchema]>([
    ['a text without maxLength', text(d)],
    ['a list of such', list(text(d), { ...d, maxItems: 1 })],
    ['a map whose names have no limit', stringMap(short, { ...d, maxProperties: 1 })],
  ])('has no bound with %s', (_what, schema) => {
    expect(size(object({ a: schema }, d)).bytes).toBe(Number.POSITIVE_INFINITY)
  })

  test('content that the schema leaves open is named, and not counted', () => {
    expect(size(object({ config: anyObject(d) }, d))).toMatchObject({ bytes: 2 + 10 + 2, opaque: ['spec.config'] })
  })
})

describe('a limit of texts together', () => {
  const budget = { lists: ['inbound', 'outbound'], texts: 'expressions', characters: 100 }
  const rules = list(object({ expressions: list(text({ ...d, maxLength: 90 }), { ...d, maxItems: 9 }) }, d), {
    ...d,
    maxItems: 9,
  })

  test('is known by its rule, and no other rule is taken for one', () => {
    expect(budgetOf(textBudget(budget))).toEqual(budget)
    expect(budgetOf({ rule: 'size(self.inbound) <= 100', message: 'inbound' })).toBeUndefined()
  })

  test('counts once for all', () => {
    const spec = (limits: Parameters<typeof textBudget>[0][]) =>
      object({ inbound: rules, outbound: rules }, { ...d, rules: limits.map(textBudget) })
    expect(size(spec([])).bytes).toBeGreaterThan(2 * 81 * 360)
    expect(size(spec([budget])).bytes).toBeLessThan(2 * 81 * 4 + 400 + 500)
  })
})

test('what is too large is reported with its size and the places that take most', () => {
  const spec = toStructural(object({ a: list(short, { ...d, maxItems: 100 }), b: short }, d), 'spec')
  expect(sizeProblem(spec, 'spec', 5000)).toBeUndefined()
  expect(sizeProblem(spec, 'spec', 1000)).toMatch(/takes 4,\d{3} bytes .* most is taken by spec\.a\[\] \(4,200 bytes\)/)
})

test.each([
  ['^[a-z]+$', true],
  ['^(?:a|b)\\w$', true],
  ['[a-z]+', false],
  ['^a|b$', false],
  ['^[^a]$', false],
  ['^\\D$', false],
  ['^a\\$', false],
])('that %s admits ASCII alone is %s', (pattern, ascii) => {
  expect(isASCII(pattern)).toBe(ascii)
})
