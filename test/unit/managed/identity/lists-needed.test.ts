import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextList } from '../../../../src/managed/identity/gone.ts'

const PAUSE_MS = 2_000

/** Makes the required lists until the object counts as gone. Returns their times in milliseconds. */
function listsUntilGone(notBefore: number, others: readonly number[] = []): readonly number[] {
  const misses: number[] = []
  let now = 0
  for (let rounds = 0; rounds < 1000; rounds++) {
    const needed = nextList({ misses, notBefore, pauseMs: PAUSE_MS, now })
    if (needed.type === 'none') return misses
    // Lists requested by others count as well.
    const other = others.find((at) => at > (misses.at(-1) ?? -1) && at < needed.at)
    now = other ?? Math.max(now, needed.at)
    misses.push(now)
  }
  throw new Error('it never comes to an end')
}

test('one list is made at once, and a second one after the pause', () => {
  expect(listsUntilGone(0)).toEqual([0, PAUSE_MS])
})

test('while no list counts they become rare, and one is made as soon as it counts', () => {
  expect(listsUntilGone(60_000)).toEqual([0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 62_000])
})

test('an object is never gone before two lists that count agree, a pause apart, and is gone as soon as they do', () => {
  const times = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 30 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 70_000 }), times, (notBefore, others) => {
      const misses = listsUntilGone(
        notBefore,
        others.toSorted((left, right) => left - right),
      )
      const counting = misses.filter((at) => at >= notBefore)
      const [first = Number.NaN] = counting
      expect((counting.at(-1) ?? 0) - first).toBeGreaterThanOrEqual(PAUSE_MS)
      expect((counting.at(-2) ?? 0) - first).toBeLessThan(PAUSE_MS)
      expect(misses.at(-1)).toBeLessThanOrEqual(Math.max(...others, notBefore) + PAUSE_MS)
    }),
  )
})
