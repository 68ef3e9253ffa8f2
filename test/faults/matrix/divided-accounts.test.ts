import { expect, test } from 'vitest'
import { namespaceType } from '../../../src/kube/core-types.ts'
import { KEPT_KEY_PREFIX } from '../../../src/managed/names.ts'
import type { Division } from '../simulation/operator.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Fleet } from '../simulation/sessions/fleet.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld, type WorldOptions } from '../simulation/world.ts'
import { claimant, dividedWorld, moveTo, OnlyClaimant } from './claims/divided.ts'

const kinds = new Set(['IPPolicy'])
const NAME = 'office'
const SPEC = { description: 'first' }
/** No operator needs longer to find out that another is dead. Milliseconds. */
const TAKEOVER_MS = 150_000

/** A world with an IP policy that is at rest, watched from then on. */
async function settled(options: WorldOptions): Promise<{ world: SimulatedWorld; oracle: Oracle; only: OnlyClaimant }> {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds, ...options })
  const only = new OnlyClaimant(world)
  world.trouble = only
  const oracle = await Oracle.watch(world)
  world.apply('IPPolicy', NAME, { ...SPEC, allowEmpty: true })
  expect(await oracle.untilRest()).toEqual([])
  return { world, oracle, only }
}

async function edit({ world, oracle }: { world: SimulatedWorld; oracle: Oracle }, description: string): Promise<void> {
  const spec = { description, allowEmpty: true }
  oracle.specChanges('IPPolicy', NAME, spec)
  world.apply('IPPolicy', NAME, spec)
  expect(await oracle.untilRest()).toEqual([])
}

async function claimedElsewhere(world: SimulatedWorld): Promise<readonly string[]> {
  const pages = await Promise.all(
    world.operators.filter(({ isOver }) => !isOver).map(({ registry }) => registry.metrics()),
  )
  return pages
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('culvert_account_claimed_elsewhere{'))
}

function saidElsewhere(world: SimulatedWorld): readonly string[] {
  const lines = world.operators.flatMap((operator) => operator.lines.map((line) => ({ operator, ...line })))
  return lines
    .filter(({ message }) => message.startsWith('another operator manages the account'))
    .map(({ operator, fields }) => `${operator.name}: ${fields.account} is of ${fields.operator}`)
}

test('of two operators that select an account one works on it, and the other says so once and writes nothing', async () => {
  const stage = await settled(dividedWorld('both'))
  const { world, oracle, only } = stage
  const has = claimant(world) ?? ''
  const other = has === 'red' ? 'blue' : 'red'
  await edit(stage, 'second')
  await world.advance(300_000)
  expect(only.writes.get(has)).toBeGreaterThan(1)
  expect(only.writes.get(other)).toBeUndefined()
  expect(only.unspent()).toEqual([])
  expect(saidElsewhere(world)).toEqual([`${other}: Account/${NAMESPACE}/default is of culvert-system/${has}`])
  expect(await claimedElsewhere(world)).toEqual([
    `culvert_account_claimed_elsewhere{account="Account/${NAMESPACE}/default",operator="culvert-system/${has}"} 1`,
  ])
  expect(await oracle.judge()).toEqual([])
  moveTo(world, has === 'red' ? 'red' : 'blue')
  await world.advance(1_000)
  expect(await claimedElsewhere(world)).toEqual([])
  world.down()
})

test('at rest, operators that divide accounts send nothing but renewals of their Leases', async () => {
  const { world } = await settled(dividedWorld('red'))
  await world.advance(120_000)
  const sent: string[] = []
  world.trouble = {
    request: ({ process, server, method, path, query }) => {
      const what = `${process.name}: ${method} ${path.split('/').at(-1)}`
      // The key of the account is read for each resync.
      if (server === 'kubernetes' && !query.has('watch') && !path.endsWith('/secrets/key')) sent.push(what)
      return undefined
    },
  }
  await world.advance(120_000)
  expect(new Set(sent)).toEqual(new Set(['red-0: PATCH red', 'blue-1: PATCH blue']))
  world.down()
})

test('the label of a namespace moves its Accounts', async () => {
  const byNamespace = (name: string): Division => ({
    name,
    selectors: { namespaces: { matchLabels: { operator: name } } },
  })
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds, divisions: ['red', 'blue'].map(byNamespace) })
  const only = new OnlyClaimant(world)
  world.trouble = only
  const oracle = await Oracle.watch(world)
  world.apply('IPPolicy', NAME, { ...SPEC, allowEmpty: true })
  await world.advance(60_000)
  expect(claimant(world)).toBeUndefined()
  expect(world.get('IPPolicy', NAME)?.status?.conditions).toBeUndefined()
  for (const name of ['red', 'blue', 'red']) {
    world.server.patch(namespaceType, { name: NAMESPACE }, { metadata: { labels: { operator: name } } })
    await world.until(() => claimant(world) === name, 10_000)
    expect(claimant(world)).toBe(name)
    await edit({ world, oracle }, `of ${name}`)
  }
  expect(only.unspent()).toEqual([])
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test('a resource without an account is reported once its namespace is selected', async () => {
  const divisions = ['red', 'blue'].map((name): Division => {
    return { name, selectors: { namespaces: { matchLabels: { operator: name } } } }
  })
  const world = (await Laboratory.open()).world({ kinds, divisions })
  world.apply('IPPolicy', NAME, { ...SPEC, allowEmpty: true, accountRef: { name: 'missing' } })
  const ready = () => world.get('IPPolicy', NAME)?.status?.conditions?.find(({ type }) => type === 'Ready')
  await world.advance(60_000)
  expect(ready()).toBeUndefined()
  world.server.patch(namespaceType, { name: NAMESPACE }, { metadata: { labels: { operator: 'blue' } } })
  await world.advance(1_000)
  expect(ready()).toMatchObject({ status: 'False', message: expect.stringContaining('missing') })
  world.down()
})

test('an account that comes back while the removal of its claim is on its way is not touched before that has arrived', async () => {
  const laboratory = await Laboratory.open()
  const divisions = ['red', 'blue'].map((name): Division => {
    return { name, selectors: { namespaces: { matchLabels: { operator: name } } } }
  })
  const world = laboratory.world({ kinds, divisions })
  const label = (name: string): void => {
    world.server.patch(namespaceType, { name: NAMESPACE }, { metadata: { labels: { operator: name } } })
  }
  label('red')
  const oracle = await Oracle.watch(world)
  world.apply('IPPolicy', NAME, { ...SPEC, allowEmpty: true })
  expect(await oracle.untilRest()).toEqual([])
  // Lists for claims are spaced.
  await world.advance(10_000)
  let isLate = false
  const only = new OnlyClaimant(world, {
    request: ({ body }) => {
      if (isLate || !body.includes('"claim":null')) return undefined
      isLate = true
      // The label of the namespace leaves the account as it is, so that the removal is still valid.
      world.time.setTimer(1, () => label('red'))
      return { type: 'late', ms: 3_000 }
    },
  })
  world.trouble = only
  label('blue')
  for (let edits = 0; edits < 1_500; edits++) {
    world.apply('IPPolicy', NAME, { description: `edit ${edits}`, allowEmpty: true })
    await world.advance(5)
  }
  expect(isLate).toBe(true)
  expect(only.unspent()).toEqual([])
  expect(await oracle.untilRest()).toEqual([])
  expect(claimant(world)).toBe('red')
  world.down()
})

test('a ClusterAccount moves by its own label, and its key stays kept', async () => {
  const stage = await settled({ ...dividedWorld('red'), isShared: true })
  const { world, oracle, only } = stage
  moveTo(world, 'blue')
  await world.until(() => claimant(world) === 'blue', 10_000)
  await edit(stage, 'second')
  expect(only.unspent()).toEqual([])
  expect(await oracle.judge()).toEqual([])
  const kept = world.secrets().filter(({ metadata }) => metadata.name.startsWith(KEPT_KEY_PREFIX))
  expect(kept.map(({ metadata }) => metadata.name)).toEqual([`${KEPT_KEY_PREFIX}${world.account?.metadata.uid}`])
  world.down()
})

test('an operator that starts again lists nothing twice for the accounts that it had', async () => {
  const { world } = await settled(dividedWorld('red'))
  const lists: string[] = []
  world.trouble = {
    request: ({ server, method, path, query, process }) => {
      const isList = server === 'kubernetes' && method === 'GET' && !query.has('watch') && /\/ippolicies$/.test(path)
      if (isList) lists.push(process.name)
      return undefined
    },
  }
  const [red] = world.operators
  red?.stop()
  await world.advance(60_000)
  expect(claimant(world)).toBe('red')
  expect(lists).toHaveLength(1)
  world.down()
})

test('a claim that somebody removes is made again, and the account is read afresh', async () => {
  const stage = await settled(dividedWorld('red'))
  const { world, oracle } = stage
  const before = world.account?.status?.internal?.claim
  world.server.patch(
    world.accountType,
    world.accountKey,
    { status: { internal: { claim: null } } },
    { subresource: 'status' },
  )
  await world.advance(5_000)
  expect(world.account?.status?.internal?.claim).toEqual(before)
  await edit(stage, 'second')
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test('an operator without selectors leaves claimed accounts alone, and takes them from an operator that is gone', async () => {
  const laboratory = await Laboratory.open()
  const [red] = dividedWorld('red').divisions ?? []
  const whole: Division = { name: 'whole', selectors: {} }
  const world = laboratory.world({ kinds, divisions: [red as Division, whole], accountLabels: { operator: 'red' } })
  const oracle = await Oracle.watch(world)
  await world.until(() => claimant(world) === 'red', 10_000)
  world.apply('IPPolicy', NAME, { ...SPEC, allowEmpty: true })
  expect(await oracle.untilRest()).toEqual([])
  const byWhom = new Set(
    oracle.writes.filter(({ path }) => path.includes('ip_policies')).map(({ process }) => process.name),
  )
  expect([...byWhom]).toEqual(['red-0'])
  world.downDivision('red')
  await world.until(() => claimant(world) === undefined, TAKEOVER_MS)
  await edit({ world, oracle }, 'second')
  expect(claimant(world)).toBeUndefined()
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test.each([0, 5, 20, 100, 500, 2_000])(
  'sessions are shown, and told once what to do, while their account moves after %i ms',
  async (ms) => {
    const fleet = await Fleet.open(await Laboratory.open(), false, dividedWorld('red'))
    const { world, oracle } = fleet
    const only = new OnlyClaimant(world)
    world.trouble = only
    const target = { type: 'Selector', selector: {} }
    fleet.command('all', { target, action: 'Restart' })
    await world.advance(ms)
    moveTo(world, 'blue')
    await world.until(() => claimant(world) === 'blue', 60_000)
    expect(claimant(world)).toBe('blue')
    await world.advance(60_000)
    expect(await fleet.unlike()).toEqual([])
    expect(new Set(fleet.posted).size).toBe(fleet.posted.length)
    expect(fleet.commands.map(({ status }) => status?.done)).toEqual([3])
    fleet.disconnect(0)
    await world.advance(30_000)
    expect(fleet.shown).toHaveLength(2)
    expect([...only.unspent(), ...oracle.violations]).toEqual([])
    world.down()
  },
)
