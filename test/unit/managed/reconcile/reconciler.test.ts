import { expect, test } from 'vitest'
import { backend } from '../../../../src/kinds/backend.ts'
import { resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import { REMOTE_ID } from '../../../../src/managed/names.ts'
import { ModelWorld } from '../../../builders/model-world.ts'

const backends = resourceTypeOf(backend)

const tunnels = (app: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app } } })

function isReady(world: ModelWorld, kind: string, name: string): boolean {
  const cr = world.get(kind, name)
  const ready = cr?.status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' && ready.observedGeneration === cr?.metadata.generation
}

test('creating costs two writes to Kubernetes and one call', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'first', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'first'))
  const before = world.writes.length
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.writes.slice(before)).toEqual([
    'PATCH backends/web',
    'POST backends/tunnel_group',
    'PATCH backends/web status',
  ])
})

test('what is noted of a former object goes out of status.internal with it, and nothing else does', async () => {
  const world = ModelWorld.start()
  world.apply('APIKey', 'ci', { rotation: { interval: '10s', overlap: '2s' } })
  await world.until('Ready', () => isReady(world, 'APIKey', 'ci'))
  const { id, internal: first } = world.get('APIKey', 'ci')?.status ?? {}
  await world.until('rotated', () => world.get('APIKey', 'ci')?.status?.id !== id)
  const former = { id, nonce: first?.create?.nonce, digest: first?.tokenDigest, deleteAfter: expect.any(String) }
  const second = world.get('APIKey', 'ci')?.status?.internal
  expect(second?.superseded).toEqual([former])
  world.apply('APIKey', 'ci', { rotation: { interval: '1h', overlap: '2s' } })
  const { superseded, ...kept } = second ?? {}
  await world.until('revoked', () => world.get('APIKey', 'ci')?.status?.internal?.superseded === undefined)
  expect(world.get('APIKey', 'ci')?.status?.internal).toEqual(kept)
  expect(new Set(Object.keys(kept))).toEqual(new Set(['create', 'tokenDigest']))
})

test('own keys cost no further call, and lead back to the object of a resource that lost its status and all annotations', async () => {
  const world = ModelWorld.start()
  const spec = { ...tunnels('one'), metadata: { team: 'shop', 7: 'é' } }
  world.apply('Backend', 'web', spec)
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  const { id, metadata } = world.account.all()[0]?.object ?? {}
  expect(metadata).toMatch(/^\{"culvert":\{[^{}]*\},"7":"é","team":"shop"\}$/)
  expect(world.get('Backend', 'web')?.metadata.annotations).not.toHaveProperty([REMOTE_ID])

  world.kill()
  world.patch('Backend', 'web', { metadata: { annotations: null } })
  world.kube.mergePatch(backends, { namespace: 'shop', name: 'web' }, { status: null }, { subresource: 'status' })
  await world.clock.advance(60_000)
  const from = world.writes.length
  world.startOperator()
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.get('Backend', 'web')?.status?.id).toBe(id)
  expect(world.writes.slice(from).filter((write) => write.includes('tunnel_group'))).toEqual([])

  world.apply('Backend', 'web', { ...spec, metadata: { ...spec.metadata, team: 'net' } })
  await world.until('changed', () => isReady(world, 'Backend', 'web'))
  expect(world.account.all()[0]?.object.metadata).toMatch(/^\{"culvert":\{[^{}]*\},"7":"é","team":"net"\}$/)
  expect(world.get('Backend', 'web')?.metadata.annotations ?? {}).not.toHaveProperty([REMOTE_ID])
})

test('an edit made while the create was under way is carried out, although our own reading was the first to show it', async () => {
  const world = ModelWorld.start()
  world.duringPost = () => world.apply('Backend', 'web', tunnels('two'))
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('the edit at the API', () => {
    const cr = world.get('Backend', 'web')
    return cr !== undefined && (world.remote(cr)?.labels as { app?: string } | undefined)?.app === 'two'
  })
  expect(world.account.all()).toHaveLength(1)
})

test('a resource that is deleted before it came back from a backup takes its former object with it', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  world.kill()
  world.restore('Backend', 'web')
  world.delete('Backend', 'web')
  world.startOperator()
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(world.account.all()).toEqual([])
})

test('a finalizer that was taken off is put back, with no other write', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  await world.clock.advance(1000)
  const before = world.writes.length
  world.patch('Backend', 'web', { metadata: { finalizers: null } })
  await world.until('held', () => world.get('Backend', 'web')?.metadata.finalizers?.length === 1)
  await world.clock.advance(1000)
  expect(world.writes.slice(before)).toEqual(['PATCH backends/web'])
})

test('an object that something on the way made twice is gone after the next resync', async () => {
  const world = ModelWorld.start()
  world.apiFaults.push('doubled')
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.account.all()).toHaveLength(2)
  await world.until('one object', () => world.account.all().length === 1, 120_000)
  expect(world.account.all()[0]?.object.id).toBe(world.get('Backend', 'web')?.status?.id)
})

test('a copy of what was deleted before a list showed the copy is reported', async () => {
  const world = ModelWorld.start()
  world.apiFaults.push('doubled')
  world.apply('IPPolicy', 'office', { rules: [], allowEmpty: true })
  await world.until('Ready', () => isReady(world, 'IPPolicy', 'office'))
  world.delete('IPPolicy', 'office')
  await world.until('gone', () => world.get('IPPolicy', 'office') === undefined)
  await world.until('reported', () => world.accountResource?.status?.orphanCount === 1, 180_000)
})

test('while a resource is paused its status claims no spec that was not acted on', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  world.patch('Backend', 'web', { metadata: { annotations: { 'culvert.dev/paused': 'true' } } })
  world.apply('Backend', 'web', tunnels('two'))
  await world.clock.advance(1000)
  expect(world.get('Backend', 'web')?.status).toMatchObject({ observedGeneration: 1 })
  const synced = world.get('Backend', 'web')?.status?.conditions?.find(({ type }) => type === 'Synced')
  expect(synced).toMatchObject({ status: 'False', reason: 'Paused' })
  world.patch('Backend', 'web', { metadata: { annotations: { 'culvert.dev/paused': null } } })
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.get('Backend', 'web')?.status?.observedGeneration).toBe(2)
})

test('a resource that names another account than its object lives in can still be deleted, object and all', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  world.patch('Backend', 'web', { spec: { accountRef: { kind: 'Account', name: 'other' } } })
  const synced = () => world.get('Backend', 'web')?.status?.conditions?.find(({ type }) => type === 'Synced')
  await world.until('refused', () => synced()?.reason === 'InvalidSpec')
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined, 60_000)
  expect(world.account.all()).toEqual([])
})

test('a resource whose object is retained goes without any call, whatever its account says', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', { ...tunnels('one'), deletionPolicy: 'Retain' })
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  world.keys.clear()
  const reads = world.reads.length
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined, 2000)
  expect(world.reads.length).toBe(reads)
  expect(world.account.all()).toHaveLength(1)
})

test('a create that takes effect as late as it may is found, and no second one is sent', async () => {
  const world = ModelWorld.start()
  world.apiFaults.push('late')
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.writes.filter((label) => label === 'POST backends/tunnel_group')).toHaveLength(1)
  expect(world.account.all()).toHaveLength(1)
})

test('a create that a dead process sent is found by the next one, and no second one is sent', async () => {
  const world = ModelWorld.start()
  world.apiFaults.push('late')
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('sent', () => world.writes.includes('POST backends/tunnel_group'))
  world.kill()
  world.startOperator()
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  expect(world.writes.filter((label) => label === 'POST backends/tunnel_group')).toHaveLength(1)
})

test('a resource that is Ready as soon as it is created has one Event', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.until('Ready', () => isReady(world, 'Backend', 'web') && isReady(world, 'IPPolicy', 'office'))
  await world.clock.advance(60_000)
  for (const name of ['Backend/web', 'IPPolicy/office']) {
    expect(world.events.filter((event) => event.startsWith(`${name} `))).toEqual([`${name} Created`])
  }
})

test('an update that lands after its spec was edited back is undone within seconds', async () => {
  const world = ModelWorld.start()
  world.patchAccount({ spec: { resyncInterval: '24h' } })
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  await world.clock.advance(60_000)
  world.apiFaults.push('late')
  world.apply('Backend', 'web', tunnels('two'))
  await world.until('sent', () => world.writes.includes('PATCH backends/tunnel_group'))
  world.apply('Backend', 'web', tunnels('one'))
  await world.clock.advance(10_000)
  expect(world.account.all()[0]?.object.labels).toEqual({ app: 'one' })
})

test('in an older state of etcd, in which the try before the one that made the object is open, nothing is sent again', async () => {
  const world = ModelWorld.start()
  world.apiFaults.push('unsent')
  world.apply('Backend', 'web', tunnels('one'))
  await world.until('sent', () => world.writes.includes('POST backends/tunnel_group'))
  const snapshot = world.kube.snapshot()
  await world.until('Ready', () => isReady(world, 'Backend', 'web'))
  const { id } = world.get('Backend', 'web')?.status ?? {}
  world.kube.restore(snapshot, snapshot.revision + 1_000_000_000)
  await world.until('known again', () => world.get('Backend', 'web')?.status?.id === id, 600_000)
  expect(world.writes.filter((label) => label === 'POST backends/tunnel_group')).toHaveLength(2)
  expect(world.violations).toEqual([])
})
