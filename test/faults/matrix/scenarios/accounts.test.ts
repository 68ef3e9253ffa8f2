import { expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import { madeElsewhere, prepareEdits } from '../../simulation/account-edits.ts'
import { KEY, OTHER_ACCOUNT, OTHER_KEY } from '../../simulation/api-server.ts'
import type { Fault } from '../../simulation/faults.ts'
import { API_HOST, OTHER_HOST } from '../../simulation/operator.ts'
import {
  annotateAccount,
  begin,
  conditionOf,
  eventsOf,
  gone,
  idsIn,
  isReady,
  objectsIn,
  patch,
  ready,
  recreate,
  reported,
  type Scene,
  until,
} from '../../simulation/scenario.ts'
import { refusal, refusingKeys } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'
import { befalls } from '../../simulation/writes.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

const PATH = 'backends/tunnel_group'
const CONFIRM = 'culvert.dev/confirm-identity-requested-at'
/** Where another account is. */
const ELSEWHERE = `https://${OTHER_HOST}`

/** Waits until the condition Ready of the account has that reason. */
async function untilAccount(world: SimulatedWorld, reason: string): Promise<void> {
  await reported(world, () => world.account, 'Ready', reason)
}

/** A world with `count` backends in place, and another account. */
async function withBackends(count: number): Promise<Scene> {
  const scene = await begin(['Backend', 'IPPolicy'])
  const { world } = scene
  prepareEdits(world)
  const names = Array.from({ length: count }, (_, index) => `web-${index}`)
  for (const name of names) world.apply('Backend', name, tunnels)
  for (const name of names) await ready(world, 'Backend', name)
  return scene
}

function deleteAccount({ kube, accountType, accountKey }: SimulatedWorld): void {
  kube.delete(accountType, accountKey)
}

function takeFinalizerOff({ server, accountType, accountKey }: SimulatedWorld): void {
  server.patch(accountType, accountKey, { metadata: { finalizers: [] } })
}

/**
 * Creates the Account again with another address, as a restore or a GitOps tool may: with its annotations, but without
 * the status, unless it is `kept`.
 */
function moveAccount(world: SimulatedWorld, baseURL: string, kept: 'status kept' | 'status lost'): void {
  const { account, server, accountType, accountKey } = world
  if (account === undefined) throw new Error('there is no Account')
  const { spec, status, metadata } = account
  takeFinalizerOff(world)
  deleteAccount(world)
  server.create(accountType, accountKey, {
    metadata: { annotations: metadata.annotations ?? {} },
    spec: { ...spec, baseURL },
    ...(kept === 'status kept' ? { status } : {}),
  })
}

async function removeSome(world: SimulatedWorld, count: number): Promise<void> {
  for (const id of (await idsIn(world, PATH)).slice(0, count)) await world.api.ask('DELETE', `/${PATH}/${id}`)
}

test('an account that is deleted while resources need it says so once and then keeps silent', async () => {
  const { world, writes } = await withBackends(1)
  deleteAccount(world)
  await untilAccount(world, 'Deleting')
  // The Event follows.
  await world.advance(1000)
  const { length } = writes
  const told = eventsOf(world).length
  await world.advance(300_000)
  expect(writes.slice(length)).toEqual([])
  expect(eventsOf(world).slice(told)).toEqual([])
  world.delete('Backend', 'web-0')
  await until(world, 'the account gone', () => world.account === undefined)
  expect(await objectsIn(world, PATH)).toEqual([])
})

test('a key for another account holds up deletions too: nothing is taken for deleted there', async () => {
  const { world } = await withBackends(1)
  world.down()
  world.putSecret('key', { apiKey: OTHER_KEY })
  world.delete('Backend', 'web-0')
  world.up()
  await untilAccount(world, 'IdentityUnproven')
  await world.advance(120_000)
  expect(world.get('Backend', 'web-0')).toBeDefined()
  world.putSecret('key', { apiKey: KEY })
  await gone(world, 'Backend', 'web-0')
  expect(await objectsIn(world, PATH)).toEqual([])
})

test('deleting continues after a restart although most objects are gone already', async () => {
  const { world } = await withBackends(8)
  world.down()
  for (let index = 0; index < 8; index++) world.delete('Backend', `web-${index}`)
  await removeSome(world, 7)
  world.up()
  await until(world, 'all gone', () => world.all().length === 0)
  expect(await objectsIn(world, PATH)).toEqual([])
})

test('while the API refuses the key, one call asks for all collections', async () => {
  const { world, writes, reads } = await withBackends(1)
  world.apply('IPPolicy', 'office', { rules: [], allowEmpty: true })
  await ready(world, 'IPPolicy', 'office')
  world.trouble = refusingKeys(KEY)
  await untilAccount(world, 'Unauthorized')
  // Its resources say so too.
  await world.advance(1000)
  const before = [reads.length, writes.length] as const
  await world.advance(60_000)
  const asked = reads.slice(before[0])
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.length).toBeLessThanOrEqual(8)
  expect(writes.slice(before[1])).toEqual([])
  world.calm()
  await untilAccount(world, 'Available')
})

test('objects of resources that came back without their status are not reported as orphans', async () => {
  const { world } = await withBackends(1)
  world.down()
  recreate(world, 'Backend', 'web-0')
  world.up()
  await ready(world, 'Backend', 'web-0')
  expect(world.account?.status?.orphanCount).toBe(0)
  expect(await objectsIn(world, PATH)).toHaveLength(1)
})

test('a resource that nobody wants to see any more leaves an orphan, which is reported and left alone', async () => {
  const { world } = await withBackends(1)
  patch(world, 'Backend', 'web-0', { metadata: { finalizers: [] } })
  world.delete('Backend', 'web-0')
  await until(world, 'reported', () => world.account?.status?.orphanCount === 1)
  expect(world.account?.status?.orphans).toMatchObject([{ kind: 'Backend', name: 'web-0' }])
  await world.advance(120_000)
  expect(await objectsIn(world, PATH)).toHaveLength(1)
})

test('more vanished objects than may vanish at a time stop everything until an administrator confirms', async () => {
  const { world } = await withBackends(7)
  await removeSome(world, 6)
  await untilAccount(world, 'IdentityUnproven')
  world.delete('Backend', 'web-0')
  await world.advance(180_000)
  expect(await objectsIn(world, PATH)).toHaveLength(1)
  expect(world.get('Backend', 'web-0')).toBeDefined()
  annotateAccount(world, CONFIRM, 'yes')
  await until(world, 'all made again', async () => (await objectsIn(world, PATH)).length === 6)
  expect(world.get('Backend', 'web-0')).toBeUndefined()
})

test.each([
  [ELSEWHERE, 'status kept'],
  [ELSEWHERE, 'status lost'],
  [`https://${API_HOST}/${OTHER_ACCOUNT}`, 'status kept'],
] as const)('an address for another account, %s, holds everything up: %s', async (address, kept) => {
  const { world } = await withBackends(2)
  world.down()
  moveAccount(world, address, kept)
  world.delete('Backend', 'web-0')
  world.up()
  await untilAccount(world, 'IdentityUnproven')
  await world.advance(180_000)
  expect(madeElsewhere(world)).toEqual([])
  expect(world.get('Backend', 'web-0')).toBeDefined()
  moveAccount(world, 'https://api.example.com', kept)
  await gone(world, 'Backend', 'web-0')
  await until(
    world,
    'Ready',
    () => isReady(world, 'Backend', 'web-1') && conditionOf(world.account, 'Ready')?.reason === 'Available',
  )
  expect(await objectsIn(world, PATH)).toHaveLength(1)
  expect(madeElsewhere(world)).toEqual([])
})

test('an address for another account is taken once an administrator confirms it', async () => {
  const { world } = await withBackends(1)
  moveAccount(world, ELSEWHERE, 'status kept')
  await untilAccount(world, 'IdentityUnproven')
  annotateAccount(world, CONFIRM, 'moved')
  await until(world, 'made there', () => madeElsewhere(world).length > 0)
})

test.each(['status kept', 'status lost'] as const)(
  'a confirmation from before an Account was created again confirms nothing elsewhere: %s',
  async (kept) => {
    const { world } = await withBackends(2)
    annotateAccount(world, CONFIRM, 'long ago')
    await until(world, 'answered', () => world.account?.status?.lastHandledConfirmIdentityAt === 'long ago')
    world.down()
    moveAccount(world, ELSEWHERE, kept)
    world.delete('Backend', 'web-0')
    world.up()
    await untilAccount(world, 'IdentityUnproven')
    // Nor after a restart, nor if other trouble is reported meanwhile.
    world.trouble = refusingKeys(KEY)
    await untilAccount(world, 'Unauthorized')
    world.down()
    world.calm()
    world.up()
    await world.advance(300_000)
    expect(conditionOf(world.account, 'Ready')?.reason).toBe('IdentityUnproven')
    expect(madeElsewhere(world)).toEqual([])
    expect(world.get('Backend', 'web-0')).toBeDefined()
    annotateAccount(world, CONFIRM, 'now')
    await until(world, 'made there', () => madeElsewhere(world).length > 0)
    await gone(world, 'Backend', 'web-0', 60_000)
  },
)

test('a confirmation counts that is given while other trouble hides the doubt', async () => {
  const { world } = await withBackends(1)
  moveAccount(world, ELSEWHERE, 'status lost')
  await untilAccount(world, 'IdentityUnproven')
  world.trouble = refusingKeys(KEY)
  await untilAccount(world, 'Unauthorized')
  annotateAccount(world, CONFIRM, 'moved')
  await world.advance(120_000)
  world.calm()
  await until(world, 'made there', () => madeElsewhere(world).length > 0)
})

test.each([
  ['24h', '60s', 70_000],
  ['60s', '24h', undefined],
] as const)('a resyncInterval that changes from %s to %s counts at once', async (before, after, within) => {
  const { world, reads } = await withBackends(1)
  world.editAccount({ resyncInterval: before })
  await world.advance(before === '24h' ? 120_000 : 10_000)
  world.editAccount({ resyncInterval: after })
  await world.advance(1_000)
  const { length } = reads
  const id = world.get('Backend', 'web-0')?.status?.id
  await world.api.ask('PATCH', `/${PATH}/${id}`, { description: 'changed by hand' })
  const isMended = async () => (await objectsIn(world, PATH))[0]?.description !== 'changed by hand'
  if (within !== undefined) return await until(world, 'repaired', isMended, within)
  await world.advance(3_600_000)
  expect(reads.slice(length)).toEqual([])
})

test('the key that was kept for an Account goes with it, also when its finalizer is taken off by hand', async () => {
  const { world } = await withBackends(1)
  const kept = () => world.kube.list(secretType).items.filter(({ metadata }) => /^culvert-key-/.test(metadata.name))
  const [first] = kept()
  moveAccount(world, 'https://api.example.com', 'status kept')
  await until(world, 'kept again', () => kept().length === 1 && kept()[0]?.metadata.name !== first?.metadata.name)
  takeFinalizerOff(world)
  deleteAccount(world)
  await until(world, 'gone', () => kept().length === 0)
})

test('a key that could not be kept is tried again within seconds, and ever more rarely', async () => {
  const { world } = await withBackends(1)
  const { token } = await world.api.ask('POST', '/api_keys', {})
  const fault: Fault = { type: 'answer', when: 'before', answer: refusal(500) }
  const failing = befalls(
    [0, 1, 2].map((at) => ({ at, fault })),
    ({ method, path }) => method !== 'GET' && path.includes('/secrets/culvert-key-'),
  )
  world.trouble = failing
  world.putSecret('key', { apiKey: String(token) })
  await untilAccount(world, 'KubernetesError')
  const told = world.time.now
  await untilAccount(world, 'Available')
  expect(failing.unspent()).toEqual([])
  const waited = world.time.now - told
  expect(waited).toBeGreaterThan(2 * 5_000)
  expect(waited).toBeLessThan(60_000)
})

test('resources of an Account that was paused when the operator started report it, and continue once it is resumed', async () => {
  const { world } = await withBackends(1)
  annotateAccount(world, 'culvert.dev/paused', 'true')
  world.down()
  world.up()
  const message = () => conditionOf(world.get('Backend', 'web-0'), 'Reconciling')?.message
  await until(world, 'reported', () => message()?.includes('is paused and not connected to its API') === true)
  annotateAccount(world, 'culvert.dev/paused', null)
  await until(world, 'resumed', () => message() === undefined)
  await ready(world, 'Backend', 'web-0')
})
