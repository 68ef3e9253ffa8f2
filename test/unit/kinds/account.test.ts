import { expect, test } from 'vitest'
import { durationMs } from '../../../src/managed/types/account.ts'

test.each([
  ['10s', 10_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['1h1m1s', 3_661_000],
])('%s are %i ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms)
})
