import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AdaptiveLimit, type Ending } from '../../../src/api/adaptive-limit.ts'

/** An API that answers this many requests at a time as quickly as one, and more of them in proportion slower. */
interface Api {
  readonly capacity: number
  readonly ms: number
  /** How the request that is answered at that time ends. Default: answered. */
  readonly ending?: (now: number) => Ending
}

/** Sends requests for so long, always as many as the limit admits. Returns the limit after each of them. */
function driven(limit: AdaptiveLimit, { capacity, ms, ending = () => 'answered' }: Api, forMs: number): number[] {
  const inFlight: { readonly beganAt: number; readonly endedAt: number }[] = []
  const values: number[] = []
  for (let now = 0; now < forMs; ) {
    while (inFlight.length < limit.value) {
      const takes = ms * Math.max(1, (inFlight.length + 1) / capacity)
      inFlight.push({ beganAt: now, endedAt: now + takes })
    }
    inFlight.sort((left, right) => right.endedAt - left.endedAt)
    const request = inFlight.pop()
    if (request === undefined) throw new Error('the limit admits nothing')
    now = request.endedAt
    limit.ended({ ...request, how: ending(now), sort: 'GET backends', isWanted: true })
    values.push(limit.value)
  }
  return values
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

const api = fc.record({ capacity: fc.integer({ min: 1, max: 200 }), ms: fc.integer({ min: 1, max: 500 }) })

it('comes near to what an API can handle, and stays there', () => {
  fc.assert(
    fc.property(api, fc.integer({ min: 1, max: 100 }), ({ capacity, ms }, most) => {
      const values = driven(new AdaptiveLimit(most), { capacity, ms }, 400 * ms)
      const settled = values.slice(values.length / 2)
      expect(Math.max(...values)).toBeLessThanOrEqual(most)
      // It begins again once a minute.
      expect(Math.min(...settled)).toBeGreaterThanOrEqual(Math.min(most, 8, Math.floor(0.8 * capacity)))
      expect(median(settled)).toBeGreaterThanOrEqual(Math.min(most, Math.floor(0.8 * capacity)))
      // Slow is twice as long as with few requests and 10 ms more; until that is seen, it rises further.
      expect(Math.max(...settled)).toBeLessThanOrEqual(Math.ceil(3 * Math.max(8, capacity) * (2 + 10 / ms)))
    }),
  )
})

it('reaches what an idle API can handle within a few rounds', () => {
  const values = driven(new AdaptiveLimit(64), { capacity: 100, ms: 20 }, 100)
  expect(values.at(-1)).toBe(64)
})

it.each(['refused', 'failed'] as const)('falls to eight requests while all of them are %s, and rises again', (how) => {
  const limit = new AdaptiveLimit(64)
  driven(limit, { capacity: 100, ms: 20 }, 100)
  expect(limit.value).toBe(64)
  driven(limit, { capacity: 100, ms: 20, ending: () => how }, 1_000)
  expect(limit.value).toBe(8)
  driven(limit, { capacity: 100, ms: 20 }, 2_000)
  expect(limit.value).toBe(64)
})

it('counts what a round of requests shows once', () => {
  const limit = new AdaptiveLimit(64)
  driven(limit, { capacity: 100, ms: 20 }, 100)
  const refused = (beganAt: number, endedAt: number): void => {
    limit.ended({ how: 'refused', beganAt, endedAt, sort: 'GET backends', isWanted: true })
  }
  for (let request = 0; request < 64; request++) refused(100 + request, 200 + request)
  expect(limit.value).toBe(32)
  refused(201, 300)
  expect(limit.value).toBe(16)
})

it('does not rise while nobody waits', () => {
  const limit = new AdaptiveLimit(64)
  for (let now = 0; now < 1_000; now += 20) {
    limit.ended({ how: 'answered', beganAt: now, endedAt: now + 20, sort: 'GET backends', isWanted: false })
  }
  expect(limit.value).toBe(8)
})

it('does not take one sort of requests for a slow one of another', () => {
  const limit = new AdaptiveLimit(16)
  for (let now = 0; now < 1_000; now += 20) {
    limit.ended({ how: 'answered', beganAt: now, endedAt: now + 5, sort: 'GET backends', isWanted: true })
    limit.ended({ how: 'answered', beganAt: now, endedAt: now + 500, sort: 'POST backends', isWanted: true })
  }
  expect(limit.value).toBe(16)
})

it('takes an API that has become slower permanently as it is after two minutes', () => {
  const limit = new AdaptiveLimit(32)
  driven(limit, { capacity: 100, ms: 20 }, 1_000)
  const values: number[] = []
  for (let now = 1_000; now < 200_000; now += 100) {
    limit.ended({ how: 'answered', beganAt: now, endedAt: now + 100, sort: 'GET backends', isWanted: true })
    values.push(limit.value)
  }
  expect(Math.min(...values)).toBe(8)
  expect(values.at(-1)).toBe(32)
})
