import { expect, test } from 'vitest'
import { secretType } from '../../../../src/managed/inputs/inputs.ts'
import { ModelAccount } from '../../../builders/model-account.ts'
import { ModelWorld } from '../../../builders/model-world.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

function isReady(world: ModelWorld, kind: string, name: string): boolean {
  return world.get(kind, name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}

function accountReason(world: ModelWorld): string | undefined {
  return world.accountResource?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
}

/** A world with `count` backends in place. */
async function withBackends(count: number): Promise<ModelWorld> {
  const world = ModelWorld.start()
  const names = Array.from({ length: count }, (_, index) => `web-${index}`)
  for (const name of names) world.apply('Backend', name, tunnels)
  await world.until('Ready', () => names.every((name) => isReady(world, 'Backend', name)))
  return world
}

test('an account that is deleted while resources need it says so once and then keeps silent', async () => {
  const world = await withBackends(1)
  world.deleteAccount()
  await world.until('Deleting', () => accountReason(world) === 'Deleting')
  const { length } = world.writes
  const told = world.events.length
  await world.clock.advance(300_000)
  expect(world.writes.slice(length)).toEqual([])
  expect(world.events.slice(told)).toEqual([])
  world.delete('Backend', 'web-0')
  await world.until('the account gone', () => world.accountResource === undefined)
  expect(world.account.all()).toEqual([])
})

test('a key for another account holds up deletions too: nothing is taken for deleted there', async () => {
  const world = await withBackends(1)
  world.keys.set('key-2', new ModelAccount())
  world.kill()
  world.changeKey('key-2')
  world.delete('Backend', 'web-0')
  world.startOperator()
  await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
  await world.clock.advance(120_000)
  expect(world.get('Backend', 'web-0')).toBeDefined()
  world.changeKey('key-1')
  await world.until('gone', () => world.get('Backend', 'web-0') === undefined)
  expect(world.account.all()).toEqual([])
})

test('deleting goes on after a restart although most objects are gone already', async () => {
  const world = await withBackends(8)
  world.kill()
  for (let index = 0; index < 8; index++) world.delete('Backend', `web-${index}`)
  for (const { path, object } of world.account.all().slice(0, 7)) world.account.delete(path, object.id)
  world.startOperator()
  await world.until('all gone', () => world.all().length === 0)
  expect(world.account.all()).toEqual([])
})

test('while the API refuses the key, one call asks for all collections', async () => {
  const world = await withBackends(1)
  world.apply('IPPolicy', 'office', { rules: [], allowEmpty: true })
  await world.until('Ready', () => isReady(world, 'IPPolicy', 'office'))
  world.keys.delete('key-1')
  await world.until('Unauthorized', () => accountReason(world) === 'Unauthorized')
  const reads = world.reads.length
  const writes = world.writes.length
  await world.clock.advance(60_000)
  const asked = world.reads.slice(reads)
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.length).toBeLessThanOrEqual(8)
  expect(world.writes.slice(writes)).toEqual([])
  world.keys.set('key-1', world.account)
  await world.until('Available', () => accountReason(world) === 'Available')
})

test('objects of resources that came back without their status are not reported as orphans', async () => {
  const world = await withBackends(1)
  world.kill()
  world.restore('Backend', 'web-0')
  world.startOperator()
  await world.until('Ready', () => isReady(world, 'Backend', 'web-0'))
  expect(world.accountResource?.status?.orphanCount).toBe(0)
  expect(world.account.all()).toHaveLength(1)
})

test('a resource that nobody wants to see any more leaves an orphan, which is reported and left alone', async () => {
  const world = await withBackends(1)
  world.patch('Backend', 'web-0', { metadata: { finalizers: [] } })
  world.delete('Backend', 'web-0')
  await world.until('reported', () => world.accountResource?.status?.orphanCount === 1)
  expect(world.accountResource?.status?.orphans).toMatchObject([{ kind: 'Backend', name: 'web-0' }])
  await world.clock.advance(120_000)
  expect(world.account.all()).toHaveLength(1)
})

test('more vanished objects than may vanish at a time stop everything until an administrator confirms', async () => {
  const world = await withBackends(7)
  for (const { path, object } of world.account.all().slice(0, 6)) world.account.delete(path, object.id)
  await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
  world.delete('Backend', 'web-0')
  await world.clock.advance(180_000)
  expect(world.account.all()).toHaveLength(1)
  expect(world.get('Backend', 'web-0')).toBeDefined()
  world.patchAccount({ metadata: { annotations: { 'culvert.dev/confirm-identity-requested-at': 'yes' } } })
  await world.until('all made again', () => world.account.all().length === 6)
  expect(world.get('Backend', 'web-0')).toBeUndefined()
})

test.each([
  ['https://other.example.com', 'status kept'],
  ['https://other.example.com', 'status lost'],
  ['https://api.example.com/other', 'status kept'],
] as const)('an address for another account, %s, holds everything up: %s', async (address, kept) => {
  const world = await withBackends(2)
  const elsewhere = new ModelAccount()
  world.addresses.set(address, elsewhere)
  world.kill()
  world.moveAccount(address, kept)
  world.delete('Backend', 'web-0')
  world.startOperator()
  await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
  await world.clock.advance(180_000)
  expect(elsewhere.all()).toEqual([])
  expect(world.get('Backend', 'web-0')).toBeDefined()
  world.moveAccount('https://api.example.com', kept)
  await world.until('gone', () => world.get('Backend', 'web-0') === undefined)
  await world.until('Ready', () => isReady(world, 'Backend', 'web-1') && accountReason(world) === 'Available')
  expect([world.account.all().length, elsewhere.all().length]).toEqual([1, 0])
})

test('an address for another account is taken once an administrator confirms it', async () => {
  const world = await withBackends(1)
  const elsewhere = new ModelAccount()
  world.addresses.set('https://other.example.com', elsewhere)
  world.moveAccount('https://other.example.com', 'status kept')
  await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
  world.patchAccount({ metadata: { annotations: { 'culvert.dev/confirm-identity-requested-at': 'moved' } } })
  await world.until('made there', () => elsewhere.all().length === 1)
})

test.each(['status kept', 'status lost'] as const)(
  'a confirmation from before an Account was created again confirms nothing elsewhere: %s',
  async (kept) => {
    const world = await withBackends(2)
    const confirm = 'culvert.dev/confirm-identity-requested-at'
    world.patchAccount({ metadata: { annotations: { [confirm]: 'long ago' } } })
    await world.until('answered', () => world.accountResource?.status?.lastHandledConfirmIdentityAt === 'long ago')
    const elsewhere = new ModelAccount()
    world.addresses.set('https://other.example.com', elsewhere)
    world.kill()
    world.moveAccount('https://other.example.com', kept)
    world.delete('Backend', 'web-0')
    world.startOperator()
    await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
    // Nor after a restart, nor if other trouble is reported meanwhile.
    world.addresses.delete('https://other.example.com')
    world.changeKey('nobody')
    await world.until('Unauthorized', () => accountReason(world) === 'Unauthorized')
    world.kill()
    world.addresses.set('https://other.example.com', elsewhere)
    world.changeKey('key-1')
    world.startOperator()
    await world.clock.advance(300_000)
    expect(accountReason(world)).toBe('IdentityUnproven')
    expect(elsewhere.all()).toEqual([])
    expect(world.get('Backend', 'web-0')).toBeDefined()
    world.patchAccount({ metadata: { annotations: { [confirm]: 'now' } } })
    await world.until('made there', () => elsewhere.all().length === 1)
    expect(world.get('Backend', 'web-0')).toBeUndefined()
  },
)

test('a confirmation counts that is given while other trouble hides the doubt', async () => {
  const world = await withBackends(1)
  const elsewhere = new ModelAccount()
  world.addresses.set('https://other.example.com', elsewhere)
  world.moveAccount('https://other.example.com', 'status lost')
  await world.until('IdentityUnproven', () => accountReason(world) === 'IdentityUnproven')
  world.addresses.delete('https://other.example.com')
  world.changeKey('nobody')
  await world.until('Unauthorized', () => accountReason(world) === 'Unauthorized')
  world.patchAccount({ metadata: { annotations: { 'culvert.dev/confirm-identity-requested-at': 'moved' } } })
  await world.clock.advance(120_000)
  world.addresses.set('https://other.example.com', elsewhere)
  world.changeKey('key-1')
  await world.until('made there', () => elsewhere.all().length === 1)
})

test.each([
  ['24h', '60s', 70_000],
  ['60s', '24h', undefined],
] as const)('a resyncInterval that changes from %s to %s counts at once', async (before, after, within) => {
  const world = await withBackends(1)
  world.patchAccount({ spec: { resyncInterval: before } })
  await world.clock.advance(before === '24h' ? 120_000 : 10_000)
  world.patchAccount({ spec: { resyncInterval: after } })
  await world.clock.advance(1_000)
  const reads = world.reads.length
  const [backend] = world.account.all()
  world.account.update('backends/tunnel_group', backend?.object.id ?? '', { description: 'changed by hand' })
  const isMended = () => world.account.all()[0]?.object.description !== 'changed by hand'
  if (within !== undefined) return await world.until('mended', isMended, within)
  await world.clock.advance(3_600_000)
  expect(world.reads.slice(reads)).toEqual([])
})

test('the key that was kept for an Account goes with it, also when its finalizer is taken off by hand', async () => {
  const world = await withBackends(1)
  const kept = () => world.kube.list(secretType).items.filter(({ metadata }) => /^culvert-key-/.test(metadata.name))
  const [first] = kept()
  world.moveAccount('https://api.example.com', 'status kept')
  await world.until('kept anew', () => kept().length === 1 && kept()[0]?.metadata.name !== first?.metadata.name)
  world.patchAccount({ metadata: { finalizers: [] } })
  world.deleteAccount()
  await world.until('gone', () => kept().length === 0)
})

test('a key that could not be kept is tried again within seconds, and ever more rarely', async () => {
  const world = await withBackends(1)
  world.keptKeyFaults.push('unsent', 'unsent', 'unsent')
  world.keys.set('key-2', world.account)
  world.changeKey('key-2')
  await world.until('told', () => accountReason(world) === 'KubernetesError')
  const told = world.clock.monotonic()
  await world.until('Available', () => accountReason(world) === 'Available')
  expect(world.keptKeyFaults).toEqual([])
  const waited = world.clock.monotonic() - told
  expect(waited).toBeGreaterThan(2 * 5_000)
  expect(waited).toBeLessThan(60_000)
})
