import { expect, test } from 'vitest'
import { caPem, partnerCaPem } from '../../../builders/contract/ca-pem.ts'
import {
  begin,
  conditionOf,
  gone,
  idsIn,
  isReady,
  loseStatus,
  objectsIn,
  patch,
  recreate,
  reported,
  type Scene,
  until,
} from '../../simulation/scenario.ts'
import type { RemoteObject } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

const TUNNELS = 'backends/tunnel_group'
const tunnels = (app: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'TunnelGroup',
  tunnelGroup: { labels: { app } },
  ...more,
})

/** A world with an object made by hand. */
async function worldWith(path: string, body: Readonly<Record<string, unknown>>) {
  const scene = await begin(['Backend', 'CertificateAuthority', 'TunnelCredential'])
  const { id } = (await scene.world.api.ask('POST', `/${path}`, body)) as RemoteObject
  await scene.world.advance(1000)
  const observing = { externalID: id, managementPolicy: 'Observe' }
  return { ...scene, id, observing, adopting: { externalID: id, managementPolicy: 'Manage' } }
}

function condition(world: SimulatedWorld, kind: string, name: string, type: string) {
  return conditionOf(world.get(kind, name), type)
}

async function says(world: SimulatedWorld, kind: string, name: string, reason: string): Promise<string> {
  return await reported(world, () => world.get(kind, name), 'Synced', reason)
}

async function object(world: SimulatedWorld, path: string, id: string): Promise<RemoteObject | undefined> {
  return (await objectsIn(world, path)).find((each) => each.id === id)
}

async function change(world: SimulatedWorld, id: string, fields: object): Promise<void> {
  await world.api.ask('PATCH', `/${TUNNELS}/${id}`, fields)
}

async function inSync(world: SimulatedWorld, kind: string, name: string): Promise<void> {
  await until(world, 'in sync', () => isReady(world, kind, name, ['Synced']))
}

const apiWrites = (writes: Scene['writes'], from: number): readonly string[] =>
  writes.slice(from).filter((write) => write.startsWith('api'))

test('an object that a resource names is observed: the differences are reported, and only the status is written', async () => {
  const { world, writes, id, observing } = await worldWith(TUNNELS, { labels: { app: 'old' }, metadata: 'by hand' })
  const from = writes.length
  world.apply('Backend', 'web', tunnels('new', { ...observing, description: 'the shop' }))
  const message = await says(world, 'Backend', 'web', 'Observed')
  expect(message).toBe(
    'observed only; differs from the spec: update labels, description. Set managementPolicy: Manage to apply the spec. ' +
      'By field: labels is {"app":"old"} and would be {"app":"new"}; description is "" and would be "the shop"',
  )
  expect(condition(world, 'Backend', 'web', 'Ready')).toMatchObject({ status: 'True' })
  const cr = world.get('Backend', 'web')
  expect(cr?.status).toMatchObject({ id, accountRef: { kind: 'Account', name: 'default' } })
  expect(cr?.status).not.toHaveProperty('create')
  expect(cr?.metadata.finalizers ?? []).toEqual([])
  await world.advance(300_000)
  expect(writes.slice(from)).toEqual(['kubernetes PATCH /backends/web/status'])

  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web')
  expect(await object(world, TUNNELS, id)).toMatchObject({ labels: { app: 'old' } })
})

test('with managementPolicy Manage it is adopted as reported, and stays in the account when the resource goes', async () => {
  const { world, writes, id, observing, adopting } = await worldWith(TUNNELS, {
    labels: { app: 'old' },
    metadata: 'by hand',
  })
  world.apply('Backend', 'web', tunnels('new', observing))
  await says(world, 'Backend', 'web', 'Observed')
  const from = writes.length
  world.apply('Backend', 'web', tunnels('new', adopting))
  await inSync(world, 'Backend', 'web')
  expect(apiWrites(writes, from)).toEqual([`api PATCH /${TUNNELS}/{id}`])
  expect(await object(world, TUNNELS, id)).toMatchObject({ labels: { app: 'new' }, metadata: 'by hand' })
  expect(world.get('Backend', 'web')?.status).toMatchObject({ id, adopted: true })

  await change(world, id, { labels: { app: 'changed' } })
  await until(world, 'drift put back', async () => {
    return ((await object(world, TUNNELS, id))?.labels as { app: string } | undefined)?.app === 'new'
  })
  const before = writes.length
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web')
  expect(apiWrites(writes, before)).toEqual([])
  expect(await idsIn(world, TUNNELS)).toHaveLength(1)
})

test('an adopted object goes with its resource where the spec says so', async () => {
  const { world, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', { ...adopting, deletionPolicy: 'Delete' }))
  await inSync(world, 'Backend', 'web')
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web')
  expect(await idsIn(world, TUNNELS)).toEqual([])
})

test('an adopted object that vanishes is not made again', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  await world.api.ask('DELETE', `/${TUNNELS}/${id}`)
  expect(await says(world, 'Backend', 'web', 'RemoteMissing')).toContain(id)
  await world.advance(1_300_000)
  expect(await idsIn(world, TUNNELS)).toEqual([])
})

test('an object is not taken from whom it belongs to', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  world.apply('Backend', 'thief', tunnels('mine', adopting))
  expect(await says(world, 'Backend', 'thief', 'NotAdoptable')).toContain(`${id} is managed by Backend/web`)

  world.apply('Backend', 'own', tunnels('own'))
  await inSync(world, 'Backend', 'own')
  const own = world.get('Backend', 'own')?.status?.id ?? ''
  world.down()
  patch(world, 'Backend', 'own', { metadata: { finalizers: [] } })
  world.delete('Backend', 'own')
  world.up()
  world.apply('Backend', 'heir', tunnels('own', { externalID: own, managementPolicy: 'Manage' }))
  expect(await says(world, 'Backend', 'heir', 'NotAdoptable')).toContain('carries the marker of Backend shop/own')
  expect(await idsIn(world, TUNNELS)).toHaveLength(2)
})

test('what cannot be changed has to fit before an object is adopted', async () => {
  const { world, adopting } = await worldWith('certificate_authorities', { ca_pem: partnerCaPem })
  world.apply('CertificateAuthority', 'staff', { caPEM: caPem, ...adopting })
  expect(await says(world, 'CertificateAuthority', 'staff', 'NotAdoptable')).toContain(
    'differs from the spec in ca_pem',
  )
  expect(world.get('CertificateAuthority', 'staff')?.metadata.finalizers ?? []).toEqual([])
  expect(await idsIn(world, 'certificate_authorities')).toHaveLength(1)
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
  await world.advance(300_000)
  expect(await object(world, TUNNELS, id)).toMatchObject({ labels: { app: 'old' } })
  expect(await idsIn(world, TUNNELS)).toHaveLength(2)
})

test('an adopted object gets the own keys of its resource, never a mark, and keeps what else stands in its metadata', async () => {
  const { world, writes, id, adopting } = await worldWith(TUNNELS, {
    labels: { app: 'old' },
    metadata: '{"owner": {"id": 1.0}}',
  })
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  expect((await object(world, TUNNELS, id))?.metadata).toBe('{"owner": {"id": 1.0}}')
  world.apply('Backend', 'web', tunnels('old', { ...adopting, metadata: { team: 'shop' } }))
  await inSync(world, 'Backend', 'web')
  expect((await object(world, TUNNELS, id))?.metadata).toBe('{"owner":{"id":1.0},"team":"shop"}')
  await change(world, id, { metadata: '{"team": "shop", "owner": {"id": 2}, "more": true}' })
  const from = writes.length
  await world.advance(300_000)
  expect(apiWrites(writes, from)).toEqual([])
})

test('a resource that lost its status takes the object that it had adopted back, and still does not delete it', async () => {
  const { world, id, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  world.apply('Backend', 'web', tunnels('old', { ...adopting, metadata: { team: 'mine' } }))
  await inSync(world, 'Backend', 'web')
  world.down()
  recreate(world, 'Backend', 'web')
  world.up()
  await inSync(world, 'Backend', 'web')
  expect(world.get('Backend', 'web')?.status).toMatchObject({ id, adopted: true })
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web')
  expect(await idsIn(world, TUNNELS)).toHaveLength(1)
})

test.each(['Observe', 'Manage'])(
  'a resource of policy %s that lost its annotations and its status has its object again, and creates none',
  async (managementPolicy) => {
    const { world, writes, id } = await worldWith(TUNNELS, { labels: { app: 'old' }, metadata: 'by hand' })
    world.apply('Backend', 'web', tunnels('old', { externalID: id, managementPolicy }))
    await inSync(world, 'Backend', 'web')
    for (const isRunning of [true, false]) {
      if (!isRunning) world.down()
      const from = writes.length
      patch(world, 'Backend', 'web', { metadata: { annotations: null } })
      loseStatus(world, 'Backend', 'web')
      if (!isRunning) world.up()
      await inSync(world, 'Backend', 'web')
      await world.advance(300_000)
      expect(apiWrites(writes, from)).toEqual([])
      expect(world.get('Backend', 'web')?.status?.id).toBe(id)
    }
    expect(await objectsIn(world, TUNNELS)).toMatchObject([{ id, metadata: 'by hand' }])
  },
)

test('of an adopted object the condition says that it stays, unless the spec has it deleted', async () => {
  const { world, adopting } = await worldWith(TUNNELS, { labels: { app: 'old' } })
  const synced = () => condition(world, 'Backend', 'web', 'Synced')?.message
  world.apply('Backend', 'web', tunnels('old', adopting))
  await inSync(world, 'Backend', 'web')
  expect(synced()).toContain('is kept when this resource is deleted')
  world.apply('Backend', 'web', tunnels('old', { ...adopting, deletionPolicy: 'Delete' }))
  await inSync(world, 'Backend', 'web')
  expect(synced()).toBe('the remote object matches the spec')
})

test('managementPolicy Observe releases what Culvert made: drift is reported and left, and the object outlives its resource', async () => {
  const { world } = await begin(['Backend'])
  world.apply('Backend', 'web', tunnels('one'))
  await inSync(world, 'Backend', 'web')
  const id = world.get('Backend', 'web')?.status?.id ?? ''
  world.apply('Backend', 'web', tunnels('one', { managementPolicy: 'Observe' }))
  await inSync(world, 'Backend', 'web')
  await change(world, id, { labels: { app: 'by hand' } })
  expect(await says(world, 'Backend', 'web', 'Observed')).toContain('update labels')
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web')
  expect(await object(world, TUNNELS, id)).toMatchObject({ labels: { app: 'by hand' } })
})

test('an adopted object keeps what the spec never set; what it has set goes back to the default when it is left out', async () => {
  const { world, writes, id, observing, adopting } = await worldWith(TUNNELS, {
    labels: { app: 'old' },
    description: 'by hand',
    metadata: 'theirs',
  })
  const group = (more: object) => ({ type: 'TunnelGroup', tunnelGroup: {}, ...more })
  world.apply('Backend', 'web', group(observing))
  await inSync(world, 'Backend', 'web')
  const from = writes.length
  world.apply('Backend', 'web', group(adopting))
  await inSync(world, 'Backend', 'web')
  expect(apiWrites(writes, from)).toEqual([])
  world.apply('Backend', 'web', group({ ...adopting, description: 'ours' }))
  await inSync(world, 'Backend', 'web')
  expect(await object(world, TUNNELS, id)).toMatchObject({
    labels: { app: 'old' },
    description: 'ours',
    metadata: 'theirs',
  })
  expect(world.get('Backend', 'web')?.status?.internal).toMatchObject({ applied: ['description'] })
  world.apply('Backend', 'web', group(adopting))
  await inSync(world, 'Backend', 'web')
  expect(await object(world, TUNNELS, id)).toMatchObject({
    labels: { app: 'old' },
    description: '',
    metadata: 'theirs',
  })
  expect(world.get('Backend', 'web')?.status?.internal).toMatchObject({ applied: [] })
  const rest = writes.length
  await world.advance(300_000)
  expect(writes.slice(rest)).toEqual([])
})

test('a rotated key of an adopted one keeps what the spec never set', async () => {
  const { world, adopting } = await worldWith('credentials', {
    acl: ['bind:a.example.com'],
    description: 'by hand',
  })
  world.apply('TunnelCredential', 'edge', adopting, { annotations: { 'culvert.dev/rotate-requested-at': 'now' } })
  await until(world, 'rotated', () => world.get('TunnelCredential', 'edge')?.status?.lastHandledRotateAt === 'now')
  await world.advance(300_000)
  const { id } = world.get('TunnelCredential', 'edge')?.status ?? {}
  expect(await object(world, 'credentials', String(id))).toMatchObject({
    acl: ['bind:a.example.com'],
    description: 'by hand',
  })
})
