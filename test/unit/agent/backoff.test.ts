import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backoff } from '../../../src/agent/agent.ts'

const steady = { next: () => 0.5, hex: () => '' }

test('an agent waits longer after each failure, up to half a minute', () => {
  const backoff = new Backoff(steady)
  expect(Array.from({ length: 8 }, () => backoff.next(0))).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ])
})

test('a connection that worked for a while makes the next failure the first one, a short one does not', () => {
  const backoff = new Backoff(steady)
  for (let failures = 0; failures < 4; failures += 1) backoff.next(0)
  expect(backoff.next(9_999)).toBe(8000)
  expect(backoff.next(10_000)).toBe(500)
})

test('waits are spread by half, so that agents do not return together', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
      const wait = new Backoff({ next: () => random, hex: () => '' }).next(0)
      expect(wait).toBeGreaterThanOrEqual(250)
      expect(wait).toBeLessThanOrEqual(750)
    }),
  )
})
