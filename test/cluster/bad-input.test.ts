import { expect, test } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { freePort } from '../builders/free-port.ts'
import { until } from './support/wait.ts'
import { conditionOf, type ResourceCondition, World } from './support/world.ts'

type Spec = Record<string, unknown>

const shop: Spec = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const office: Spec = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
const failover = (...names: readonly string[]): Spec => ({
  type: 'Failover',
  failover: { backendRefs: names.map((name) => ({ name })) },
})

interface Trouble {
  readonly reason: string
  /** Nothing helps until somebody changes something, or it is tried again. */
  readonly state: 'Stalled' | 'Reconciling'
  readonly message: string | RegExp
  readonly event: 'Warning' | 'Normal'
}

/** Waits until conditions and an Event of the resource tell of the trouble, Ready and Synced alike. */
async function tells(world: World, kind: string, name: string, trouble: Trouble): Promise<ResourceCondition> {
  const { reason, state, message, event } = trouble
  const cr = await world.until(kind, name, `tells ${reason}`, (each) => conditionOf(each, state)?.reason === reason)
  const said = conditionOf(cr, state) as ResourceCondition
  if (typeof message === 'string') expect(said.message).toBe(message)
  else expect(said.message).toMatch(message)
  for (const type of ['Ready', 'Synced']) {
    expect(conditionOf(cr, type)).toMatchObject({ status: 'False', reason, message: said.message })
  }
  expect(conditionOf(cr, state === 'Stalled' ? 'Reconciling' : 'Stalled')).toBeUndefined()
  const events = () => world.events(kind, name)
  const told = { type: event, reason, note: said.message }
  const found = async () => (await events()).some(({ note, type }) => note === told.note && type === told.type)
  await until('an Event tells of it', found, { describe: events })
  return said
}

let bystanders = 0

/** A new resource is made as if nothing were wrong. */
async function othersGoOn(world: World, fields: Spec = {}): Promise<void> {
  bystanders += 1
  const name = `bystander-${bystanders}`
  await world.apply('Backend', name, { ...shop, ...fields })
  await world.ready('Backend', name)
}

async function askAgain(world: World, kind: string, name: string): Promise<void> {
  await world.annotate(kind, name, { 'culvert.dev/reconcile-requested-at': String(bystanders) })
}

test('a domain that is taken', async () => {
  await using world = await World.open()
  const taken = await world.api.create('/reserved_domains', { domain: 'shop.tunnel.example' })
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.tunnel.example' })
  await tells(world, 'ReservedDomain', 'shop', {
    reason: 'Conflict',
    state: 'Stalled',
    message: `POST reserved_domains: domain: "shop.tunnel.example" is taken; shop.tunnel.example belongs to ${taken}, which nobody here has: adopt it (spec.externalID and managementPolicy: Manage), delete it at the API, or name something else; it is tried again every ten minutes`,
    event: 'Warning',
  })
  await othersGoOn(world)
  expect(await world.remote('reserved_domains')).toMatchObject([{ id: taken }])

  await world.api.delete(`/reserved_domains/${taken}`)
  await askAgain(world, 'ReservedDomain', 'shop')
  await world.ready('ReservedDomain', 'shop')
})

test('a reference to a missing resource, by name', async () => {
  await using world = await World.open()
  await world.apply('Edge', 'front', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
  await tells(world, 'Edge', 'front', {
    reason: 'ReferenceNotReady',
    state: 'Reconciling',
    message: 'spec.ipRestriction.ipPolicyRefs[0]: IPPolicy/office does not exist: create it or correct the name',
    event: 'Normal',
  })
  await othersGoOn(world)
  expect(await world.remote('edges/tcp')).toEqual([])

  await world.apply('IPPolicy', 'office', office)
  await world.ready('Edge', 'front')
})

test('a reference to a missing object, by id', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const edge = (id: string): Spec => ({ protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ id }] } })
  await world.apply('Edge', 'front', edge('ipp_unknown'))
  await tells(world, 'Edge', 'front', {
    reason: 'Rejected',
    state: 'Stalled',
    message:
      'POST edges/tcp: ip_restriction.ip_policy_ids: nothing in this account has the id "ipp_unknown": correct the spec, or what is missing in the account; it is tried again every ten minutes',
    event: 'Warning',
  })
  await othersGoOn(world)

  const id = await world.api.create('/ip_policies')
  await world.api.create('/ip_policy_rules', { ip_policy_id: id, cidr: '10.0.0.0/8', action: 'allow' })
  await world.apply('Edge', 'front', edge(id))
  await world.ready('Edge', 'front')
})

test('metadata that looks like Culvert’s marker', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  await world.apply('Backend', 'shop', { ...shop, rawMetadata: '{"culvert":{}}' })
  await tells(world, 'Backend', 'shop', {
    reason: 'InvalidSpec',
    state: 'Stalled',
    message:
      "spec.rawMetadata: a JSON object with a top-level `culvert` key marks Culvert's own objects: rename the key",
    event: 'Warning',
  })
  await othersGoOn(world)

  await world.apply('Backend', 'shop', { ...shop, rawMetadata: '{"team":"culvert"}' })
  const { status } = await world.ready('Backend', 'shop')
  const held = (await world.remote('backends/tunnel_group')).find(({ id }) => id === status?.id)
  expect(held).toMatchObject({ metadata: '{"team":"culvert"}' })
})

test('Backends that refer to each other in a cycle', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'a', failover('b'))
  await world.apply('Backend', 'b', failover('c'))
  await world.apply('Backend', 'c', failover('a'))
  for (const [name, way] of [
    ['a', 'Backend/a → Backend/b → Backend/c → Backend/a'],
    ['b', 'Backend/b → Backend/c → Backend/a → Backend/b'],
    ['c', 'Backend/c → Backend/a → Backend/b → Backend/c'],
  ] as const) {
    await tells(world, 'Backend', name, {
      reason: 'ReferenceCycle',
      state: 'Stalled',
      message: `spec.failover.backendRefs[0]: references form a cycle (${way}): remove one of them`,
      event: 'Warning',
    })
  }
  await othersGoOn(world)
  expect(await world.remote('backends/failover')).toEqual([])

  await world.apply('Backend', 'shop', shop)
  await world.apply('Backend', 'c', failover('shop'))
  for (const name of ['a', 'b', 'c']) await world.ready('Backend', name)
})

/** A second Account of the namespace, with the right key in a Secret of its own: `accountRef` for what lives there. */
async function otherAccount(world: World): Promise<Spec> {
  await world.secret('other', { apiKey: world.emulator.apiKey })
  await world.apply('Account', 'other', { baseURL: world.emulator.url, apiKeySecretRef: { name: 'other' } })
  return { accountRef: { name: 'other' } }
}

test('a wrong API key', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'shop', shop)
  await world.ready('Backend', 'shop')
  await world.setKey('wrong')
  await tells(world, 'Account', 'default', {
    reason: 'Unauthorized',
    state: 'Stalled',
    message: /^GET \S+: .*: put a valid API key into the Secret$/,
    event: 'Warning',
  })
  await world.apply('Backend', 'next', shop)
  await tells(world, 'Backend', 'next', {
    reason: 'AccountNotReady',
    state: 'Reconciling',
    message: /^Account\/default is not Ready: .*: put a valid API key into the Secret$/,
    event: 'Normal',
  })
  const mark = world.mark()
  for (let each = 1; each <= 5; each++) await world.apply('Backend', `more-${each}`, shop)
  for (let each = 1; each <= 5; each++) await world.reason('Backend', `more-${each}`, 'Synced', 'AccountNotReady')
  expect(world.journal(mark)).toEqual([])
  expect(conditionOf(await world.get('Backend', 'shop'), 'Ready')).toMatchObject({ status: 'True' })
  await othersGoOn(world, await otherAccount(world))

  await world.setKey(world.emulator.apiKey)
  await world.ready('Account', 'default')
  for (const name of ['shop', 'next', 'more-1', 'more-5']) await world.ready('Backend', name)
})

test('a missing Secret with the API key', { tags: 'nightly' }, async () => {
  await using world = await World.open({ account: { apiKeySecretRef: { name: 'later' } } })
  await tells(world, 'Account', 'default', {
    reason: 'SecretMissing',
    state: 'Reconciling',
    message: `spec.apiKeySecretRef: Secret later with key apiKey does not exist in namespace ${world.namespace}: create it`,
    event: 'Warning',
  })
  await world.apply('Backend', 'shop', shop)
  await tells(world, 'Backend', 'shop', {
    reason: 'AccountNotReady',
    state: 'Reconciling',
    message: `Account/default is not Ready: spec.apiKeySecretRef: Secret later with key apiKey does not exist in namespace ${world.namespace}: create it`,
    event: 'Normal',
  })
  await othersGoOn(world, await otherAccount(world))

  await world.secret('later', { apiKey: world.emulator.apiKey })
  await world.ready('Account', 'default')
  await world.ready('Backend', 'shop')
})

test('a missing Account', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'shop', { ...shop, accountRef: { name: 'other' } })
  await tells(world, 'Backend', 'shop', {
    reason: 'AccountNotReady',
    state: 'Reconciling',
    message: 'Account/other does not exist: create it or correct accountRef',
    event: 'Normal',
  })
  await othersGoOn(world)

  await otherAccount(world)
  await world.ready('Backend', 'shop')
})

test('an unreachable API', { tags: 'nightly' }, async () => {
  const listen = `127.0.0.1:${await freePort()}`
  await using world = await World.open({ flags: ['--allow-api-host', listen] })
  const unreachable = { baseURL: `http://${listen}`, apiKeySecretRef: { name: 'credentials' } }
  await world.apply('Account', 'unreachable', unreachable)
  await tells(world, 'Account', 'unreachable', {
    reason: 'Unreachable',
    state: 'Reconciling',
    message: /^GET \S+: connection refused: check spec\.baseURL and the network; it is tried again$/,
    event: 'Warning',
  })
  await world.apply('Backend', 'shop', { ...shop, accountRef: { name: 'unreachable' } })
  await tells(world, 'Backend', 'shop', {
    reason: 'AccountNotReady',
    state: 'Reconciling',
    message: /^Account\/unreachable is not Ready: .*: check spec\.baseURL/,
    event: 'Normal',
  })
  await othersGoOn(world)

  const emulator = await startEmulator({ listen, apiKey: world.emulator.apiKey })
  try {
    await world.ready('Backend', 'shop', 60_000)
    expect(emulator.admin.journal().filter(({ method }) => method === 'POST')).toHaveLength(1)
  } finally {
    await world.delete('Backend', 'shop')
    await world.gone('Backend', 'shop')
    await emulator.close()
  }
})

test('a base URL that the administrator does not allow', async () => {
  await using world = await World.open()
  const { port } = new URL(world.emulator.url)
  const elsewhere = { baseURL: `http://localhost:${port}`, apiKeySecretRef: { name: 'credentials' } }
  await world.apply('Account', 'elsewhere', elsewhere)
  await tells(world, 'Account', 'elsewhere', {
    reason: 'BaseURLNotAllowed',
    state: 'Stalled',
    message: `spec.baseURL: "http://localhost:${port}" names a host that is not allowed: let the administrator add localhost:${port} to the allowed API hosts`,
    event: 'Warning',
  })
  await world.apply('Backend', 'shop', { ...shop, accountRef: { name: 'elsewhere' } })
  await tells(world, 'Backend', 'shop', {
    reason: 'AccountNotReady',
    state: 'Reconciling',
    message: /^Account\/elsewhere is not Ready: spec\.baseURL: .*allowed API hosts$/,
    event: 'Normal',
  })
  await othersGoOn(world)

  await world.operator.stop()
  await world.startOperator(['--allow-api-host', `localhost:${port}`])
  await world.ready('Backend', 'shop')
})
