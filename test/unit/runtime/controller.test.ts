import { beforeEach, describe, expect, test, vi } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { Controller, type ControllerOptions, type ReconcileKey } from '../../../src/runtime/controller.ts'
import { done, type Outcome } from '../../../src/runtime/outcome.ts'
import type { Random } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger, type SilentLogger } from '../../builders/silent-logger.ts'

const middle: Random = { next: () => 0.5, hex: (bytes) => '0'.repeat(2 * bytes) }
const front: ReconcileKey = { kind: 'Edge', namespace: 'shop', name: 'front' }

let clock: FakeClock
let logger: SilentLogger

beforeEach(() => {
  clock = new FakeClock()
  logger = createSilentLogger()
})

function start(reconcile: ControllerOptions['reconcile'], options: Partial<ControllerOptions> = {}) {
  const results: string[] = []
  const controller = new Controller({
    reconcile,
    clock,
    random: middle,
    logger,
    observer: { started: () => undefined, ended: (kind, result) => results.push(`${kind} ${result}`) },
    ...options,
  })
  const stop = new AbortController()
  return { controller, results, stop, ended: controller.run(stop.signal) }
}

/** Returns the given outcomes in sequence, then done. Records the times. */
function scripted(...outcomes: (Outcome | Error)[]) {
  const times: number[] = []
  const reconcile = (): Promise<Outcome> => {
    times.push(clock.monotonic())
    const outcome = outcomes.shift() ?? done
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
  }
  return { times, reconcile }
}

describe('outcomes', () => {
  test('done waits for the next change', async () => {
    const { times, reconcile } = scripted(done)
    const { controller, results } = start(reconcile)
    controller.enqueue(front)
    await clock.advance(10 * 60_000)
    expect(times).toEqual([0])
    expect(results).toEqual(['Edge success'])
  })

  test('after looks again in time, and ends a streak of failures', async () => {
    const failed: Outcome = { type: 'backoff', error: new Error('down') }
    const { times, reconcile } = scripted(failed, failed, { type: 'after', ms: 5000, reason: 'a job runs' }, failed)
    const { controller, results } = start(reconcile, { backoffBaseMs: 100 })
    controller.enqueue(front)
    await clock.advance(60_000)
    expect(times).toEqual([0, 100, 300, 5300, 5400])
    expect(results).toEqual(['Edge error', 'Edge error', 'Edge requeue_after', 'Edge error', 'Edge success'])
  })

  test('backoff is not sooner than the far side asked for', async () => {
    const error = new KubeError('TooManyRequests', 'slow down', { retryAfterMs: 30_000 })
    const { times, reconcile } = scripted({ type: 'backoff', error })
    const { controller } = start(reconcile, { backoffBaseMs: 100 })
    controller.enqueue(front)
    await clock.advance(60_000)
    expect(times).toEqual([0, 30_000])
  })

  test('terminal is tried again after ten minutes, or when it says, or on a change', async () => {
    const error = new Error('quota')
    const { times, reconcile } = scripted({ type: 'terminal', error }, { type: 'terminal', error, retryMs: 1000 })
    const { controller, results } = start(reconcile)
    controller.enqueue(front)
    await clock.advance(600_000)
    expect(times).toEqual([0, 600_000])
    await clock.advance(1000)
    expect(times).toEqual([0, 600_000, 601_000])
    expect(results).toEqual(['Edge terminal_error', 'Edge terminal_error', 'Edge success'])
  })

  test('an exception is a backoff and a logged error', async () => {
    const { times, reconcile } = scripted(new Error('a bug'))
    const { controller, results } = start(reconcile, { backoffBaseMs: 100 })
    controller.enqueue(front)
    await clock.advance(1000)
    expect(times).toEqual([0, 100])
    expect(results).toEqual(['Edge error', 'Edge success'])
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: front }])
  })
})

describe('workers', () => {
  test('objects of both scopes arrive as they were enqueued', async () => {
    const seen: ReconcileKey[] = []
    const { controller } = start((key) => {
      seen.push(key)
      return Promise.resolve(done)
    })
    controller.enqueue(front)
    controller.enqueue({ kind: 'ClusterAccount', name: 'default' })
    await clock.advance(0)
    expect(seen).toEqual([front, { kind: 'ClusterAccount', name: 'default' }])
  })

  test('an account that hangs leaves workers to the others', async () => {
    const finished: string[] = []
    const { controller } = start(
      async ({ namespace, name }) => {
        if (namespace === 'hanging') await new Promise(() => undefined)
        finished.push(name)
        return done
      },
      { workers: 4, groupOf: ({ namespace }) => namespace ?? '' },
    )
    for (let item = 0; item < 10; item++) controller.enqueue({ kind: 'Edge', namespace: 'hanging', name: `h${item}` })
    for (let item = 0; item < 3; item++) controller.enqueue({ kind: 'Edge', namespace: 'healthy', name: `g${item}` })
    await clock.advance(0)
    expect(finished).toEqual(['g0', 'g1', 'g2'])
    expect(controller.queue.inFlight).toBe(2)
  })
})

describe('objects that wait for long', () => {
  const back = { ...front, name: 'back' }

  test('are reported, and reconciled even when the report threw', async () => {
    const release = Promise.withResolvers<Outcome>()
    const seen: ReconcileKey[] = []
    const told: ReconcileKey[] = []
    const reconcile = (key: ReconcileKey): Promise<Outcome> => {
      seen.push(key)
      return seen.length === 1 ? release.promise : Promise.resolve(done)
    }
    const tell = (key: ReconcileKey): Promise<void> => {
      told.push(key)
      return Promise.reject(new Error('a bug'))
    }
    const { controller } = start(reconcile, { workers: 1, longWaits: { afterMs: 1000, tell } })
    controller.enqueue(front)
    controller.enqueue(back)
    await clock.advance(1000)
    expect(told).toEqual([back])
    release.resolve(done)
    await clock.advance(0)
    expect(seen).toEqual([front, back])
    expect(logger.lines).toMatchObject([{ level: 'error', fields: back }])
  })

  test('and are being told of hold up a stop', async () => {
    const release = Promise.withResolvers<Outcome>()
    const telling = Promise.withResolvers<void>()
    const longWaits = { afterMs: 1000, tell: () => telling.promise }
    const { controller, stop, ended } = start(() => release.promise, { workers: 1, longWaits })
    controller.enqueue(front)
    controller.enqueue(back)
    await clock.advance(1000)
    stop.abort()
    release.resolve(done)
    await clock.advance(5000)
    expect(clock.pendingTimers).toBe(1)
    telling.resolve()
    await ended
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('stopping', () => {
  test('waits for what is in flight and takes nothing new', async () => {
    const release = Promise.withResolvers<Outcome>()
    const reconcile = vi.fn(() => release.promise)
    const { controller, results, stop, ended } = start(reconcile, { workers: 1 })
    controller.enqueue(front)
    controller.enqueue({ ...front, name: 'back' })
    await clock.advance(0)
    stop.abort()
    await clock.advance(9000)
    release.resolve(done)
    await ended
    expect(reconcile).toHaveBeenCalledTimes(1)
    expect(results).toEqual(['Edge success'])
    expect(clock.pendingTimers).toBe(0)
  })

  test('cuts off what does not end by the deadline', async () => {
    const cut = Promise.withResolvers<void>()
    const { controller, stop, ended } = start((_key, signal) => {
      signal.addEventListener('abort', () => cut.resolve(), { once: true })
      return new Promise<Outcome>(() => undefined)
    })
    controller.enqueue(front)
    await clock.advance(0)
    stop.abort()
    await clock.advance(10_000)
    await ended
    await cut.promise
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { inFlight: 1 } }])
  })
})

describe('turns of the event loop', () => {
  test('are left between two reconciles when one has lasted too long', async () => {
    const { times, reconcile } = scripted()
    const turn = Promise.withResolvers<void>()
    const { controller } = start(reconcile, { workers: 1, turns: { next: () => turn.promise } })
    for (const name of ['a', 'b', 'c']) controller.enqueue({ ...front, name })
    await clock.advance(1000)
    expect(times).toHaveLength(1)
    turn.resolve()
    await clock.advance(1000)
    expect(times).toHaveLength(3)
  })
})
