import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { formatMarker } from '../../../src/managed/markers/marker.ts'
import { startOwnCluster } from '../support/own-cluster.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import {
  applyManifests,
  backUp,
  bodies,
  deleteAll,
  idIn,
  listRestored,
  objectIds,
  oneOfEach,
  opens,
  readyOf,
  type Subject,
  settled,
  told,
} from './lives.ts'

let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

/** The other cluster, on the account of `world`. */
function openBeside(world: World, installation: string): Promise<World> {
  const flags = ['--installation', installation]
  return World.open({ kubeconfig: cluster.kubeconfigPath, beside: world, flags })
}

/** Both look at the account; neither writes. */
async function expectPeace(...worlds: readonly World[]): Promise<void> {
  const mark = worlds[0]?.mark()
  for (const world of [...worlds, ...worlds]) await world.resync()
  expect(worlds[0]?.writes(mark)).toEqual([])
}

test('two clusters with different installation ids and the same manifests leave each other’s objects alone', {
  timeout: 300_000,
  tags: 'nightly',
}, async () => {
  await using one = await World.open({ flags: ['--installation', 'one'] })
  const first = await oneOfEach(one)
  const before = await bodies(one, first)
  await using other = await openBeside(one, 'other')
  await applyManifests(other, await backUp(one))

  // What can be there once only is refused; all else is made a second time. Both are reported.
  for (const subject of first) {
    const way = await settled(other, subject)
    const id = (await other.get(subject.kind, subject.name))?.status?.id
    if (way === 'ready') expect(id, `${subject.kind}/${subject.name}`).not.toBe(subject.id)
    else expect(id).toBeUndefined()
    const waits = way === 'refused' && (await readyOf(other, subject))?.reason === 'ReferenceNotReady'
    if (waits) continue
    const note = await told(other, subject, 'PossibleDuplicate')
    expect(note).toContain(subject.id)
    if (subject.marked) expect(note).toContain('--installation one')
  }
  const domain = first.find(({ kind, marked }) => kind === 'ReservedDomain' && marked) as Subject
  await other.apply(domain.kind, domain.name, {
    ...domain.spec,
    externalID: domain.id,
    managementPolicy: 'Observe',
  })
  const { message } = await other.reason(domain.kind, domain.name, 'Ready', 'NotAdoptable')
  expect(message).toContain(`carries the marker of ${domain.kind}`)
  await expectPeace(one, other)

  await deleteAll(other, first)
  expect(await bodies(one, first)).toEqual(before)
  expect(await objectIds(one)).toHaveLength(first.filter(({ path }) => path !== 'ip_policy_rules').length)
  await expectPeace(one)
  for (const subject of first.filter(({ token }) => token)) expect(await opens(one, subject, subject.id)).toBe(true)
  expect((await one.get('Account', 'default'))?.status?.orphanCount).toBe(0)
  await listRestored('two clusters, two installation ids', first)
})

test('of two clusters with one installation id, the newer gets the objects; the older reports it and deletes none', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  await using old = await World.open({ flags: ['--installation', 'shop'] })
  const first = await oneOfEach(old)
  await using young = await openBeside(old, 'shop')
  const backup = await backUp(old)
  await applyManifests(young, backup)
  const taken = first.filter(({ marked, token }) => marked && !token)
  const marked = first.filter((subject) => subject.marked)
  for (const subject of taken) {
    expect((await young.ready(subject.kind, subject.name, 60_000)).status?.id).toBe(subject.id)
    expect(await told(young, subject, 'Recovered')).toContain(subject.id)
  }
  for (const subject of marked.filter(({ token }) => token)) {
    await told(young, subject, 'Reissued')
    const gone = async () => (await young.api.get(`/${subject.path}/${subject.id}`)).status === 404
    await until(`${subject.id} was replaced`, gone)
  }

  // Some go before the older one has looked again, and the rest once it has.
  const [early, late] = [taken.filter((_, index) => index % 2 === 0), taken.filter((_, index) => index % 2 === 1)]
  const kept = await bodies(young, taken)
  for (const { kind, name } of early) await old.delete(kind, name)
  await old.resync()
  for (const subject of late) {
    const { message } = await old.reason(subject.kind, subject.name, 'Stalled', 'TakenOver', 60_000)
    expect(message).toContain(subject.id)
    expect(message).toContain('--installation')
  }
  for (const subject of marked.filter(({ token }) => token)) {
    const { kind, name, id } = subject
    expect(await told(old, subject, 'RemoteDeleted')).toContain(id)
    await old.until(kind, name, 'has another object', ({ status }) => status?.id !== undefined && status.id !== id)
  }
  for (const world of [old, young]) {
    for (const { kind, name, spec } of marked.filter(({ token }) => token)) {
      const cr = await world.ready(kind, name)
      expect(await opens(world, { kind, name, spec }, cr.status?.id ?? ''), `${kind}/${name}`).toBe(true)
    }
  }
  await expectPeace(old, young)
  expect(await bodies(young, taken)).toEqual(kept)

  await deleteAll(old, first)
  for (const subject of taken) expect(await told(old, subject, 'LeftInPlace')).toContain(subject.id)
  expect(await bodies(young, taken)).toEqual(kept)
  await expectPeace(young)
  const now = await readyOnes(young, first)
  for (const subject of now) expect((await young.api.get(`/${subject.path}/${subject.id}`)).status).toBe(200)
  for (const subject of taken) expect(idIn(now, subject)).toBe(subject.id)

  // Once the other has stopped, the older may have them back.
  await young.operator.kill()
  await applyManifests(old, backup)
  for (const { kind, name, id } of taken) expect((await old.ready(kind, name, 60_000)).status?.id).toBe(id)
  await listRestored('two clusters, one installation id', first)
})

test('of the objects that earlier resources left behind, the newest is taken, its copies are deleted, and the others are reported', async () => {
  await using world = await World.open({ flags: ['--installation', 'shop'] })
  const path = 'backends/tunnel_group'
  const make = (uid: string) => {
    const mark = { installation: 'shop', kind: 'Backend', namespace: world.namespace, name: 'web', uid, nonce: uid }
    return world.api.create(`/${path}`, { metadata: formatMarker(mark) })
  }
  const [first, copy, newest] = [await make('first'), await make('second'), await make('second')]
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
  expect((await world.ready('Backend', 'web')).status?.id).toBe(newest)
  const manifest = { kind: 'Backend', name: 'web', spec: {} }
  expect(await told(world, manifest, 'CopyDeleted')).toContain(copy)
  await world.resync()
  expect(new Set(await objectIds(world))).toEqual(new Set([first, newest]))
  expect((await world.get('Account', 'default'))?.status?.orphans).toMatchObject([{ id: first, name: 'web' }])
})

/** Those of the manifests whose CRs are Ready, with what they hold. */
async function readyOnes(world: World, subjects: readonly Subject[]): Promise<readonly Subject[]> {
  const found = await Promise.all(
    subjects.map(async (subject) => {
      const id = (await world.get(subject.kind, subject.name))?.status?.id
      return (await settled(world, subject)) === 'ready' && id !== undefined ? [{ ...subject, id }] : []
    }),
  )
  return found.flat()
}
