import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationMs, parseDuration } from '../../../src/util/time.ts'

test('a duration is the sum of its hours, minutes, seconds and milliseconds', () => {
  const part = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: undefined })
  fc.assert(
    fc.property(part(9999), part(99_999), part(999_999), part(999_999), (h, m, s, ms) => {
      const text = Object.entries({ h, m, s, ms }).flatMap(([unit, count]) =>
        count === undefined ? [] : [`${count}${unit}`],
      )
      fc.pre(text.length > 0)
      const minutes = (h ?? 0) * 60 + (m ?? 0)
      expect(parseDuration(text.join(''))).toBe((minutes * 60 + (s ?? 0)) * 1000 + (ms ?? 0))
    }),
  )
})

test.each([
  ['20ms', 20],
  ['1.5s', 1500],
  ['2m', 120_000],
  ['1h30m', 5_400_000],
  ['1.001h', 3_603_600],
  ['24h', 86_400_000],
  ['1h1m1s', 3_661_000],
])('%s is %i ms', (text, expected) => expect(durationMs(text)).toBe(expected))

test.each(['', '20', '-1s', 's', '1d', '1s1m', '1m1m', '1.s', '1.2345s', ' 1s', '1s ', '1e3s'])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
    expect(() => durationMs(text)).toThrow(RangeError)
  },
)
