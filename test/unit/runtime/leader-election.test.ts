import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import type {
  KubeClient,
  KubeObject,
  ObjectKey,
  PatchOptions,
  ResourceType,
  WatchFrame,
  WatchOptions,
} from '../../../src/kube/types.ts'
import { LeaderElection } from '../../../src/runtime/leader-election.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { microTime } from '../../../src/util/time.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

type Spec = Readonly<Record<string, unknown>>
type LeaseClient = Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'watch'>

/** The API server's side of one Lease, with its optimistic locking. */
class LeaseServer {
  lease: (KubeObject & { readonly spec: Spec }) | undefined
  writes = 0
  readonly #watchers = new Set<(frame: WatchFrame<KubeObject>) => void>()
  #version = 0

  /** Reports the current object and every change. */
  async *watch(signal: AbortSignal): AsyncGenerator<WatchFrame<KubeObject>> {
    const frames: WatchFrame<KubeObject>[] = this.lease === undefined ? [] : [{ type: 'added', object: this.lease }]
    let wake = Promise.withResolvers<void>()
    const take = (frame: WatchFrame<KubeObject>): void => {
      frames.push(frame)
      wake.resolve()
    }
    this.#watchers.add(take)
    signal.addEventListener('abort', () => wake.resolve(), { once: true })
    while (!signal.aborted) {
      yield* frames.splice(0)
      await wake.promise
      wake = Promise.withResolvers()
    }
    this.#watchers.delete(take)
  }

  put(spec: Spec): KubeObject {
    const uid = this.lease?.metadata.uid ?? `uid-${this.#version}`
    const metadata = { name: 'culvert', namespace: 'system', uid, resourceVersion: String(++this.#version) }
    this.lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: { ...this.lease?.spec, ...spec },
    }
    this.#tell({ type: 'modified', object: this.lease })
    return this.lease
  }

  remove(): void {
    const { lease } = this
    this.lease = undefined
    if (lease !== undefined) this.#tell({ type: 'deleted', object: lease })
  }

  #tell(frame: WatchFrame<KubeObject>): void {
    for (const take of this.#watchers) take(frame)
  }

  create(spec: Spec): KubeObject {
    if (this.lease !== undefined) throw new KubeError('AlreadyExists', 'exists', { status: 409 })
    this.writes++
    return this.put(spec)
  }

  patch(spec: Spec, options: PatchOptions | undefined): KubeObject {
    if (this.lease === undefined) throw new KubeError('NotFound', 'not found', { status: 404 })
    const { resourceVersion } = this.lease.metadata
    if (options?.resourceVersion !== resourceVersion) throw new KubeError('Conflict', 'moved on', { status: 409 })
    this.writes++
    return this.put(spec)
  }

  get holder(): unknown {
    return this.lease?.spec.holderIdentity
  }
}

/**
 * A process's connection to the server: `fail` rejects before the write, `loseAnswers` after it, `hang` never answers.
 */
class Link implements LeaseClient {
  mode: 'ok' | 'fail' | 'loseAnswers' | 'hang' = 'ok'
  /** Requests wait for it. */
  gate: Promise<void> = Promise.resolve()
  /**
   * Whether the watch reports changes of the Lease: the operator may lack the permission, or the connection may be
   * dead.
   */
  watched: 'told' | 'refused' | 'silent' = 'refused'
  watches = 0
  readonly #server: LeaseServer

  constructor(server: LeaseServer) {
    this.#server = server
  }

  get<T extends KubeObject>(): Promise<T | undefined> {
    return this.#send(() => this.#server.lease, false) as Promise<T | undefined>
  }

  create<T extends KubeObject>(_type: ResourceType, _key: ObjectKey, object: Spec): Promise<T> {
    return this.#send(() => this.#server.create(object.spec as Spec), true) as Promise<T>
  }

  mergePatch<T extends KubeObject>(_t: ResourceType, _k: ObjectKey, patch: Spec, options?: PatchOptions): Promise<T> {
    return this.#send(() => this.#server.patch(patch.spec as Spec, options), true) as Promise<T>
  }

  async *watch<T extends KubeObject>(_type: ResourceType, { signal }: WatchOptions): AsyncGenerator<WatchFrame<T>> {
    this.watches++
    if (this.watched === 'refused') throw new KubeError('Forbidden', 'not yours to watch', { status: 403 })
    for await (const frame of this.#server.watch(signal)) {
      if (this.watched === 'told') yield frame as WatchFrame<T>
    }
  }

  async #send<R>(serve: () => R, write: boolean): Promise<R> {
    if (this.mode === 'hang') await new Promise(() => undefined)
    await this.gate
    if (this.mode === 'fail') throw new KubeError('Network', 'refused')
    const answer = serve()
    if (this.mode === 'loseAnswers' && write) throw new KubeError('Network', 'reset')
    return answer
  }
}

let server: LeaseServer

beforeEach(() => {
  server = new LeaseServer()
})

function start(
  identity: string,
  clock: FakeClock,
  options: { readonly link?: Link; readonly onStoppedLeading?: () => Promise<void> } = {},
) {
  const { link = new Link(server), onStoppedLeading } = options
  const events: string[] = []
  const claimedAt: number[] = []
  const stop = new AbortController()
  const election = new LeaderElection({
    client: link,
    clock,
    random: systemRandom,
    logger: createSilentLogger(),
    namespace: 'system',
    name: 'culvert',
    identity,
    onStartedLeading: (at) => {
      claimedAt.push(at)
      events.push('started')
    },
    onStoppedLeading: () => {
      events.push('stopped')
      return onStoppedLeading?.()
    },
  })
  const ended = election.run(stop.signal)
  return { election, link, events, claimedAt, stop, ended }
}

describe('taking the lease', () => {
  test('the first process creates it, with times of six digits, and leads', async () => {
    const clock = new FakeClock()
    const { election, events } = start('a', clock)
    await clock.advance(0)
    expect(election.isLeader()).toBe(true)
    expect(election.leadingSince).toBe(0)
    expect(events).toEqual(['started'])
    expect(server.lease?.spec).toEqual({
      holderIdentity: expect.stringMatching(/^a_[0-9a-f]{16}$/),
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
  })

  test('the first attempt has ended, no matter who holds it; a term counts from when the Lease was asked for', async () => {
    server.put({ holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: microTime(0) })
    const clock = new FakeClock()
    const { election, claimedAt } = start('b', clock)
    await clock.advance(0)
    await election.attempted
    expect(claimedAt).toEqual([])
    await clock.advance(17_300)
    expect(claimedAt).toEqual([election.leadingSince])
    expect(claimedAt[0]).toBeGreaterThan(14_999)
  })

  test('a holder that renews is left alone, whatever its clock says', async () => {
    const clock = new FakeClock()
    const { election } = start('b', clock)
    // Set before the first answer is read: the holder's clock is an hour slow.
    for (let second = 0; second < 60; second += 5) {
      server.put({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: microTime(clock.now() - 3_600_000) })
      await clock.advance(5000)
      expect(election.isLeader()).toBe(false)
    }
  })

  test('a holder that stopped renewing is replaced once its record stood still for the lease duration', async () => {
    server.put({ holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: microTime(0), leaseTransitions: 4 })
    const clock = new FakeClock()
    const { election } = start('b', clock)
    await clock.advance(14_999)
    expect(election.isLeader()).toBe(false)
    await clock.advance(2300)
    expect(election.isLeader()).toBe(true)
    expect(server.lease?.spec).toMatchObject({ leaseTransitions: 5 })
  })

  test('a released lease is taken at the next look', async () => {
    server.put({ holderIdentity: '', leaseDurationSeconds: 1 })
    const clock = new FakeClock()
    const { election } = start('b', clock)
    await clock.advance(0)
    expect(election.isLeader()).toBe(true)
  })

  test('an answer that came later than the renew deadline does not make a leader', async () => {
    const clock = new FakeClock()
    const link = new Link(server)
    const slow = Promise.withResolvers<void>()
    link.gate = slow.promise
    const { election, events } = start('a', clock, { link })
    clock.freeze(10_000)
    slow.resolve()
    await clock.advance(0)
    expect(server.holder).toMatch(/^a_/)
    expect(election.isLeader()).toBe(false)
    expect(events).toEqual([])
    await clock.advance(2300)
    expect(election.isLeader()).toBe(true)
  })
})

describe('keeping it', () => {
  test('renews for as long as it runs', async () => {
    const clock = new FakeClock()
    const { election, events } = start('a', clock)
    await clock.advance(120_000)
    expect(election.isLeader()).toBe(true)
    expect(events).toEqual(['started'])
    expect(server.writes).toBeGreaterThan(50)
  })

  test('a renewal whose answer got lost is found to have succeeded', async () => {
    const clock = new FakeClock()
    const { election, link } = start('a', clock)
    await clock.advance(0)
    link.mode = 'loseAnswers'
    await clock.advance(4000)
    link.mode = 'ok'
    await clock.advance(10_000)
    expect(election.isLeader()).toBe(true)
  })

  test('a lease that somebody deleted is made again', async () => {
    const clock = new FakeClock()
    const { election } = start('a', clock)
    await clock.advance(0)
    server.lease = undefined
    await clock.advance(10_000)
    expect(election.isLeader()).toBe(true)
    expect(server.holder).toMatch(/^a_/)
  })
})

describe('losing it', () => {
  test.each(['fail', 'hang', 'loseAnswers'] as const)(
    'when renewals %s, it stops before anyone else may start',
    async (mode) => {
      const clock = new FakeClock()
      const first = start('a', clock)
      await clock.advance(0)
      const second = start('b', clock)
      await clock.advance(6000)
      first.link.mode = mode
      let bothEver = false
      for (let ms = 0; ms < 40_000; ms += 100) {
        await clock.advance(100)
        bothEver ||= first.election.isLeader() && second.election.isLeader()
      }
      expect(bothEver).toBe(false)
      expect(second.election.isLeader()).toBe(true)
      expect(await first.ended).toBe('lost')
      expect(first.events).toEqual(['started', 'stopped'])
    },
  )

  test('a process whose code did not run is no leader from the deadline on', async () => {
    const clock = new FakeClock()
    const { election } = start('a', clock)
    await clock.advance(0)
    clock.freeze(9999)
    expect(election.isLeader()).toBe(true)
    clock.freeze(1)
    expect(election.isLeader()).toBe(false)
    expect(() => election.assertLeader()).toThrow(expect.objectContaining({ code: 'NotLeader' }))
    expect(election.leadingSince).toBeUndefined()
  })

  test('a wall clock that is set back lengthens nothing', async () => {
    const clock = new FakeClock()
    const { election } = start('a', clock)
    await clock.advance(0)
    clock.stepWall(-60_000)
    clock.freeze(10_000)
    expect(election.isLeader()).toBe(false)
  })

  test('the deadline counts from when the last successful renewal was begun, not from its answer', async () => {
    const clock = new FakeClock()
    const { election, link } = start('a', clock)
    await clock.advance(0)
    const slow = Promise.withResolvers<void>()
    link.gate = slow.promise
    await clock.advance(clock.nextTimerIn ?? 0)
    clock.freeze(4000)
    slow.resolve()
    await clock.advance(0)
    clock.freeze(5999)
    expect(election.isLeader()).toBe(true)
    clock.freeze(1)
    expect(election.isLeader()).toBe(false)
  })

  test('a process whose machine slept, its monotonic clock with it, is no leader until it has renewed', async () => {
    const clock = new FakeClock()
    const { election } = start('a', clock)
    await clock.advance(0)
    clock.stepWall(60_000)
    expect(election.isLeader()).toBe(false)
    await clock.advance(2300)
    expect(election.isLeader()).toBe(true)
  })

  test('it ends at once when another holds the lease', async () => {
    const clock = new FakeClock()
    const { election, ended } = start('a', clock)
    await clock.advance(0)
    server.put({ holderIdentity: 'usurper' })
    await clock.advance(2300)
    expect(election.isLeader()).toBe(false)
    expect(await ended).toBe('lost')
    expect(server.holder).toBe('usurper')
  })
})

describe('stopping', () => {
  test('releases the lease after the work has ended, so that the next leads within seconds', async () => {
    const clock = new FakeClock()
    const work = Promise.withResolvers<void>()
    const first = start('a', clock, { onStoppedLeading: () => work.promise })
    await clock.advance(0)
    const second = start('b', clock)
    await clock.advance(5000)
    first.stop.abort()
    await clock.advance(3000)
    expect(server.holder).toMatch(/^a_/)
    work.resolve()
    await clock.advance(2300)
    expect(await first.ended).toBe('stopped')
    expect(first.election.isLeader()).toBe(false)
    expect(second.election.isLeader()).toBe(true)
  })

  test.each([
    { seen: 'given back', free: () => server.put({ holderIdentity: '' }) },
    { seen: 'deleted', free: () => server.remove() },
  ])('who stands by and may watch leads as soon as the lease was $seen', async ({ free }) => {
    const clock = new FakeClock()
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const link = new Link(server)
    link.watched = 'told'
    const { election, stop, ended } = start('b', clock, { link })
    await clock.advance(2300)
    // A renewal by another replica is reported as well, and is no reason to ask.
    server.put({ renewTime: microTime(clock.now()) })
    await clock.advance(0)
    expect(election.isLeader()).toBe(false)
    free()
    await clock.advance(0)
    expect(election.isLeader()).toBe(true)
    expect(link.watches).toBe(1)
    stop.abort()
    expect(await ended).toBe('stopped')
  })

  test('news that come while an attempt is under way lead to another at once', async () => {
    const clock = new FakeClock()
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const link = new Link(server)
    link.watched = 'told'
    const { election, stop, ended } = start('b', clock, { link })
    await clock.advance(100)
    const read = Promise.withResolvers<void>()
    const stale = server.lease
    link.get = async <T extends KubeObject>() => {
      await read.promise
      return stale as unknown as T
    }
    await clock.advance(2300)
    server.put({ holderIdentity: '' })
    await clock.advance(0)
    delete (link as { get?: unknown }).get
    read.resolve()
    await clock.advance(0)
    expect(election.isLeader()).toBe(true)
    stop.abort()
    await ended
  })

  test.each(['refused', 'silent'] as const)('a watch that is %s leaves it to the next look', async (watched) => {
    const clock = new FakeClock()
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const link = new Link(server)
    link.watched = watched
    const { election, stop, ended } = start('b', clock, { link })
    await clock.advance(2300)
    server.put({ holderIdentity: '' })
    await clock.advance(0)
    expect(election.isLeader()).toBe(false)
    await clock.advance(2300)
    expect(election.isLeader()).toBe(true)
    stop.abort()
    await ended
  })

  /** A leader whose renewal is under way until `slow` resolves; later requests are not held up. */
  async function renewing() {
    const clock = new FakeClock()
    const { link, stop, ended } = start('a', clock)
    await clock.advance(0)
    const slow = Promise.withResolvers<void>()
    link.gate = slow.promise
    await clock.advance(2300)
    link.gate = Promise.resolve()
    return { clock, link, slow, stop, ended }
  }

  test('a renewal that was under way does not take the released lease back', async () => {
    const { clock, slow, stop, ended } = await renewing()
    stop.abort()
    await ended
    expect(server.holder).toBe('')
    slow.resolve()
    await clock.advance(0)
    expect(server.holder).toBe('')
  })

  test('a renewal that arrives while the lease is being released does not keep it', async () => {
    const { link, slow, stop, ended } = await renewing()
    const read = link.get.bind(link)
    link.get = async <T extends KubeObject>() => {
      const lease = await read<T>()
      const { writes } = server
      slow.resolve()
      if (writes === 1) while (server.writes === writes) await Promise.resolve()
      return lease
    }
    stop.abort()
    await ended
    expect(server.writes).toBe(3)
    expect(server.holder).toBe('')
  })

  test('a process that never led leaves the lease alone', async () => {
    const clock = new FakeClock()
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const { stop, ended, events } = start('b', clock)
    await clock.advance(3000)
    stop.abort()
    expect(await ended).toBe('stopped')
    expect(events).toEqual([])
    expect(server.holder).toBe('other')
  })
})

test('two processes never lead at once, whatever happens to their links and to the machines they run on', async () => {
  const fault = fc.record({
    process: fc.constantFrom(0, 1),
    mode: fc.constantFrom('ok', 'ok', 'fail', 'loseAnswers', 'hang' as const),
    seconds: fc.integer({ min: 1, max: 20 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 8 }), async (faults) => {
      server = new LeaseServer()
      const clock = new FakeClock()
      const processes = [start('a', clock), start('b', clock)]
      const led = new Set<number>()
      const watch = async (seconds: number) => {
        for (let step = 0; step < seconds * 4; step++) {
          await clock.advance(250)
          const leaders = processes.flatMap(({ election }, index) => (election.isLeader() ? [index] : []))
          expect(leaders.length).toBeLessThanOrEqual(1)
          for (const leader of leaders) led.add(leader)
        }
      }
      for (const { process, mode, seconds } of faults) {
        const link = processes[process]?.link
        if (link !== undefined) link.mode = mode
        await watch(seconds)
      }
      for (const { link } of processes) link.mode = 'ok'
      await watch(30)
      // Without faults there must have been a leader, or the property above proves nothing.
      if (faults.length === 0) expect(led.size).toBe(1)
      for (const { stop } of processes) stop.abort()
    }),
    { numRuns: 40, examples: [[[]]] },
  )
})

test('periods that could let two processes lead are refused', () => {
  const options = {
    client: new Link(server),
    clock: new FakeClock(),
    random: systemRandom,
    logger: createSilentLogger(),
    namespace: 'system',
    name: 'culvert',
    identity: 'a',
    onStartedLeading: () => undefined,
    onStoppedLeading: () => undefined,
  }
  expect(() => new LeaderElection({ ...options, renewDeadlineMs: 15_000 })).toThrow(RangeError)
  expect(() => new LeaderElection({ ...options, retryPeriodMs: 10_000 })).toThrow(RangeError)
})
