import { expect, test } from 'vitest'
import type { Sighting, Trouble, WireAnswer } from '../simulation/faults.ts'
import { Oracle, textOf } from '../simulation/oracle.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { refusal } from './api-faults-kinds.ts'
import { lagging } from './lagging-reads.ts'

const SPEC = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const COLLECTION = '/backends/tunnel_group'
/** Longer than reads may lag behind a create, and long enough for lists to agree. */
const SETTLED_MS = 70_000
const MINUTE_MS = 60_000
/** Longer than a call takes, and shorter than the pause between two lists. */
const AT_ONCE_MS = 50

const laboratory = await Laboratory.open()

async function withBackend(): Promise<{ readonly world: SimulatedWorld; readonly oracle: Oracle }> {
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  const oracle = await Oracle.watch(world)
  world.apply('Backend', 'group', SPEC)
  expect(await oracle.untilRest()).toEqual([])
  return { world, oracle }
}

async function objects(world: SimulatedWorld): Promise<readonly { readonly id: string }[]> {
  return (await world.api.ask('GET', COLLECTION)).backends as readonly { readonly id: string }[]
}

async function removeByHand(world: SimulatedWorld): Promise<void> {
  for (const { id } of await objects(world)) await world.api.ask('DELETE', `${COLLECTION}/${id}`)
}

const isGone = (world: SimulatedWorld): boolean => world.get('Backend', 'group') === undefined
const saysOf = (world: SimulatedWorld): string => JSON.stringify(world.get('Backend', 'group')?.status?.conditions)

test.each<[string, WireAnswer]>([
  ['the words of the API', refusal(404, 'ERR_3004', 'there is no such object')],
  ['other JSON', { status: 404, body: '{"error": "not found"}' }],
  ['nothing', { status: 404, body: '' }],
  ['HTML', { status: 404, body: '<html><body>Not Found</body></html>' }],
])('a deletion answered 404 with %s completes once the object is gone, and not before', async (_title, answer) => {
  const { world } = await withBackend()
  const deletes: Sighting[] = []
  const notFound = lagging({ name: '', seconds: Number.POSITIVE_INFINITY, answer })
  world.trouble = {
    request: (sighting) => {
      if (sighting.method === 'DELETE' && sighting.server === 'api') deletes.push(sighting)
      return notFound.request(sighting)
    },
  }
  world.delete('Backend', 'group')
  await world.advance(10 * MINUTE_MS)
  expect(isGone(world)).toBe(false)
  expect(saysOf(world)).toContain('lists it: retrying')
  expect(await objects(world)).toHaveLength(1)
  expect(deletes.length).toBeGreaterThan(10)
  expect(deletes.length).toBeLessThan(40)
  await removeByHand(world)
  expect(await world.until(() => isGone(world), SETTLED_MS)).toBe(true)
  world.down()
})

test('a deletion that cannot find out whether its object is gone reports it, and completes with spec.deletionPolicy: Retain', async () => {
  const { world } = await withBackend()
  const unlisted: Trouble = {
    request: ({ server, method, path }) => {
      if (server !== 'api' || method !== 'GET' || path !== COLLECTION) return undefined
      return { type: 'answer', when: 'before', answer: refusal(403, 'ERR_3003', 'the key may not list these') }
    },
  }
  await removeByHand(world)
  world.trouble = unlisted
  world.delete('Backend', 'group')
  for (let minutes = 0; minutes < 5; minutes++) {
    await world.advance(MINUTE_MS)
    expect(isGone(world)).toBe(false)
    expect(saysOf(world)).toContain('the key may not list these')
    expect(saysOf(world)).toContain('spec.deletionPolicy: Retain')
  }
  world.apply('Backend', 'group', { ...SPEC, deletionPolicy: 'Retain' })
  expect(await world.until(() => isGone(world), 5_000)).toBe(true)
  world.down()
})

test('many objects gone at once are settled together, with few lists', async () => {
  const { world } = await withBackend()
  const names = Array.from({ length: 20 }, (_, index) => `group-${index}`)
  for (const name of names) world.apply('Backend', name, SPEC)
  const areReady = (): boolean => names.every((name) => world.get('Backend', name)?.status?.id !== undefined)
  expect(await world.until(areReady, SETTLED_MS)).toBe(true)
  await world.advance(SETTLED_MS)
  await removeByHand(world)
  for (const name of names) world.delete('Backend', name)
  expect(await world.until(() => names.every((name) => world.get('Backend', name) === undefined), SETTLED_MS)).toBe(
    true,
  )
  world.down()
})

test('one list without the object does not create another object', async () => {
  const { world, oracle } = await withBackend()
  await world.advance(SETTLED_MS)
  const before = await objects(world)
  let lists = 0
  world.trouble = {
    request: ({ server, method, path }) => {
      if (server !== 'api' || method !== 'GET' || path !== COLLECTION || lists++ > 0) return undefined
      return { type: 'stale', seconds: 3600 }
    },
  }
  await world.advance(3 * MINUTE_MS)
  expect(lists).toBeGreaterThan(1)
  expect(await objects(world)).toEqual(before)
  world.apply('Backend', 'group', { ...SPEC, description: 'edited' })
  expect(await oracle.judge()).toEqual([])
  world.down()
})

test('an object deleted again and again is recreated immediately, then less and less often', async () => {
  const { world, oracle } = await withBackend()
  oracle.meddled('Backend', 'group')
  const made: number[] = []
  world.network.onDone = ({ server, method }) => {
    if (server === 'api' && method === 'POST') made.push(world.time.now)
  }
  const begun = world.time.now
  while (world.time.now - begun < 60 * MINUTE_MS) {
    await world.advance(5_000)
    await removeByHand(world)
  }
  const pauses = made.slice(1).map((at, index) => Math.round((at - (made[index] ?? 0)) / MINUTE_MS))
  expect((made[0] ?? Number.NaN) - begun).toBeLessThan(3 * MINUTE_MS)
  expect(pauses.toSorted((left, right) => left - right)).toEqual(pauses)
  expect(made.length).toBeLessThan(8)
  expect(saysOf(world)).toContain('was deleted outside Culvert again')
  world.down()
})

test('the id of a recreated policy is stored immediately, however late lists show its former rules', async () => {
  const world = laboratory.world({ kinds: new Set(['IPPolicy']) })
  const oracle = await Oracle.watch(world)
  world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  expect(await oracle.untilRest()).toEqual([])
  await world.advance(SETTLED_MS)
  const writes: string[] = []
  const times: number[] = []
  let lists = 0
  world.trouble = {
    request: (sighting) => {
      const { server, method, path } = sighting
      if (isWrite(sighting)) {
        writes.push(textOf(sighting))
        times.push(world.time.now)
      }
      const isFirst = server === 'api' && method === 'GET' && path === '/ip_policy_rules' && lists++ === 0
      return isFirst ? { type: 'reset', when: 'before' } : undefined
    },
  }
  oracle.meddled('IPPolicy', 'office')
  const { ip_policies: policies } = await world.api.ask('GET', '/ip_policies')
  for (const { id } of policies as readonly { readonly id: string }[])
    await world.api.ask('DELETE', `/ip_policies/${id}`)
  await world.advance(2 * MINUTE_MS)
  expect(lists).toBeGreaterThan(1)
  const made = writes.indexOf('api POST /ip_policies')
  expect(writes[made + 1]).toBe('kubernetes PATCH /ippolicies/office/status')
  expect((times[made + 1] ?? Number.NaN) - (times[made] ?? 0)).toBeLessThan(AT_ONCE_MS)
  expect(await oracle.judge()).toEqual([])
  world.down()
})
