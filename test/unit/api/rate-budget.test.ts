import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RateBudget, type RateBudgetOptions } from '../../../src/api/rate-budget.ts'
import { sleep } from '../../../src/util/clock.ts'
import type { Priority } from '../../../src/util/priority.ts'
import type { Random } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const middle: Random = { next: () => 0.5, hex: (bytes) => '00'.repeat(bytes) }

function budgetWith(options: Partial<RateBudgetOptions> = {}): { clock: FakeClock; budget: RateBudget } {
  const clock = new FakeClock()
  return { clock, budget: new RateBudget({ clock, random: middle, ...options }) }
}

/**
 * A server that admits `limit` requests a minute by its own way of counting; returns the milliseconds until it will
 * admit one again, 0 if admitted.
 */
type Server = (now: number) => number

function slidingWindow(limit: number): Server {
  const admitted: number[] = []
  return (now) => {
    while (admitted[0] !== undefined && admitted[0] <= now - 60_000) admitted.shift()
    if (admitted.length < limit) {
      admitted.push(now)
      return 0
    }
    return (admitted[0] ?? now) + 60_000 - now
  }
}

function fixedWindow(limit: number, offset: number): Server {
  const counts = new Map<number, number>()
  return (now) => {
    const window = Math.floor((now + offset) / 60_000)
    const count = (counts.get(window) ?? 0) + 1
    counts.set(window, count)
    return count <= limit ? 0 : (window + 1) * 60_000 - offset - now
  }
}

function tokenBucket(limit: number): Server {
  let level = limit
  let at = 0
  return (now) => {
    level = Math.min(limit, level + ((now - at) * limit) / 60_000)
    at = now
    if (level < 1) return ((1 - level) * 60_000) / limit
    level--
    return 0
  }
}

interface Run {
  readonly refusals: number[]
  readonly finishedAt: number
}

/** `count` requests through the budget, each retried until admitted; `latency` gives the ms to the server and back. */
async function run(
  clock: FakeClock,
  budget: RateBudget,
  server: Server,
  count: number,
  latency: () => number,
): Promise<Run> {
  const refusals: number[] = []
  let open = count
  let finishedAt = 0
  const one = async (): Promise<void> => {
    for (let admitted = false; !admitted; ) {
      const release = await budget.acquire('edit')
      await sleep(clock, latency())
      const wait = server(clock.monotonic())
      await sleep(clock, latency())
      admitted = wait === 0
      if (!admitted) {
        refusals.push(clock.monotonic())
        // Like the emulator and most APIs: whole seconds, rounded up.
        budget.hold(Math.ceil(wait / 1000) * 1000)
      }
      release()
    }
    open--
    finishedAt = clock.monotonic()
  }
  const all = Promise.all(Array.from({ length: count }, one))
  while (open > 0) await clock.advance(clock.nextTimerIn ?? 0)
  await all
  return { refusals, finishedAt }
}

describe('a configured limit', () => {
  const servers: [string, () => Server][] = [
    ['a sliding window', () => slidingWindow(120)],
    ['a fixed window', () => fixedWindow(120, 0)],
    ['a fixed window that ends soon', () => fixedWindow(120, 55_000)],
  ]
  for (const burst of [undefined, 1, 30, 120]) {
    it.each(servers)(
      `is kept under %s with a burst of ${burst ?? 'the default'}, within 10% of the arithmetic`,
      async (_, server) => {
        const { clock, budget } = budgetWith({ requestsPerMinute: 120, burst })
        const result = await run(clock, budget, server(), 200, () => 20)
        expect(result.refusals).toEqual([])
        // The most that the limit admits: the burst's saving, but never more than 120 in any minute.
        const arithmetic = Math.max(((200 - (burst ?? 6)) / 120) * 60_000, 60_000)
        expect(result.finishedAt).toBeGreaterThanOrEqual(arithmetic * 0.99)
        expect(result.finishedAt).toBeLessThan(arithmetic * 1.1)
      },
    )
  }

  it('is kept whatever the latency, in any window', async () => {
    const latencies = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 20 })
    const property = fc.asyncProperty(
      latencies,
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      async (ms, burst, slides) => {
        const { clock, budget } = budgetWith({ requestsPerMinute: 60, burst })
        let turn = 0
        const server = slides ? slidingWindow(60) : fixedWindow(60, 10_000)
        const result = await run(clock, budget, server, 100, () => ms[turn++ % ms.length] ?? 0)
        expect(result.refusals).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })

  it('sends a small burst at once and then one request at a time', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 60, burst: 3 })
    const grants: number[] = []
    for (let i = 0; i < 6; i++) {
      void budget.acquire('edit').then((release) => {
        grants.push(clock.monotonic())
        release()
      })
    }
    await clock.advance(10_000)
    expect(grants).toEqual([0, 0, 0, 1000, 2000, 3000])
  })

  it('survives a window that an earlier process has used, with few refusals', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 120 })
    const server = slidingWindow(120)
    for (let i = 0; i < 110; i++) server(0)
    const result = await run(clock, budget, server, 200, () => 20)
    expect(result.refusals.length).toBeLessThanOrEqual(2)
    expect(result.finishedAt).toBeLessThan(60_000 + 100_000 * 1.2)
  })
})

describe('an unknown limit', () => {
  it('is not paced until the API refuses', async () => {
    const { clock, budget } = budgetWith()
    const result = await run(
      clock,
      budget,
      () => 0,
      500,
      () => 20,
    )
    expect(result.refusals).toEqual([])
    expect(result.finishedAt).toBeLessThan(3_000)
  })

  it.each([
    ['a sliding window', () => slidingWindow(120)],
    ['a fixed window that ends soon', () => fixedWindow(120, 40_000)],
  ] satisfies [string, () => Server][])('is learned from the first refusal under %s', async (_, server) => {
    const { clock, budget } = budgetWith()
    const result = await run(clock, budget, server(), 480, () => 20)
    const first = result.refusals[0] ?? 0
    // Requests in flight at the same time as the first are refused with it.
    expect(result.refusals.filter((at) => at > first + 100).length).toBeLessThanOrEqual(3)
    expect(result.finishedAt).toBeLessThan(4 * 60_000 * 1.2)
  })

  it('behind a token bucket is learned from what a second refusal shows', async () => {
    const { clock, budget } = budgetWith()
    const result = await run(clock, budget, tokenBucket(120), 480, () => 20)
    const first = result.refusals[0] ?? 0
    // Two more events, with the requests in flight.
    expect(result.refusals.filter((at) => at > first + 100).length).toBeLessThanOrEqual(6)
    // 120 at once, the rest every half second; a limit learned a little too low grows again.
    expect(result.finishedAt).toBeLessThan(180_000 * 1.5)
  })

  it('learned too low grows again', async () => {
    const { clock, budget } = budgetWith()
    budget.hold(1_000)
    await clock.advance(60 * 60_000)
    const result = await run(
      clock,
      budget,
      () => 0,
      200,
      () => 1,
    )
    expect(result.finishedAt - 60 * 60_000).toBeLessThan(30_000)
  })
})

describe('a 429', () => {
  it('holds the whole account for as long as it asks, ten minutes at most', async () => {
    const { clock, budget } = budgetWith()
    budget.hold(3_600_000)
    const granted: Priority[] = []
    for (const priority of ['edit', 'drift'] as const) void budget.acquire(priority).then(() => granted.push(priority))
    await clock.advance(599_999)
    expect(granted).toEqual([])
    expect(budget.estimatedWaitMs()).toBeGreaterThan(0)
    await clock.advance(3_000)
    expect(granted).toEqual(['edit', 'drift'])
  })

  it.each([undefined, 0])('with Retry-After %s pauses twice as long each time', async (retryAfter) => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 6_000 })
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      const began = clock.monotonic()
      budget.hold(retryAfter)
      const turn = budget.acquire('edit')
      while (clock.nextTimerIn !== undefined) await clock.advance(clock.nextTimerIn)
      ;(await turn)()
      pauses.push(Math.round((clock.monotonic() - began) / 1000))
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  it('after a minute without any pauses for a second again', async () => {
    const { clock, budget } = budgetWith()
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      budget.hold()
      expect(budget.heldForMs).toBe(pauseMs)
      await clock.advance(pauseMs)
    }
    await clock.advance(60_001)
    budget.hold()
    expect(budget.heldForMs).toBe(1_000)
  })

  it('that comes with others is one refusal', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 6_000 })
    for (let i = 0; i < 8; i++) budget.hold()
    expect(budget.estimatedWaitMs()).toBeLessThanOrEqual(1_000)
    await clock.advance(1_000)
    expect(budget.estimatedWaitMs()).toBe(0)
  })
})

describe('turns', () => {
  it('are given to the most urgent priority first and in order within a priority', async () => {
    const { clock, budget } = budgetWith({ maxInFlight: 1 })
    const order: string[] = []
    const first = await budget.acquire('edit')
    const ask = (priority: Priority, name: string): void => {
      void budget.acquire(priority).then((release) => {
        order.push(name)
        release()
      })
    }
    ask('drift', 'd1')
    ask('poll', 'p1')
    ask('edit', 'e1')
    ask('drift', 'd2')
    ask('edit', 'e2')
    first()
    await clock.advance(0)
    expect(order).toEqual(['e1', 'e2', 'p1', 'd1', 'd2'])
  })

  it('are at most as many as allowed at once, however often one is given back', async () => {
    const { clock, budget } = budgetWith({ maxInFlight: 2 })
    let granted = 0
    const turns: (() => void)[] = []
    for (let i = 0; i < 5; i++) {
      void budget.acquire('edit').then((release) => {
        granted++
        turns.push(release)
      })
    }
    await clock.advance(0)
    expect(granted).toBe(2)
    turns[0]?.()
    turns[0]?.()
    await clock.advance(0)
    expect(granted).toBe(3)
  })

  it('that are given up leave the line and let others on', async () => {
    const { clock, budget } = budgetWith({ maxInFlight: 1 })
    const first = await budget.acquire('edit')
    const gaveUp = new AbortController()
    const waiting = budget.acquire('edit', gaveUp.signal)
    const next = budget.acquire('drift')
    gaveUp.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(budget.acquire('edit', gaveUp.signal)).rejects.toThrow('enough')
    first()
    ;(await next)()
    expect(clock.pendingTimers).toBe(0)
  })

  it('report how long they waited, by priority', async () => {
    const waits: [Priority, number][] = []
    const clock = new FakeClock()
    const onWait = (priority: Priority, seconds: number): void => void waits.push([priority, seconds])
    const budget = new RateBudget({ clock, random: middle, requestsPerMinute: 60, burst: 1, onWait })
    void budget.acquire('edit')
    void budget.acquire('poll')
    expect(budget.estimatedWaitMs()).toBe(2_000)
    await clock.advance(1_000)
    expect(waits).toEqual([
      ['edit', 0],
      ['poll', 1],
    ])
  })

  it('are refused to all who wait, and given to those who come after', async () => {
    const { clock, budget } = budgetWith({ maxInFlight: 1 })
    const first = await budget.acquire('edit')
    const waiting = [budget.acquire('edit'), budget.acquire('drift')].map((turn) =>
      expect(turn).rejects.toThrow('gone'),
    )
    budget.refuseWaiting(new Error('gone'))
    await Promise.all(waiting)
    const next = budget.acquire('poll')
    first()
    ;(await next)()
    expect(clock.pendingTimers).toBe(0)
  })

  it('that nobody waits for any more leave no timer behind', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 60, burst: 1 })
    await budget.acquire('edit')
    const gaveUp = new AbortController()
    const alone = expect(budget.acquire('edit', gaveUp.signal)).rejects.toThrow('enough')
    expect(clock.pendingTimers).toBe(1)
    gaveUp.abort(new Error('enough'))
    await alone
    expect(clock.pendingTimers).toBe(0)
    const all = expect(budget.acquire('edit')).rejects.toThrow('gone')
    expect(clock.pendingTimers).toBe(1)
    budget.refuseWaiting(new Error('gone'))
    await all
    expect(clock.pendingTimers).toBe(0)
  })

  it('are not given while a pause lasts, also under another limit', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 60 })
    budget.hold(5_000)
    budget.limitTo({ requestsPerMinute: 600 })
    let isGranted = false
    void budget.acquire('edit').then(() => {
      isGranted = true
    })
    await clock.advance(4_999)
    expect({ isGranted, heldForMs: budget.heldForMs }).toEqual({ isGranted: false, heldForMs: 1 })
    await clock.advance(1)
    expect({ isGranted, heldForMs: budget.heldForMs }).toEqual({ isGranted: true, heldForMs: 0 })
  })

  it('are given at once under a higher limit, and still count under a lower one', async () => {
    const { clock, budget } = budgetWith({ requestsPerMinute: 1, burst: 1 })
    ;(await budget.acquire('edit'))()
    let granted = 0
    for (let i = 0; i < 3; i++) void budget.acquire('edit').then((release) => release(void granted++))
    await clock.advance(0)
    expect(granted).toBe(0)
    budget.limitTo({ requestsPerMinute: 600, burst: 10 })
    await clock.advance(0)
    expect(granted).toBe(3)
    budget.limitTo({ requestsPerMinute: 4, burst: 10 })
    void budget.acquire('edit').then(() => granted++)
    await clock.advance(59_000)
    expect(granted).toBe(3)
    await clock.advance(2_000)
    expect(granted).toBe(4)
  })

  it('are eight at once unless told otherwise', async () => {
    const { clock, budget } = budgetWith()
    let granted = 0
    for (let i = 0; i < 10; i++) void budget.acquire('edit').then(() => granted++)
    await clock.advance(0)
    expect(granted).toBe(8)
  })
})
