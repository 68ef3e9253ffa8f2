import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { identityDoubt, tolerated } from '../../../../src/managed/accounts/identity-doubt.ts'

const evidence = fc
  .record({
    known: fc.nat({ max: 500 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    changed: fc.boolean(),
    noneFound: fc.boolean(),
    unknown: fc.nat({ max: 500 }),
  })
  .map(({ share, ...rest }) => ({ ...rest, missing: Math.round(rest.known * share) }))

describe('an account’s identity', () => {
  test('is not doubted once an administrator has confirmed it', () => {
    fc.assert(
      fc.property(evidence, (seen) => {
        expect(identityDoubt({ ...seen, confirmed: true })).toBeUndefined()
      }),
    )
  })

  test('is doubted when more than five and more than a tenth are missing, or key or address changed and lead to none', () => {
    fc.assert(
      fc.property(evidence, ({ known, missing, changed, noneFound, unknown }) => {
        const tooMany = missing > 5 && missing * 10 > known && missing > Math.floor(known / 10)
        const doubt = identityDoubt({ known, missing, changed, noneFound, unknown, confirmed: false })
        expect(doubt !== undefined).toBe(tooMany || (changed && noneFound))
      }),
    )
  })

  test('an account of few objects may lose them all by hand, as long as the key is the same', () => {
    const seen = { known: 5, missing: 5, noneFound: true, unknown: 0, confirmed: false }
    expect(identityDoubt({ ...seen, changed: false })).toBeUndefined()
    expect(identityDoubt({ ...seen, changed: true })).toBeDefined()
  })

  test.each([
    [0, 5],
    [50, 5],
    [59, 5],
    [60, 6],
    [1000, 100],
  ])('of %i objects %i may vanish at a time', (known, expected) => expect(tolerated(known)).toBe(expected))
})
