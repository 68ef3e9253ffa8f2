import { expect, test } from 'vitest'
import { REMOTE_ID } from '../../../../src/managed/names.ts'
import { KEY } from '../../simulation/api-server.ts'
import { putBackEtcd } from '../../simulation/restore/running.ts'
import {
  begin,
  countOf,
  eventsOf,
  gone,
  idsIn,
  isReady,
  loseStatus,
  objectsIn,
  patch,
  ready,
  recreate,
  until,
} from '../../simulation/scenario.ts'
import { faults, nextWrites, onWrite, refusingKeys } from '../../simulation/shaped-answers.ts'

const PATH = 'backends/tunnel_group'
const POST = `api POST /${PATH}`
const tunnels = (app: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app } } })

test('creating costs two writes to Kubernetes and one call', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'first', tunnels('one'))
  await ready(world, 'Backend', 'first')
  const before = writes.length
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  expect(writes.slice(before)).toEqual([
    'kubernetes PATCH /backends/web',
    POST,
    'kubernetes PATCH /backends/web/status',
  ])
})

test('what is noted of a former object goes out of status.internal with it, and nothing else does', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('APIKey', 'ci', { rotation: { interval: '10s', overlap: '2s' } })
  await ready(world, 'APIKey', 'ci')
  const { id, internal: first } = world.get('APIKey', 'ci')?.status ?? {}
  await until(world, 'rotated', () => world.get('APIKey', 'ci')?.status?.id !== id)
  const former = { id, nonce: first?.create?.nonce, digest: first?.tokenDigest, deleteAfter: expect.any(String) }
  const second = world.get('APIKey', 'ci')?.status?.internal
  expect(second?.superseded).toEqual([former])
  world.apply('APIKey', 'ci', { rotation: { interval: '1h', overlap: '2s' } })
  const { superseded, ...kept } = second ?? {}
  await until(world, 'revoked', () => world.get('APIKey', 'ci')?.status?.internal?.superseded === undefined)
  expect(world.get('APIKey', 'ci')?.status?.internal).toEqual(kept)
  expect(new Set(Object.keys(kept))).toEqual(new Set(['create', 'tokenDigest']))
})

test('own keys cost no further call, and lead back to the object of a resource that lost its status and all annotations', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  const spec = { ...tunnels('one'), metadata: { team: 'shop', 7: 'é' } }
  world.apply('Backend', 'web', spec)
  await ready(world, 'Backend', 'web')
  const [{ id, metadata } = { id: '' }] = await objectsIn(world, PATH)
  expect(metadata).toMatch(/^\{"culvert":\{[^{}]*\},"7":"é","team":"shop"\}$/)
  expect(world.get('Backend', 'web')?.metadata.annotations).not.toHaveProperty([REMOTE_ID])

  world.down()
  patch(world, 'Backend', 'web', { metadata: { annotations: null } })
  loseStatus(world, 'Backend', 'web')
  await world.advance(60_000)
  const from = writes.length
  world.up()
  await ready(world, 'Backend', 'web')
  expect(world.get('Backend', 'web')?.status?.id).toBe(id)
  expect(writes.slice(from).filter((write) => write.includes('tunnel_group'))).toEqual([])

  world.apply('Backend', 'web', { ...spec, metadata: { ...spec.metadata, team: 'net' } })
  await until(world, 'changed', () => isReady(world, 'Backend', 'web'))
  expect((await objectsIn(world, PATH))[0]?.metadata).toMatch(/^\{"culvert":\{[^{}]*\},"7":"é","team":"net"\}$/)
  expect(world.get('Backend', 'web')?.metadata.annotations ?? {}).not.toHaveProperty([REMOTE_ID])
})

test('an edit made while the create was under way is carried out, although our own reading was the first to show it', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = onWrite(({ method }) => {
    if (method === 'POST') world.apply('Backend', 'web', tunnels('two'))
    return undefined
  })
  world.apply('Backend', 'web', tunnels('one'))
  await until(world, 'the edit at the API', async () => {
    return ((await objectsIn(world, PATH))[0]?.labels as { app?: string } | undefined)?.app === 'two'
  })
  expect(await objectsIn(world, PATH)).toHaveLength(1)
})

test('a resource that is deleted before it came back from a backup takes its former object with it', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  world.down()
  recreate(world, 'Backend', 'web')
  world.delete('Backend', 'web')
  world.up()
  await gone(world, 'Backend', 'web')
  expect(await objectsIn(world, PATH)).toEqual([])
})

test('a finalizer that was taken off is put back, with no other write', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  await world.advance(1000)
  const before = writes.length
  patch(world, 'Backend', 'web', { metadata: { finalizers: null } })
  await until(world, 'held', () => world.get('Backend', 'web')?.metadata.finalizers?.length === 1)
  await world.advance(1000)
  expect(writes.slice(before)).toEqual(['kubernetes PATCH /backends/web'])
})

test('an object that something on the way made twice is gone after the next resync', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = nextWrites(faults.doubled)
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  expect(await objectsIn(world, PATH)).toHaveLength(2)
  await until(world, 'one object', async () => (await objectsIn(world, PATH)).length === 1, 120_000)
  expect((await objectsIn(world, PATH))[0]?.id).toBe(world.get('Backend', 'web')?.status?.id)
})

test('a copy of what was deleted before a list showed the copy is reported', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = nextWrites(faults.doubled)
  world.apply('IPPolicy', 'office', { rules: [], allowEmpty: true })
  await ready(world, 'IPPolicy', 'office')
  world.delete('IPPolicy', 'office')
  await gone(world, 'IPPolicy', 'office')
  await until(world, 'reported', () => world.account?.status?.orphanCount === 1, 180_000)
})

test('while a resource is paused its status claims no spec that was not acted on', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  patch(world, 'Backend', 'web', { metadata: { annotations: { 'culvert.dev/paused': 'true' } } })
  world.apply('Backend', 'web', tunnels('two'))
  await world.advance(1000)
  expect(world.get('Backend', 'web')?.status).toMatchObject({ observedGeneration: 1 })
  const synced = world.get('Backend', 'web')?.status?.conditions?.find(({ type }) => type === 'Synced')
  expect(synced).toMatchObject({ status: 'False', reason: 'Paused' })
  patch(world, 'Backend', 'web', { metadata: { annotations: { 'culvert.dev/paused': null } } })
  await ready(world, 'Backend', 'web')
  expect(world.get('Backend', 'web')?.status?.observedGeneration).toBe(2)
})

test('a resource that names another account than its object lives in can still be deleted, object and all', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  patch(world, 'Backend', 'web', { spec: { accountRef: { kind: 'Account', name: 'other' } } })
  const synced = () => world.get('Backend', 'web')?.status?.conditions?.find(({ type }) => type === 'Synced')
  await until(world, 'refused', () => synced()?.reason === 'InvalidSpec')
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web', 60_000)
  expect(await objectsIn(world, PATH)).toEqual([])
})

test('a resource whose object is retained goes without any call, whatever its account says', async () => {
  const { world, reads } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', { ...tunnels('one'), deletionPolicy: 'Retain' })
  await ready(world, 'Backend', 'web')
  world.trouble = refusingKeys(KEY)
  const asked = reads.length
  world.delete('Backend', 'web')
  await gone(world, 'Backend', 'web', 2000)
  expect(reads.length).toBe(asked)
  expect(await objectsIn(world, PATH)).toHaveLength(1)
})

test('a create that takes effect as late as it may is found, and no second one is sent', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = nextWrites(faults.late)
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  expect(countOf(writes, POST)).toBe(1)
  expect(await objectsIn(world, PATH)).toHaveLength(1)
})

test('a create that a dead process sent is found by the next one, and no second one is sent', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = nextWrites(faults.late)
  world.apply('Backend', 'web', tunnels('one'))
  await until(world, 'sent', () => writes.includes(POST))
  world.down()
  world.up()
  await ready(world, 'Backend', 'web')
  expect(countOf(writes, POST)).toBe(1)
})

test('a resource that is Ready as soon as it is created has one Event', async () => {
  const { world } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.apply('Backend', 'web', tunnels('one'))
  world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await until(world, 'Ready', () => isReady(world, 'Backend', 'web') && isReady(world, 'IPPolicy', 'office'))
  await world.advance(60_000)
  for (const name of ['Backend/web', 'IPPolicy/office']) {
    expect(eventsOf(world).filter((event) => event.startsWith(`${name} `))).toEqual([`${name} Created`])
  }
})

test('an update that lands after its spec was edited back is undone within seconds', async () => {
  const { world, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.editAccount({ resyncInterval: '24h' })
  world.apply('Backend', 'web', tunnels('one'))
  await ready(world, 'Backend', 'web')
  await world.advance(60_000)
  world.trouble = nextWrites(faults.late)
  world.apply('Backend', 'web', tunnels('two'))
  await until(world, 'sent', () => writes.includes(`api PATCH /${PATH}/{id}`))
  world.apply('Backend', 'web', tunnels('one'))
  await world.advance(10_000)
  expect((await objectsIn(world, PATH))[0]?.labels).toEqual({ app: 'one' })
})

test('in an older state of etcd, in which the try before the one that made the object is open, nothing is sent again', async () => {
  const { world, oracle, writes } = await begin(['Backend', 'APIKey', 'IPPolicy'])
  world.trouble = nextWrites(faults.unsent)
  world.apply('Backend', 'web', tunnels('one'))
  await until(world, 'sent', () => writes.includes(POST))
  const snapshot = world.kube.snapshot()
  await ready(world, 'Backend', 'web')
  const { id } = world.get('Backend', 'web')?.status ?? {}
  oracle.putBack()
  await putBackEtcd(world, snapshot, { revision: 'bumped', downMs: 500 })
  await until(world, 'known again', () => world.get('Backend', 'web')?.status?.id === id, 600_000)
  expect(countOf(writes, POST)).toBe(2)
  expect(oracle.violations).toEqual([])
})

test('what somebody changed by hand and the answer to an edit shows first is repaired at once', async () => {
  const { world, oracle, writes } = await begin(['Backend'])
  world.apply('Backend', 'web', tunnels('shop'))
  const id = await ready(world, 'Backend', 'web')
  await world.api.ask('PATCH', `/${PATH}/${id}`, { labels: { app: 'other' } })
  world.apply('Backend', 'web', { ...tunnels('shop'), description: 'new' })
  await ready(world, 'Backend', 'web', 5_000)
  expect(await objectsIn(world, PATH)).toMatchObject([{ labels: { app: 'shop' }, description: 'new' }])
  expect(countOf(writes, `api PATCH /${PATH}/{id}`)).toBe(2)
  expect(oracle.violations).toEqual([])
})

test('an object that is gone is not made again where another with the mark of the resource took its place in a lost history', async () => {
  const { world, writes } = await begin(['Backend'])
  world.apply('Backend', 'web', tunnels('one'))
  const former = await ready(world, 'Backend', 'web')
  const [{ metadata } = { metadata: '' }] = await objectsIn(world, PATH)
  const { id } = await world.api.ask('POST', `/${PATH}`, { labels: {}, metadata })
  await world.api.ask('DELETE', `/${PATH}/${former}`)
  await until(world, 'taken', () => world.get('Backend', 'web')?.status?.id === id, 600_000)
  expect(await idsIn(world, PATH)).toEqual([id])
  expect(countOf(writes, POST)).toBe(1)
})
