import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '../../../src/api/failure.ts'

const now = Date.UTC(2026, 0, 1)

describe('Retry-After', () => {
  it.each([
    ['5', 5_000],
    [' 0 ', 0],
    ['99999999999999', 600_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 05:00:00 GMT', 600_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j means %s ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })
})
