import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLabelSelector } from '../../../../src/managed/accounts/selector-text.ts'

const key = fc.stringMatching(/^([a-z]([-a-z0-9.]{0,8}[a-z])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/)
const value = fc.stringMatching(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?)?$/)
const space = fc.constantFrom('', ' ')
const set = fc.tuple(
  key,
  fc.constantFrom('In' as const, 'NotIn' as const),
  fc.array(value, { minLength: 1, maxLength: 4 }),
)
const present = fc.tuple(key, fc.constantFrom('Exists' as const, 'DoesNotExist' as const))

/** A requirement in each of the ways in which kubectl lets one write it. */
const written = fc.oneof(
  fc.tuple(set, space).map(([[name, operator, values], gap]) => ({
    text: `${name} ${operator.toLowerCase()} ${gap}(${values.join(`,${gap}`)})`,
    means: { key: name, operator, values },
  })),
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value, space).map(([name, sign, one, gap]) => ({
    text: `${name}${gap}${sign}${gap}${one}`,
    means: { key: name, operator: sign === '!=' ? ('NotIn' as const) : ('In' as const), values: [one] },
  })),
  fc.tuple(present, space).map(([[name, operator], gap]) => ({
    text: operator === 'Exists' ? name : `!${gap}${name}`,
    means: { key: name, operator },
  })),
)

describe('a label selector', () => {
  test('is read as kubectl reads it, however it is written', () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 5 }), space, (requirements, gap) => {
        const text = requirements.map((each) => each.text).join(`${gap},${gap}`)
        expect(parseLabelSelector(text)).toEqual({ matchExpressions: requirements.map(({ means }) => means) })
      }),
    )
  })

  test.each(['', 'a=b,', ',', 'a in', 'a in ()b', 'a within (b)', '!', 'a b', 'a>1', 'a=b=c', '=b', 'a in (b'])(
    '%j is refused with what can be written',
    (text) => {
      expect(parseLabelSelector(text)).toEqual({
        problem: expect.stringMatching(/is not a requirement: use KEY=VALUE/),
      })
    },
  )
})
