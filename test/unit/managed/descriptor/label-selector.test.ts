import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LabelSelector, selects } from '../../../../src/managed/descriptor/label-selector.ts'

const key = fc.constantFrom('team', 'stage', 'tier')
const value = fc.constantFrom('', 'a', 'b')
const labels = fc.dictionary(key, value, { maxKeys: 3 })
const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.array(value, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
)
const selectors: fc.Arbitrary<LabelSelector> = fc.record(
  { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 3 }) },
  { requiredKeys: [] },
)

test('no selector selects nothing, an empty one everything', () => {
  fc.assert(
    fc.property(labels, (own) => {
      expect(selects(undefined, own)).toBe(false)
      expect(selects({}, own)).toBe(true)
      expect(selects({ matchLabels: {}, matchExpressions: [] }, own)).toBe(true)
    }),
  )
})

test('each further requirement selects less', () => {
  fc.assert(
    fc.property(selectors, requirement, labels, (selector, further, own) => {
      const narrower = { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), further] }
      if (selects(narrower, own)) expect(selects(selector, own)).toBe(true)
    }),
  )
})

test('labels next to those that are asked for change nothing', () => {
  fc.assert(
    fc.property(selectors, labels, (selector, own) => {
      expect(selects(selector, { ...own, other: 'x' })).toBe(selects(selector, own))
    }),
  )
})

test.each(['constructor', 'toString', '__proto__'])('no object has the label %s by itself', (name) => {
  expect(selects({ matchExpressions: [{ key: name, operator: 'Exists' }] }, {})).toBe(false)
  expect(selects({ matchExpressions: [{ key: name, operator: 'DoesNotExist' }] }, {})).toBe(true)
})

test('matchLabels is the same as In with that one value', () => {
  fc.assert(
    fc.property(labels, labels, (wanted, own) => {
      const matchExpressions = Object.entries(wanted).map(([name, one]) => ({
        key: name,
        operator: 'In' as const,
        values: [one],
      }))
      expect(selects({ matchLabels: wanted }, own)).toBe(selects({ matchExpressions }, own))
    }),
  )
})

describe('opposite operators divide all labels between them', () => {
  test.each([
    ['In', 'NotIn'],
    ['Exists', 'DoesNotExist'],
  ] as const)('%s and %s', (operator, opposite) => {
    fc.assert(
      fc.property(key, fc.array(value, { minLength: 1 }), labels, (name, values, own) => {
        const by = (one: typeof operator | typeof opposite) =>
          selects({ matchExpressions: [{ key: name, operator: one, values }] }, own)
        expect(by(operator)).toBe(!by(opposite))
      }),
    )
  })
})

test('a label that no object has is not found among what every object inherits', () => {
  for (const key of ['constructor', 'toString', '__proto__']) {
    expect(selects({ matchExpressions: [{ key, operator: 'Exists' }] }, {})).toBe(false)
    expect(selects({ matchExpressions: [{ key, operator: 'DoesNotExist' }] }, {})).toBe(true)
  }
})
