import { beforeEach, expect, test } from 'vitest'
import { ApiError } from '../../../../src/api/errors.ts'
import { GatheredMost } from '../../../../src/api/paging.ts'
import type { ListCallOptions, RemoteObject } from '../../../../src/api/types.ts'
import { tunnelSession } from '../../../../src/kinds/tunnel-session.ts'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import type { AccountResource } from '../../../../src/managed/account-resource.ts'
import { KindsRegistry, resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import type { AccountSession, Blocked } from '../../../../src/managed/run/session.ts'
import { MirrorReconciler } from '../../../../src/managed/sessions/mirror-reconciler.ts'
import { MirrorWriter } from '../../../../src/managed/sessions/mirror-writer.ts'
import type { MirroredObject } from '../../../../src/managed/sessions/mirrored.ts'
import type { Outcome } from '../../../../src/runtime/outcome.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { mirroredAccount, session } from '../../../builders/sessions.ts'
import { createSilentLogger } from '../../../builders/silent-logger.ts'

const type = resourceTypeOf(tunnelSession)
const key = { kind: 'TunnelSession', namespace: 'shop', name: 'default' }
const none = new AbortController().signal

let clock: FakeClock
let kube: ModelKube
let account: AccountResource
let listed: readonly RemoteObject[]
let lists: number
let writes: string[]
let events: string[]
let blocked: Blocked | undefined
let refuse: Error | undefined
let trouble: string[]
let asking: readonly AccountResource[] | undefined
let said: readonly string[] | undefined
let leftOut: number | undefined
let reconciler: MirrorReconciler

beforeEach(() => {
  clock = new FakeClock()
  kube = new ModelKube()
  account = mirroredAccount('default')
  listed = [session('ts_1'), session('ts_2')]
  lists = 0
  writes = []
  events = []
  blocked = undefined
  refuse = undefined
  trouble = []
  asking = undefined
  said = undefined
  leftOut = undefined
  reconciler = newReconciler()
})

function mirrored(): readonly MirroredObject[] {
  return kube.list<MirroredObject>(type).items
}

/** Counts a write, and fails it while `refuse` is set. */
async function write<T>(label: string, effect: () => T): Promise<T> {
  writes.push(label)
  if (refuse instanceof KubeError) throw refuse
  return effect()
}

function newReconciler(): MirrorReconciler {
  const calls = {
    list: async (_: unknown, { priority, keep }: ListCallOptions) => {
      lists++
      // People's changes take precedence, at the API too.
      expect(priority).toBe('drift')
      if (refuse instanceof ApiError) throw refuse
      const kept = new GatheredMost(keep ?? { limit: 0, prefers: () => false })
      for (const object of listed) kept.add(object)
      const objects = kept.objects()
      return { objects, beganAt: clock.monotonic(), pages: 1, leftOut: kept.size - objects.length }
    },
  }
  const live = {
    calls,
    blocked: () => blocked,
    reportFailure: ({ code }: ApiError) => trouble.push(code),
  } as unknown as AccountSession
  return new MirrorReconciler({
    kinds: new KindsRegistry([tunnelSession]),
    resources: {
      account: ({ name }) => (name === account.metadata.name ? account : undefined),
      mirrored: (name) => kube.get<MirroredObject>(type, name),
      mirroredOf: () => mirrored(),
      mirrorHolder: () => account,
      mirroredInto: () => asking ?? [account],
    },
    session: () => live,
    writer: new MirrorWriter({
      kube: {
        create: (of, at, object) => write(`create ${at.name}`, () => kube.create(of, at, object)),
        mergePatch: (of, at, patch, options) =>
          write(`patch ${at.name}`, () => kube.mergePatch(of, at, patch, options)),
        delete: (of, at, options) => write(`delete ${at.name}`, () => kube.delete(of, at, options)),
      },
      record: () => undefined,
      logger: createSilentLogger(),
    }),
    events: { record: (_: KubeObject, { reason }) => events.push(reason) },
    report: (_key, _account, conditions) => {
      said = conditions.map(({ reason }) => reason)
    },
    metrics: {
      leftOut: (_account, count) => {
        leftOut = count
      },
    },
    clock,
    random: { next: () => 0.5, hex: (bytes) => '00'.repeat(bytes) },
  })
}

async function reconcile(): Promise<Outcome> {
  const outcome = reconciler.reconcile(key, none)
  await clock.advance(0)
  return outcome
}

test('sessions are listed once an interval, however often the account changes, and cost writes once', async () => {
  expect(await reconcile()).toMatchObject({ type: 'after', ms: 60_000 })
  expect(writes.length).toBe(4)
  expect(await reconcile()).toMatchObject({ type: 'after', ms: 60_000 })
  await clock.advance(59_999)
  expect(await reconcile()).toMatchObject({ type: 'after', ms: 1 })
  expect([lists, writes.length]).toEqual([1, 4])
  await clock.advance(1)
  await reconcile()
  expect([lists, writes.length]).toEqual([2, 4])
})

test('what is deleted by hand is made again with the next list', async () => {
  await reconcile()
  const [gone] = mirrored()
  if (gone === undefined) throw new Error('nothing is mirrored')
  kube.delete(type, gone.metadata)
  await reconcile()
  expect(mirrored()).toHaveLength(1)
  await clock.advance(60_000)
  await reconcile()
  expect(mirrored()).toHaveLength(2)
})

test('switched off, what is mirrored goes, also while the account cannot be used, and nothing is listed', async () => {
  await reconcile()
  blocked = { reason: 'AccountNotReady', message: 'no' }
  account = mirroredAccount('default', { mirrorSessions: { enabled: false } })
  expect(await reconcile()).toEqual({ type: 'done' })
  expect([mirrored(), lists]).toEqual([[], 1])
})

test('a ClusterAccount shows its sessions in the namespace that it names, and owns them there', async () => {
  const { metadata, spec } = mirroredAccount('default', {
    mirrorSessions: { enabled: true, interval: '60s', namespace: 'agents' },
  })
  const { namespace: _, ...clusterWide } = metadata
  account = { apiVersion: 'culvert.dev/v1alpha1', kind: 'ClusterAccount', metadata: clusterWide, spec }
  const outcome = reconciler.reconcile({ kind: 'TunnelSession', name: 'default' }, none)
  await clock.advance(0)
  expect(await outcome).toMatchObject({ type: 'after', ms: 60_000 })
  for (const object of mirrored()) {
    expect(object.metadata.namespace).toBe('agents')
    expect(object.metadata.ownerReferences).toMatchObject([{ kind: 'ClusterAccount', uid: 'uid-default' }])
    expect(object.status?.accountRef).toEqual({ kind: 'ClusterAccount', name: 'default' })
  }
  expect(mirrored()).toHaveLength(2)
})

test('an account that is being deleted shows nothing any more', async () => {
  await reconcile()
  account = { ...account, metadata: { ...account.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  expect(await reconcile()).toEqual({ type: 'done' })
  expect(mirrored()).toEqual([])
})

test('another interval takes effect at once', async () => {
  await reconcile()
  account = mirroredAccount('default', { mirrorSessions: { enabled: true, interval: '5s' } })
  expect(await reconcile()).toMatchObject({ ms: 5000 })
  expect(lists).toBe(2)
})

test('while the account cannot be used, what is mirrored stays', async () => {
  await reconcile()
  blocked = { reason: 'AccountNotReady', message: 'no' }
  await clock.advance(60_000)
  expect(await reconcile()).toMatchObject({ type: 'after', ms: 1000 })
  expect([mirrored().length, lists]).toEqual([2, 1])
})

test('a list that fails takes nothing away, is reported to the account and tried again', async () => {
  await reconcile()
  await clock.advance(60_000)
  listed = []
  refuse = new ApiError('Unauthorized', 'no', { definite: true })
  expect(await reconcile()).toMatchObject({ type: 'backoff' })
  expect([mirrored().length, trouble]).toEqual([2, ['Unauthorized']])
  expect(reconciler.isSettled('TunnelSession', account)).toBe(true)
})

test('where nothing can be written, one Event says so and the rest is not tried', async () => {
  listed = Array.from({ length: 100 }, (_, index) => session(`ts_${index}`))
  refuse = new KubeError('NotFound', 'namespaces "shop" not found')
  expect(await reconcile()).toMatchObject({ type: 'backoff' })
  expect(events).toEqual(['KubernetesError'])
  expect(writes.length).toBeLessThan(10)
  expect(reconciler.isSettled('TunnelSession', account)).toBe(false)
})

test('an object that somebody else wrote meanwhile does not keep the others from being written', async () => {
  listed = Array.from({ length: 20 }, (_, index) => session(`ts_${index}`))
  refuse = new KubeError('Conflict', 'another one')
  expect(await reconcile()).toMatchObject({ type: 'after' })
  expect(writes).toHaveLength(20)
})

test('a stop leaves the rest to the next process', async () => {
  const stop = new AbortController()
  stop.abort()
  await reconciler.reconcile(key, stop.signal)
  expect(writes).toEqual([])
})

/** Ids of the mirrored sessions. */
function shown(): readonly string[] {
  return mirrored()
    .map(({ status }) => String(status?.id))
    .sort()
}

function many(from: number, to: number): readonly RemoteObject[] {
  return Array.from({ length: to - from }, (_, index) => session(`ts_${String(from + index).padStart(4, '0')}`))
}

test('of more sessions than an account may show the same are shown, in whatever order they are listed, and it says so', async () => {
  account = mirroredAccount('default', { mirrorSessions: { enabled: true, interval: '60s', maxSessions: 10 } })
  listed = many(20, 60)
  await reconcile()
  const first = shown()
  expect(first).toEqual(many(20, 30).map(({ id }) => id))
  expect([said, leftOut]).toEqual([['TooManySessions'], 30])
  const { length } = writes
  for (const order of [many(20, 60).toReversed(), [...many(0, 60)].sort(() => 1), [...many(0, 20), ...many(20, 60)]]) {
    listed = order
    await clock.advance(60_000)
    await reconcile()
  }
  expect(shown()).toEqual(first)
  expect(writes.slice(length)).toEqual([])
  expect(leftOut).toBe(50)
})

test('5,000 sessions are shown where the spec does not say how many', async () => {
  account = mirroredAccount('default', { mirrorSessions: { enabled: true, interval: '60s' } })
  listed = many(0, 5_001)
  await reconcile()
  expect(shown()).toHaveLength(5_000)
  expect([said, leftOut]).toEqual([['TooManySessions'], 1])
})

test('a place that gets free goes to the lowest id, and with room for all nothing is said', async () => {
  account = mirroredAccount('default', { mirrorSessions: { enabled: true, interval: '60s', maxSessions: 3 } })
  listed = many(0, 5)
  await reconcile()
  listed = [...many(0, 1), ...many(2, 5)].toReversed()
  await clock.advance(60_000)
  await reconcile()
  expect(shown()).toEqual(['ts_0000', 'ts_0002', 'ts_0003'])
  expect([said, leftOut]).toEqual([['TooManySessions'], 1])
  listed = many(0, 3)
  await clock.advance(60_000)
  await reconcile()
  expect([said, leftOut]).toEqual([[], 0])
})

test('the sessions of four accounts are shown in one namespace, those of the oldest, and of others none', async () => {
  const at = (name: string, day: number): AccountResource => {
    const made = mirroredAccount(name)
    return { ...made, metadata: { ...made.metadata, creationTimestamp: `2026-01-0${day}T00:00:00Z` } }
  }
  account = at('default', 5)
  asking = [account, at('a', 9), at('b', 1), at('c', 2), at('d', 3)]
  await reconcile()
  expect([shown().length, said]).toEqual([2, []])
  asking = [account, at('b', 1), at('c', 2), at('d', 3), at('e', 4)]
  await clock.advance(60_000)
  await reconcile()
  expect([shown(), said, leftOut]).toEqual([[], ['TooManyMirrors'], undefined])
  expect(lists).toBe(1)
})
