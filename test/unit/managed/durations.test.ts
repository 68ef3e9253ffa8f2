import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationMs } from '../../../src/managed/types/account.ts'

test('a duration is the sum of its hours, minutes and seconds', () => {
  const part = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: undefined })
  fc.assert(
    fc.property(part(9999), part(99_999), part(999_999), (h, m, s) => {
      const text = Object.entries({ h, m, s }).flatMap(([unit, count]) =>
        count === undefined ? [] : [`${count}${unit}`],
      )
      expect(durationMs(text.join(''))).toBe((((h ?? 0) * 60 + (m ?? 0)) * 60 + (s ?? 0)) * 1000)
    }),
  )
})

test.each([
  ['30s', 30_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['24h', 86_400_000],
])('%s is %i ms', (text, expected) => expect(durationMs(text)).toBe(expected))
