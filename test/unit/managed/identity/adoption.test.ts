import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const TUNNELS = 'backends/tunnel_group'
const tunnels = (app: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'TunnelGroup',
  tunnelGroup: { labels: { app } },
  ...more,
})

/** A world with an object made by hand. */
async function worldWith(path: string, body: Readonly<Record<string, unknown>>) {
  const world = ModelWorld.start()
  const { id } = world.account.create(path, body)
  await world.clock.advance(1000)
  const observing = { externalID: id, managementPolicy: 'Observe' }
  return { world, id, observing, adopting: { externalID: id, managementPolicy: 'Manage' } }
}

function condition(world: ModelWorld, kind: string, name: string, type: string) {
  return world.get(kind, name)?.status?.conditions?.find((each) => each.type === type)
}

async function says(world: ModelWorld, kind: string, name: string, reason: string): Promise<string> {
  await world.until(reason, () => condition(world, kind, name, 'Synced')?.reason === reason)
  return condition(world, kind, name, 'Synced')?.message ?? ''
}

async function inSync(world: ModelWorld, kind: string, name: string): Promise<void> {
  await world.until('in sync', () => {
    const cr = world.get(kind, name)
    const synced = condition(world, kind, name, 'Synced')
    return synced?.status === 'True' && synced.observedGeneration === cr?.metadata.generation
  })
}

const apiWrites = (world: ModelWorld, from: number): readonly string[] =>
  world.writes
    .slice(from)
    .filter((write) => !/ (backends|certificateauthorities)\//.test(write) || write.includes(TUNNELS))

test('an object that a resource names is observed: the differences are told, nothing is written but the status', async () => {
  const { world, id, observing } = await worldWith(TUNNELS, { labels: { app: 'old' }, metadata: 'by hand' })
  const from = world.writes.length
  world.apply('Backend', 'web', tunnels('new', { ...observing, description: 'the shop' }))
  const message = await says(world, 'Backend', 'web', 'Observed')
  expect(message).toBe(
    'only observed; to be equal to the spec it would take: update labels, description. Set managementPolicy: Manage for that. ' +
      'By field: labels is {"app":"old"} and would be {"app":"new"}; description is "" and would be "the shop"',
  )
  expect(condition(world, 'Backend', 'web', 'Ready')).toMatchObject({ status: 'True' })
  const cr = world.get('Backend', 'web')
  expect(cr?.status).toMatchObject({ id, accountRef: { kind: 'Account', name: 'default' } })
  expect(cr?.status).not.toHaveProperty('create')
  expect(cr?.metadata.finalizers ?? []).toEqual([])
  await world.clock.advance(300_000)
  expect(world.writes.slice(from)).toEqual(['PATCH backends/web status'])

  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(world.account.get(TUNNELS, id)).toMatchObject({ labels: { app: 'old' } })
})

test('with managementPolicy Manage it is adopted by what was told, and stays in the account when the resource goes', async () => {
  const { world, id, observing, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' }, metadata: 'by hand' })
  world.apply('Backend', 'web', tunnels('new', observing))
  await says(world, 'Backend', 'web', 'Observed')
  const from = world.writes.length
  world.apply('Backend', 'web', tunnels('new', adopting))
  await inSync(world, 'Backend', 'web')
  expect(apiWrites(world, from)).toEqual([`PATCH ${TUNNELS}`])
  expect(world.account.get(TUNNELS, id)).toMatchObject({ labels: { app: 'new' }, metadata: 'by hand' })
  expect(world.get('Backend', 'web')?.status).toMatchObject({ id, adopted: true })

  world.account.update(TUNNELS, id, { labels: { app: 'changed' } })
  await world.until('drift put back', () => {
    return (world.account.get(TUNNELS, id)?.labels as { app: string } | undefined)?.app === 'new'
  })
  const before = world.writes.length
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(apiWrites(world, before)).toEqual([])
  expect(world.account.all()).toHaveLength(1)
})

test('an adopted object goes with its resource where the spec says so', async () => {
  const { world, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', { ...adopting, deletionPolicy: 'Delete' }))
  await inSync(world, 'Backend', 'web')
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(world.account.all()).toEqual([])
})

test('an adopted object that vanishes is not made again', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  world.account.delete(TUNNELS, id)
  expect(await says(world, 'Backend', 'web', 'RemoteMissing')).toContain(id)
  await world.clock.advance(1_300_000)
  expect(world.account.all()).toEqual([])
})

test('an object is not taken from whom it belongs to', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  world.apply('Backend', 'thief', tunnels('mine', adopting))
  expect(await says(world, 'Backend', 'thief', 'NotAdoptable')).toContain(`${id} is held by Backend/web`)

  world.apply('Backend', 'own', tunnels('own'))
  await inSync(world, 'Backend', 'own')
  const own = world.get('Backend', 'own')?.status?.id ?? ''
  world.kill()
  world.patch('Backend', 'own', { metadata: { finalizers: [] } })
  world.delete('Backend', 'own')
  world.startOperator()
  world.apply('Backend', 'heir', tunnels('own', { externalID: own, managementPolicy: 'Manage' }))
  expect(await says(world, 'Backend', 'heir', 'NotAdoptable')).toContain('carries the marker of Backend shop/own')
  expect(world.account.all()).toHaveLength(2)
})

test('what cannot be changed has to fit before an object is adopted', async () => {
  const { world, adopting } = await worldWith('certificate_authorities', { ca_pem: 'another' })
  const pem = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n'
  world.apply('CertificateAuthority', 'staff', { caPEM: pem, ...adopting })
  expect(await says(world, 'CertificateAuthority', 'staff', 'NotAdoptable')).toContain(
    'differs from the spec in ca_pem',
  )
  expect(world.get('CertificateAuthority', 'staff')?.metadata.finalizers ?? []).toEqual([])
  expect(world.account.all()).toHaveLength(1)
})

test('a resource that stops observing and has an object of its own made leaves the observed one alone', async () => {
  const { world, id, observing } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('new', observing))
  await says(world, 'Backend', 'web', 'Observed')
  world.apply('Backend', 'web', tunnels('new'))
  await inSync(world, 'Backend', 'web')
  const cr = world.get('Backend', 'web')
  expect(cr?.status?.id).not.toBe(id)
  expect(cr?.status).not.toHaveProperty('adopted')
  await world.clock.advance(300_000)
  expect(world.account.get(TUNNELS, id)).toMatchObject({ labels: { app: 'old' } })
  expect(world.account.all()).toHaveLength(2)
})

test('an adopted object gets the own keys of its resource, never a mark, and keeps what else stands in its metadata', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, {
    labels: { app: 'old' },
    metadata: '{"owner": {"id": 1.0}}',
  })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  expect(world.account.get(TUNNELS, id)?.metadata).toBe('{"owner": {"id": 1.0}}')
  world.apply('Backend', 'web', tunnels('old', { ...adopting, metadata: { team: 'shop' } }))
  await inSync(world, 'Backend', 'web')
  expect(world.account.get(TUNNELS, id)?.metadata).toBe('{"owner":{"id":1.0},"team":"shop"}')
  world.account.update(TUNNELS, id, { metadata: '{"team": "shop", "owner": {"id": 2}, "more": true}' })
  const from = world.writes.length
  await world.clock.advance(300_000)
  expect(apiWrites(world, from)).toEqual([])
})

test('a resource that lost its status takes the object that it had adopted back, and still does not delete it', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', { ...adopting, metadata: { team: 'mine' } }))
  await inSync(world, 'Backend', 'web')
  world.kill()
  world.restore('Backend', 'web')
  world.startOperator()
  await inSync(world, 'Backend', 'web')
  expect(world.get('Backend', 'web')?.status).toMatchObject({ id, adopted: true })
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(world.account.all()).toHaveLength(1)
})

test.each(['Observe', 'Manage'])(
  'a resource of policy %s that lost its annotations and its status has its object again, and creates none',
  async (managementPolicy) => {
    const { world, id } = await worldWith(TUNNELS, { labels: { app: 'old' }, metadata: 'by hand' })
    world.apply('Backend', 'web', tunnels('old', { externalID: id, managementPolicy }))
    await inSync(world, 'Backend', 'web')
    for (const isRunning of [true, false]) {
      if (!isRunning) world.kill()
      const from = world.writes.length
      world.patch('Backend', 'web', { metadata: { annotations: null } })
      world.wipeStatus('Backend', 'web')
      if (!isRunning) world.startOperator()
      await inSync(world, 'Backend', 'web')
      await world.clock.advance(300_000)
      expect(apiWrites(world, from)).toEqual([])
      expect(world.get('Backend', 'web')?.status?.id).toBe(id)
    }
    expect(world.account.all()).toEqual([
      { path: TUNNELS, object: expect.objectContaining({ id, metadata: 'by hand' }) },
    ])
  },
)

test('of an adopted object the condition says that it stays, unless the spec has it deleted', async () => {
  const { world, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  const synced = () => condition(world, 'Backend', 'web', 'Synced')?.message
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  expect(synced()).toContain('stays at the API when this resource is deleted')
  world.apply('Backend', 'web', tunnels('old', { ...adopting, deletionPolicy: 'Delete' }))
  await inSync(world, 'Backend', 'web')
  expect(synced()).toBe('the remote object equals the spec')
})

test('managementPolicy Observe lets go of what Culvert made: drift is told and left, and the object outlives its resource', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', tunnels('one'))
  await inSync(world, 'Backend', 'web')
  const id = world.get('Backend', 'web')?.status?.id ?? ''
  world.apply('Backend', 'web', tunnels('one', { managementPolicy: 'Observe' }))
  await inSync(world, 'Backend', 'web')
  world.account.update(TUNNELS, id, { labels: { app: 'by hand' } })
  expect(await says(world, 'Backend', 'web', 'Observed')).toContain('update labels')
  world.delete('Backend', 'web')
  await world.until('gone', () => world.get('Backend', 'web') === undefined)
  expect(world.account.get(TUNNELS, id)).toMatchObject({ labels: { app: 'by hand' } })
})

test('an adopted object keeps what the spec never set; what it has set goes back to the default when it is left out', async () => {
  const { world, id, adopting, observing } = await worldWith(TUNNELS, {
    labels: { app: 'old' },
    description: 'by hand',
    metadata: 'theirs',
  })
  const group = (more: object) => ({ type: 'TunnelGroup', tunnelGroup: {}, ...more })
  world.apply('Backend', 'web', group(observing))
  await inSync(world, 'Backend', 'web')
  const from = world.writes.length
  world.apply('Backend', 'web', group(adopting))
  await inSync(world, 'Backend', 'web')
  expect(apiWrites(world, from)).toEqual([])
  world.apply('Backend', 'web', group({ ...adopting, description: 'ours' }))
  await inSync(world, 'Backend', 'web')
  expect(world.account.get(TUNNELS, id)).toMatchObject({
    labels: { app: 'old' },
    description: 'ours',
    metadata: 'theirs',
  })
  expect(world.get('Backend', 'web')?.status?.internal).toMatchObject({ applied: ['description'] })
  world.apply('Backend', 'web', group(adopting))
  await inSync(world, 'Backend', 'web')
  expect(world.account.get(TUNNELS, id)).toMatchObject({ labels: { app: 'old' }, description: '', metadata: 'theirs' })
  expect(world.get('Backend', 'web')?.status?.internal).toMatchObject({ applied: [] })
  const rest = world.writes.length
  await world.clock.advance(300_000)
  expect(world.writes.slice(rest)).toEqual([])
})

test('a rotated key of an adopted one keeps what the spec never set', async () => {
  const { world, adopting } = await worldWith('credentials', { acl: ['bind:a.example.com'], description: 'by hand' })
  world.apply('TunnelCredential', 'edge', adopting, { annotations: { 'culvert.dev/rotate-requested-at': 'now' } })
  await world.until('rotated', () => world.get('TunnelCredential', 'edge')?.status?.lastHandledRotateAt === 'now')
  await world.clock.advance(300_000)
  const { id } = world.get('TunnelCredential', 'edge')?.status ?? {}
  expect(world.account.get('credentials', String(id))).toMatchObject({
    acl: ['bind:a.example.com'],
    description: 'by hand',
  })
})
