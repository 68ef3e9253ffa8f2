import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  CLOCK_SKEW_MS,
  clockOffset,
  isNotedAhead,
  recordedBehind,
  recordedTime,
  wasClockSet,
} from '../../../src/util/noted-time.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const time = fc.integer({ min: 0, max: Date.UTC(2099, 0) })

test('no noted time is later than now, but for what two clocks may differ by, and one that is not stays as it is', () => {
  fc.assert(
    fc.property(time, time, (noted, now) => {
      const read = recordedTime(noted, now)
      expect(read).toBeLessThanOrEqual(now + CLOCK_SKEW_MS)
      expect(isNotedAhead(noted, now)).toBe(read !== noted)
      if (noted <= now) expect(read).toBe(noted)
      // A newly recorded time stays, however often it is read.
      expect(recordedTime(read, now)).toBe(read)
    }),
  )
})

test.each([
  ['a clock that was 40 days behind', -40 * 86_400_000, 0, 40 * 86_400_000],
  ['two clocks that differ a little', -CLOCK_SKEW_MS, 0, 0],
  ['a clock that was ahead', 3_600_000, 0, 0],
  ['another clock that is ahead itself', 0, 40 * 86_400_000, 0],
])('%s: a noted time is corrected by that much', (_title, noted, happened, behind) => {
  const now = Date.UTC(2026, 0)
  expect(recordedBehind(now + noted, now + happened, now)).toBe(behind)
})

test('a clock counts as set when it steps, and not for the time that passes', async () => {
  const clock = new FakeClock()
  const noted = clockOffset(clock)
  await clock.advance(40 * 24 * 3_600_000)
  expect(wasClockSet(noted, clock)).toBe(false)
  for (const step of [3_600_000, -7_200_000]) {
    clock.stepWall(step)
    expect(wasClockSet(noted, clock)).toBe(true)
  }
})
