import { expect, test } from 'vitest'
import type { ManagedDescriptor } from '../../src/managed/descriptor/descriptor.ts'
import type { Manifest } from '../kinds/kind-test-data.ts'
import { applyAll, applyNeeds, casesTitled, expectExactlyOneEach, managed, subjectsOf } from './support/cases.ts'
import { hasToken } from './support/tokens.ts'
import { conditionOf, typeOf, World } from './support/world.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const NOTE = 'internal.culvert.dev/id'

/** Applies one of each kind and waits; resolves to the manifests and the ids of their objects. */
async function oneOfEach(world: World, kinds: readonly ManagedDescriptor[]) {
  const names = kinds.map(({ definition }) => definition.kind)
  const cases = casesTitled('minimal').filter(({ kind }) => names.includes(kind))
  await applyNeeds(world, cases, ['life'])
  const manifests = subjectsOf(cases, 'life')
  await applyAll(world, manifests)
  return { manifests, ids: await idsOf(world, manifests) }
}

/** Ids in the status of the CRs, once they are Ready. */
function idsOf(world: World, manifests: readonly Manifest[]): Promise<readonly unknown[]> {
  return Promise.all(manifests.map(async ({ kind, name }) => (await world.ready(kind, name, 60_000)).status?.id))
}

/** Removes CRs by hand, as people do who are tired of a finalizer; their objects stay. */
async function forceDelete(world: World, manifests: readonly Manifest[]): Promise<void> {
  await world.operator.kill()
  for (const { kind, name } of manifests) {
    const key = { namespace: world.namespace, name }
    await world.kube.mergePatch(typeOf(kind), key, { metadata: { finalizers: null } })
    await world.delete(kind, name)
    await world.gone(kind, name)
  }
  await world.startOperator()
}

function creates(world: World, since: number) {
  return world.writes(since).filter(({ method }) => method !== 'PATCH')
}

test('a resource that was removed by hand and applied again takes its former object back: each kind', {
  timeout: 240_000,
}, async () => {
  await using world = await World.open()
  // A token goes with its Secret, and that with its owner: see tokens.test.ts. A bot bears the mark until it has its
  // name only.
  const lasting = managed.filter((descriptor) => !hasToken(descriptor) && descriptor.identity.markedBy === 'metadata')
  const { manifests, ids } = await oneOfEach(world, lasting)
  const mark = world.mark()
  await forceDelete(world, manifests)
  await applyAll(world, manifests)
  expect(await idsOf(world, manifests)).toEqual(ids)
  expect(creates(world, mark)).toEqual([])
  await expectExactlyOneEach(world)
  await world.resync()
  expect((await world.get('Account', 'default'))?.status?.orphanCount).toBe(0)
})

test('a resource with raw metadata, applied again with a namesake’s annotation, reports the object and creates none', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', { ...tunnels, rawMetadata: 'mine' })
  const { status, metadata } = await world.ready('Backend', 'web')
  const note = metadata.annotations?.[NOTE]
  expect(note).toMatch(new RegExp(`^${world.namespace}/web/${metadata.uid}/${status?.id}/[0-9a-f]{8}-[0-9a-f]{16}$`))
  await forceDelete(world, [{ kind: 'Backend', name: 'web', spec: {} }])

  const mark = world.mark()
  await world.apply('Backend', 'web', { ...tunnels, rawMetadata: 'mine' }, { annotations: { [NOTE]: note } })
  const { message } = await world.reason('Backend', 'web', 'Ready', 'AlreadyExists')
  expect(message).toContain(String(status?.id))
  expect(conditionOf(await world.get('Backend', 'web'), 'Stalled')?.status).toBe('True')
  expect(world.writes(mark)).toEqual([])
  // A resource of another name is a copy of the manifest: the note says nothing about it.
  await world.apply('Backend', 'copy', { ...tunnels, rawMetadata: 'mine' }, { annotations: { [NOTE]: note } })
  const copy = await world.ready('Backend', 'copy')
  expect(copy.status?.id).not.toBe(status?.id)

  await world.annotate('Backend', 'web', { [NOTE]: null })
  const anew = await world.ready('Backend', 'web')
  expect(anew.status?.id).not.toBe(status?.id)
  expect(await world.remote('backends/tunnel_group')).toHaveLength(3)
})

test('a forged annotation takes nothing and deletes nothing', async () => {
  await using world = await World.open({ operator: false })
  const { body } = await world.api.post('/backends/http_response', { body: 'of somebody else' })
  const spec = { type: 'HTTPResponse', httpResponse: { body: 'mine' } }
  const { metadata } = await world.apply('Backend', 'web', spec)
  const forged = `${world.namespace}/web/${metadata.uid}/${body.id}/0123456789abcdef`
  await world.annotate('Backend', 'web', { [NOTE]: forged })
  await world.startOperator()
  await world.reason('Backend', 'web', 'Stalled', 'AlreadyExists')
  await world.delete('Backend', 'web')
  await world.gone('Backend', 'web')
  expect(await world.remote('backends/http_response')).toMatchObject([{ id: body.id, body: 'of somebody else' }])
  expect(world.writes().map(({ method }) => method)).toEqual(['POST'])
})
