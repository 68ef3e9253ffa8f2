import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts'
import { loadKubeConnection } from '../../src/kube/load-config.ts'
import type { KubeObject, ResourceType } from '../../src/kube/types.ts'
import { EventRecorder } from '../../src/runtime/events.ts'
import { LeaderElection } from '../../src/runtime/leader-election.ts'
import { Reflector } from '../../src/runtime/reflector.ts'
import { systemClock } from '../../src/util/clock.ts'
import { systemRandom } from '../../src/util/random.ts'
import { createSilentLogger } from '../builders/silent-logger.ts'
import './provided.ts'

const configMaps: ResourceType = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
const secrets: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
  metadataOnly: true,
}
const events: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}
const leases: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}
const namespaces: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}

const namespace = `kube-client-${systemRandom.hex(4)}`
const PATIENCE = { timeout: 20_000, interval: 50 }

let client: ClosableKubeClient
let stop: AbortController
let running: Promise<unknown>[]

beforeAll(async () => {
  const connection = loadKubeConnection({ kubeconfig: inject('kubeconfigPath') })
  client = createKubeClient({ connection, clock: systemClock, random: systemRandom })
  await client.create(namespaces, { name: namespace }, {})
  stop = new AbortController()
  running = []
})

afterEach(async () => {
  stop.abort()
  await Promise.all(running)
  stop = new AbortController()
  running = []
})

afterAll(async () => {
  await client.delete(namespaces, { name: namespace })
  await client.close()
})

function named(name: string) {
  return { namespace, name }
}

describe('the client', () => {
  test('creates, reads, patches, applies and deletes', async () => {
    const created = await client.create(configMaps, named('plain'), { data: { a: '1' } })
    const { resourceVersion, uid } = created.metadata
    const patched = await client.mergePatch(configMaps, named('plain'), { data: { b: '2' } }, { resourceVersion, uid })
    expect(patched).toMatchObject({ kind: 'ConfigMap', data: { a: '1', b: '2' } })
    expect(patched.metadata).not.toHaveProperty('managedFields')
    expect(await client.apply(configMaps, named('plain'), { data: { c: '3' } })).toMatchObject({
      data: { a: '1', b: '2', c: '3' },
    })
    expect(await client.delete(configMaps, named('plain'), { uid })).toBe(true)
    expect(await client.get(configMaps, named('plain'))).toBeUndefined()
    expect(await client.delete(configMaps, named('plain'))).toBe(false)
  })

  test('every failed precondition is a conflict', async () => {
    const { metadata } = await client.create(configMaps, named('contested'), { data: {} })
    const patch = { data: { a: '1' } }
    await client.mergePatch(configMaps, named('contested'), patch)
    const { resourceVersion } = metadata
    const uid = '00000000-0000-0000-0000-000000000000'
    for (const precondition of [{ resourceVersion }, { uid }]) {
      const conflict = expect.objectContaining({ code: 'Conflict' })
      await expect(
        client.mergePatch(configMaps, named('contested'), { data: { a: '2' } }, precondition),
      ).rejects.toEqual(conflict)
      await expect(client.delete(configMaps, named('contested'), precondition)).rejects.toEqual(conflict)
    }
    await expect(client.create(configMaps, named('contested'), {})).rejects.toMatchObject({ code: 'AlreadyExists' })
    await expect(client.mergePatch(configMaps, named('absent'), patch)).rejects.toMatchObject({ code: 'NotFound' })
  })

  test('metadata-only types return no content, not even in answers to writes', async () => {
    const created = await client.create(secrets, named('hidden'), { stringData: { token: 'content' } })
    const listed = await client.list(secrets, { namespace })
    const got = await client.get(secrets, named('hidden'))
    expect([created, got, ...listed.items]).toHaveLength(3)
    for (const object of [created, got, ...listed.items]) {
      expect(object).toMatchObject({ kind: 'Secret', metadata: { name: 'hidden' } })
      expect(object).not.toHaveProperty('data')
    }
  })

  test('pages through a list at one resourceVersion', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, item) => client.create(configMaps, named(`page-${item}`), {})))
    const first = await client.list(configMaps, { namespace, limit: 2 })
    expect(first.items).toHaveLength(2)
    const second = await client.list(configMaps, { namespace, limit: 2, continue: first.continue ?? '' })
    expect(second.resourceVersion).toBe(first.resourceVersion)
  })
})

test('the reflector follows additions, changes, deletions and replacements, metadata-only ones too', async () => {
  const follow = (type: ResourceType) => {
    const seen: string[] = []
    const reflector = new Reflector<KubeObject>({
      client,
      type,
      namespaces: [namespace],
      clock: systemClock,
      random: systemRandom,
      logger: createSilentLogger(),
    })
    reflector.subscribe((event) => {
      if (event.object.metadata.name === 'followed') seen.push(event.type)
    })
    running.push(reflector.start(stop.signal))
    return { reflector, seen }
  }
  for (const type of [configMaps, secrets]) {
    const { reflector, seen } = follow(type)
    await reflector.synced
    await client.create(type, named('followed'), {})
    reflector.record(await client.mergePatch(type, named('followed'), { metadata: { labels: { a: 'b' } } }))
    expect(reflector.store.get(named('followed'))?.metadata.labels).toEqual({ a: 'b' })
    await client.delete(type, named('followed'))
    await client.create(type, named('followed'), {})
    await vi.waitFor(() => expect(seen.slice(-2)).toEqual(['deleted', 'added']), PATIENCE)
    expect(reflector.store.get(named('followed'))).not.toHaveProperty('data')
  }
})

test('the lease is acquired, renewed and released as the server requires', async () => {
  const election = new LeaderElection({
    client,
    clock: systemClock,
    random: systemRandom,
    logger: createSilentLogger(),
    namespace,
    name: 'culvert',
    identity: 'test',
    retryPeriodMs: 100,
    onStartedLeading: () => undefined,
    onStoppedLeading: () => undefined,
  })
  const ended = election.run(stop.signal)
  const spec = async (): Promise<Record<string, unknown>> => {
    const lease = await client.get<KubeObject & { spec: Record<string, unknown> }>(leases, named('culvert'))
    return lease?.spec ?? {}
  }
  await vi.waitFor(() => expect(election.isLeader()).toBe(true), PATIENCE)
  const first = await spec()
  await vi.waitFor(async () => expect((await spec()).renewTime).not.toBe(first.renewTime), PATIENCE)
  stop.abort()
  expect(await ended).toBe('stopped')
  expect(await spec()).toMatchObject({ holderIdentity: '', acquireTime: first.acquireTime })
})

test('Events appear next to their objects, and those of cluster-scoped objects in the namespace default', async () => {
  const logger = createSilentLogger()
  const recorder = new EventRecorder({ client, clock: systemClock, random: systemRandom, logger, instance: 'test' })
  const configMap = await client.create(configMaps, named('observed'), {})
  const self = await client.get(namespaces, { name: namespace })
  if (self === undefined) throw new Error('the namespace is gone')
  for (const object of [configMap, self]) {
    recorder.record(object, { type: 'Warning', reason: 'Broken', note: 'é'.repeat(2000) })
  }
  await recorder.flush()
  expect(logger.lines).toEqual([])
  const about = async (where: string, uid: string) =>
    (await client.list(events, { namespace: where, fieldSelector: `regarding.uid=${uid}` })).items
  expect(await about(namespace, configMap.metadata.uid)).toMatchObject([{ reason: 'Broken', type: 'Warning' }])
  expect(await about('default', self.metadata.uid)).toHaveLength(1)
})
