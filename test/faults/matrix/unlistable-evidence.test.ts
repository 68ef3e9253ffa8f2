import { expect, test } from 'vitest'
import { OTHER_ACCOUNT, OTHER_KEY } from '../simulation/api-server.ts'
import { LOOK_MS, Oracle } from '../simulation/oracle.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { refusal } from './api-faults-kinds.ts'
import { ClosedCollection, conditions, REASON } from './closed-collection.ts'

const KINDS = new Set(['Backend', 'Edge', 'IPPolicy', 'ReservedAddress'])
const TUNNELS = { type: 'TunnelGroup', tunnelGroup: {} }
const RULES = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
const NO_LIST = refusal(403, 'ERR_3003', 'the key may not list these')
const laboratory = await Laboratory.open()

const restricted = (policy: string) => ({ protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: policy }] } })

async function worldWith(make: (world: SimulatedWorld) => void) {
  const world = laboratory.world({ kinds: KINDS })
  world.api.emulator.admin.seed({ accounts: [{ name: OTHER_ACCOUNT, apiKey: OTHER_KEY }] })
  const oracle = await Oracle.watch(world)
  make(world)
  expect(await oracle.untilRest()).toEqual([])
  return { world, oracle }
}

function accountSays(world: SimulatedWorld): string | undefined {
  return world.account?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
}

async function count(world: SimulatedWorld, path: string, listKey: string): Promise<number> {
  return ((await world.api.ask('GET', `/${path}?limit=100`))[listKey] as readonly unknown[]).length
}

test.each([
  [403, 'Unauthorized'],
  [404, 'Unreachable'],
  [501, 'Unreachable'],
])('where every collection in use answers %i, the account itself is in trouble', async (status, reason) => {
  const { world, oracle } = await worldWith(() => undefined)
  world.apply('Backend', 'web', TUNNELS)
  world.apply('IPPolicy', 'office', RULES)
  expect(await oracle.untilRest()).toEqual([])
  world.trouble = {
    request: ({ server, method }) => {
      if (server !== 'api' || method !== 'GET') return undefined
      return { type: 'answer', when: 'before', answer: refusal(status, 'ERR_1', 'no') }
    },
  }
  world.apply('Backend', 'late', TUNNELS)
  await world.advance(2 * LOOK_MS)
  expect(accountSays(world)).toBe(reason)
  expect(conditions(world, 'Backend', 'web').Synced?.reason).toBe('AccountNotReady')
  // One more that is in use suffices.
  world.trouble = {
    request: ({ server, method, path }) => {
      if (server !== 'api' || method !== 'GET' || path === '/ip_policy_rules') return undefined
      return { type: 'answer', when: 'before', answer: refusal(status, 'ERR_1', 'no') }
    },
  }
  await world.advance(LOOK_MS)
  expect(accountSays(world)).toBe('Available')
  expect(conditions(world, 'Backend', 'late').Synced?.reason).toBe(REASON)
  world.calm()
  world.apply('Backend', 'web', { ...TUNNELS, description: 'edited' })
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test('a collection that nothing uses may be closed, and is no trouble before something does', async () => {
  const { world, oracle } = await worldWith((made) => made.apply('Backend', 'web', TUNNELS))
  world.trouble = new ClosedCollection('reserved_addrs', NO_LIST)
  // The second resync lists every collection.
  await world.advance(3 * LOOK_MS)
  expect(world.account?.status?.conditions).toMatchObject([{ reason: 'Available' }, { reason: 'InSync' }])
  world.apply('ReservedAddress', 'late', {})
  await world.advance(LOOK_MS)
  expect(accountSays(world)).toBe('Available')
  expect(conditions(world, 'ReservedAddress', 'late').Ready).toMatchObject({ reason: REASON, status: 'False' })
  world.calm()
  await world.advance(LOOK_MS)
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test('what a collection shows when it opens is doubted as at a start', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `web-${index}`)
  const { world, oracle } = await worldWith((made) => {
    for (const name of names) made.apply('Backend', name, TUNNELS)
    made.apply('ReservedAddress', 'spare', {})
  })
  world.down()
  world.trouble = new ClosedCollection('backends/tunnel_group', NO_LIST)
  for (const name of names) {
    oracle.meddled('Backend', name)
    await world.api.ask('DELETE', `/backends/tunnel_group/${world.get('Backend', name)?.status?.id}`)
  }
  world.up()
  await world.advance(LOOK_MS)
  expect(accountSays(world)).toBe('Available')
  world.calm()
  // Those who wait by the clock must not be faster than the check.
  await world.advance(3 * LOOK_MS)
  expect(accountSays(world)).toBe('IdentityUnproven')
  expect(await count(world, 'backends/tunnel_group', 'backends')).toBe(0)
  const annotations = { 'culvert.dev/confirm-identity-requested-at': 'it was meant' }
  world.server.patch(world.accountType, world.accountKey, { metadata: { annotations } })
  await world.advance(LOOK_MS)
  expect(await oracle.judge()).toEqual([])
  expect(await count(world, 'backends/tunnel_group', 'backends')).toBe(names.length)
  world.down()
})

test('an address for another account is not trusted because what it hides cannot be missing', async () => {
  const { world, oracle } = await worldWith((made) => made.apply('Backend', 'web', TUNNELS))
  world.down()
  world.trouble = new ClosedCollection(`${OTHER_ACCOUNT}/backends/tunnel_group`, NO_LIST)
  world.editAccount({ baseURL: `https://api.example.com/${OTHER_ACCOUNT}` })
  world.apply('ReservedAddress', 'late', {})
  world.up()
  await world.advance(3 * LOOK_MS)
  expect(accountSays(world)).toBe('IdentityUnproven')
  expect(conditions(world, 'ReservedAddress', 'late').Synced?.reason).toBe('IdentityUnproven')
  world.calm()
  world.editAccount({ baseURL: 'https://api.example.com' })
  expect(await oracle.judge()).toEqual([])
  expect(await count(world, 'reserved_addrs', 'reserved_addrs')).toBe(1)
  world.down()
})

test('an orphan of a closed collection stays reported, and is found to be gone once it opens', async () => {
  const { world } = await worldWith((made) => {
    made.apply('Backend', 'web', TUNNELS)
    made.apply('ReservedAddress', 'spare', {})
    made.apply('ReservedAddress', 'other', {})
  })
  const id = world.get('ReservedAddress', 'spare')?.status?.id
  world.down()
  world.server.patch(
    world.typeOf('ReservedAddress'),
    { namespace: 'shop', name: 'spare' },
    { metadata: { finalizers: null } },
  )
  world.delete('ReservedAddress', 'spare')
  world.up()
  await world.advance(LOOK_MS)
  expect(world.account?.status?.orphans).toMatchObject([{ id }])
  await world.api.ask('DELETE', `/reserved_addrs/${id}`)
  world.trouble = new ClosedCollection('reserved_addrs', NO_LIST)
  world.down()
  world.up()
  await world.advance(2 * LOOK_MS)
  expect(world.account?.status).toMatchObject({ orphanCount: 1, orphans: [{ id }] })
  world.calm()
  await world.advance(2 * LOOK_MS)
  expect(world.account?.status).toMatchObject({ orphanCount: 0 })
  world.down()
})

test('references to what is in a closed collection wait with the cause, and those in use stay', async () => {
  const { world, oracle } = await worldWith((made) => {
    made.apply('IPPolicy', 'office', RULES)
    made.apply('Edge', 'shop', restricted('office'))
  })
  const { id: other } = (await world.api.ask('POST', '/ip_policies', {})) as { readonly id: string }
  const closed = new ClosedCollection('ip_policies', NO_LIST)
  world.trouble = closed
  await world.advance(LOOK_MS)
  world.down()
  world.up()
  world.apply('IPPolicy', 'late', RULES)
  world.apply('Edge', 'by-name', restricted('late'))
  world.apply('Edge', 'by-id', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ id: other }] } })
  await world.advance(LOOK_MS)
  expect(conditions(world, 'Edge', 'by-name').Ready).toMatchObject({ reason: 'ReferenceNotReady', status: 'False' })
  expect(conditions(world, 'Edge', 'by-name').Ready?.message).toContain('does not list its collection')
  expect(conditions(world, 'Edge', 'by-id').Ready).toMatchObject({ reason: REASON, status: 'False' })
  expect(conditions(world, 'Edge', 'by-id').Ready?.message).toContain('ip_policies')
  // The edge in use is repaired, and edited, with the policy that cannot be seen.
  const edge = world.get('Edge', 'shop')?.status?.id
  const policy = world.get('IPPolicy', 'office')?.status?.id
  oracle.meddled('Edge', 'shop')
  await world.api.ask('PATCH', `/edges/tcp/${edge}`, { ip_restriction: { enabled: true, ip_policy_ids: [other] } })
  world.apply('Edge', 'shop', { ...restricted('office'), description: 'edited' })
  await world.advance(2 * LOOK_MS)
  expect(await world.api.ask('GET', `/edges/tcp/${edge}`)).toMatchObject({
    description: 'edited',
    ip_restriction: { ip_policies: [{ id: policy }] },
  })
  expect(closed.calls).toEqual([])
  await world.api.ask('POST', '/ip_policy_rules', { ip_policy_id: other, cidr: '10.0.0.0/8', action: 'allow' })
  world.calm()
  await world.advance(2 * LOOK_MS)
  for (const name of ['by-name', 'by-id', 'shop']) {
    expect(conditions(world, 'Edge', name).Synced?.status, name).toBe('True')
  }
  world.down()
})

test('a deletion that waits for a closed collection ends with spec.deletionPolicy: Retain, without a call', async () => {
  const { world } = await worldWith((made) => {
    made.apply('Backend', 'web', TUNNELS)
    made.apply('ReservedAddress', 'spare', {})
  })
  const closed = new ClosedCollection('reserved_addrs', NO_LIST)
  world.trouble = closed
  await world.advance(LOOK_MS)
  world.delete('ReservedAddress', 'spare')
  await world.advance(LOOK_MS)
  expect(conditions(world, 'ReservedAddress', 'spare').Synced).toMatchObject({ reason: REASON })
  world.apply('ReservedAddress', 'spare', { deletionPolicy: 'Retain' })
  expect(await world.until(() => world.get('ReservedAddress', 'spare') === undefined, 5_000)).toBe(true)
  expect(closed.calls).toEqual([])
  expect(await count(world, 'reserved_addrs', 'reserved_addrs')).toBe(1)
  world.down()
})
