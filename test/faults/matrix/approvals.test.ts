import { expect, test } from 'vitest'
import { statusOf } from '../../../src/managed/cr.ts'
import { Person } from '../simulation/approvals/person.ts'
import { approvedEpisodes, pendingHash, playApprovals, watched } from '../simulation/approvals/stories.ts'
import { Oracle } from '../simulation/oracle.ts'
import { play } from '../simulation/play.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'

const laboratory = await Laboratory.open()
const MINUTES = 60_000

test('what was approved is carried out once whatever fails, and nothing else', async () => {
  await playApprovals('approvals', laboratory)
})

const repaired = approvedEpisodes.filter(({ title }) => / \/ (drift|deleted by somebody), approved$/.test(title))

test.each(repaired.map((episode) => [episode.title, episode] as const))(
  'what was approved is kept without another approval: %s',
  async (_title, episode) => {
    const { options, person } = watched(episode, {})
    const { problems } = await play(laboratory, episode, options)
    expect([...problems, ...(person()?.violations ?? [])]).toEqual([])
    // The creation, and the deletion in the end.
    expect(person()?.approvals).toBe(2)
  },
)

const group = (description: string) => ({
  managementPolicy: 'Plan',
  description,
  type: 'TunnelGroup',
  tunnelGroup: { labels: { app: 'shop' } },
})

/** A world with a Backend whose plan waits, and somebody who approves only what the test says. */
async function waiting(): Promise<{ world: SimulatedWorld; person: Person; writes: string[] }> {
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  const person = new Person(world, 'Backend', 'shop')
  person.isWilling = false
  const writes: string[] = []
  world.trouble = {
    request: (sighting) => {
      person.sees(sighting)
      if (sighting.server === 'api' && isWrite(sighting)) writes.push(sighting.method)
      return undefined
    },
  }
  world.apply('Backend', 'shop', group('one'))
  await untilPlanned(world, person)
  return { world, person, writes }
}

async function untilPlanned(world: SimulatedWorld, person: Person, former?: string): Promise<string> {
  const isPlanned = () => pendingHash(person) !== undefined && pendingHash(person) !== former
  expect(await world.until(isPlanned, 5 * MINUTES)).toBe(true)
  return pendingHash(person) ?? ''
}

async function untilReady(world: SimulatedWorld, person: Person): Promise<void> {
  const isReady = () => {
    const { resource } = person
    const { conditions = [], observedGeneration } = resource === undefined ? {} : statusOf(resource)
    const isSynced = conditions.some(({ type, status }) => type === 'Synced' && status === 'True')
    return isSynced && observedGeneration === resource?.metadata.generation && pendingHash(person) === undefined
  }
  expect(await world.until(isReady, 5 * MINUTES)).toBe(true)
}

async function descriptions(world: SimulatedWorld): Promise<readonly unknown[]> {
  const { backends: found = [] } = await world.api.ask('GET', '/backends/tunnel_group')
  return (found as readonly { description: unknown }[]).map(({ description }) => description)
}

test('nothing is sent before a plan is approved, and the approval of a plan that has changed counts for nothing', async () => {
  const { world, person, writes } = await waiting()
  const first = await untilPlanned(world, person)
  world.apply('Backend', 'shop', group('two'))
  person.approve(first)
  await world.advance(10 * MINUTES)
  expect(writes).toEqual([])
  person.approve(await untilPlanned(world, person, first))
  await untilReady(world, person)
  expect(writes).toEqual(['POST'])
  expect(person.violations).toEqual([])
})

test('a plan that looks like one that was approved before needs an approval of its own', async () => {
  const { world, person, writes } = await waiting()
  person.approve(await untilPlanned(world, person))
  await untilReady(world, person)
  const approvals: string[] = []
  for (const description of ['two', 'one', 'two']) {
    const { length } = writes
    world.apply('Backend', 'shop', group(description))
    const hash = await untilPlanned(world, person)
    await world.advance(5 * MINUTES)
    expect(writes.slice(length)).toEqual([])
    approvals.push(hash)
    person.approve(hash)
    await untilReady(world, person)
  }
  expect(new Set(approvals).size).toBe(3)
  expect(writes).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
})

test('an object that was changed since it was looked at makes the plan another', async () => {
  const { world, person, writes } = await waiting()
  person.approve(await untilPlanned(world, person))
  await untilReady(world, person)
  world.apply('Backend', 'shop', group('two'))
  const hash = await untilPlanned(world, person)
  const place = person.resource && world.placeOf(person.resource)
  await world.api.ask('PATCH', `/${place?.path}/${place?.id}`, { description: 'by hand' })
  const { length } = writes
  person.approve(hash)
  const changed = await untilPlanned(world, person, hash)
  expect(writes.slice(length)).toEqual([])
  expect(person.resource && statusOf(person.resource).plan?.operations[0]?.changes).toEqual([
    { field: 'description', from: '"by hand"', to: '"two"' },
  ])
  person.approve(changed)
  await untilReady(world, person)
  expect(writes.slice(length)).toEqual(['PATCH'])
})

test('a rule that was changed since it was looked at makes the plan another', async () => {
  const policy = (description: string) => {
    const rules = [{ cidr: '10.0.0.0/8', action: 'Allow', description }]
    return { managementPolicy: 'Plan', rules }
  }
  const world = laboratory.world({ kinds: new Set(['IPPolicy']) })
  const person = new Person(world, 'IPPolicy', 'office')
  world.apply('IPPolicy', 'office', policy('one'))
  await untilReady(world, person)
  person.isWilling = false
  world.apply('IPPolicy', 'office', policy('two'))
  const hash = await untilPlanned(world, person)
  const { ip_policy_rules: rules = [] } = await world.api.ask('GET', '/ip_policy_rules')
  const [rule] = rules as readonly { readonly id: string }[]
  await world.api.ask('PATCH', `/ip_policy_rules/${rule?.id}`, { description: 'by hand' })
  person.approve(hash)
  await untilPlanned(world, person, hash)
  expect(person.resource && statusOf(person.resource).plan?.operations[0]?.changes).toEqual([
    { field: 'description', from: '"by hand"', to: '"two"' },
  ])
})

test('a deletion waits for approval, and not in a namespace that is being deleted', async () => {
  const { world, person, writes } = await waiting()
  person.approve(await untilPlanned(world, person))
  await untilReady(world, person)
  world.delete('Backend', 'shop')
  await untilPlanned(world, person)
  await world.advance(10 * MINUTES)
  expect(writes).toEqual(['POST'])
  world.deleteNamespace('shop')
  expect(await world.until(() => person.resource === undefined, 5 * MINUTES)).toBe(true)
  expect(writes).toEqual(['POST', 'DELETE'])
})

test('a resource whose plan waits is at rest', async () => {
  const { world, person } = await waiting()
  const oracle = await Oracle.watch(world)
  await world.advance(2 * MINUTES)
  const { length } = oracle.writes
  await world.advance(10 * MINUTES)
  expect(oracle.writes.slice(length)).toEqual([])
  expect(pendingHash(person)).toBeDefined()
})

test('what needs no change needs no approval', async () => {
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  const { managementPolicy: _policy, ...managed } = group('one')
  world.apply('Backend', 'shop', managed)
  const person = new Person(world, 'Backend', 'shop')
  person.isWilling = false
  await untilReady(world, person)
  world.apply('Backend', 'shop', group('one'))
  await untilReady(world, person)
  const place = person.resource && world.placeOf(person.resource)
  await world.api.ask('PATCH', `/${place?.path}/${place?.id}`, { description: 'by hand' })
  await world.advance(5 * MINUTES)
  expect(await descriptions(world)).toEqual(['one'])
})
