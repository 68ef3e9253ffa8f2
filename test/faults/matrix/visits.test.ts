import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { CollectionCache } from '../../../src/api/collection-cache.ts'
import { statusOf } from '../../../src/managed/cr.ts'
import { MapStore } from '../../../src/runtime/store.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'

let laboratory: Laboratory

beforeAll(async () => {
  laboratory = await Laboratory.open()
})

afterEach(() => {
  vi.restoreAllMocks()
})

const FEW = 20
const MANY = 100
/** Longer than any wait of the steps below, shorter than a resync. */
const STEP_MS = 30_000

const OTHER = { namespace: NAMESPACE, name: 'other' }

/** A world at rest with that many policies, each with a rule, and as many edges and backends. No resync comes soon. */
async function worldOf(count: number): Promise<SimulatedWorld> {
  const kinds = new Set(['Backend', 'Edge', 'IPPolicy', 'IPPolicyRule', 'ReservedAddress', 'ReservedDomain'])
  const world = laboratory.world({ kinds, accountSpec: { resyncInterval: '24h' } })
  for (let index = 0; index < count; index++) {
    world.apply('Backend', `backend-${index}`, backend(index))
    world.apply('IPPolicy', `policy-${index}`, policy('198.51.100.0/24'))
    world.apply('Edge', `edge-${index}`, edge(index))
  }
  world.apply('ReservedAddress', 'spare', {})
  world.server.create(world.accountType, OTHER, { spec: world.account?.spec })
  world.apply('ReservedDomain', 'other', { domain: 'shop.example.com', accountRef: { name: OTHER.name } })
  await world.advance(10 * STEP_MS)
  const ids = world.all().map((cr) => statusOf(cr).id)
  expect(ids.filter((id) => id !== undefined)).toHaveLength(3 * count + 2)
  return world
}

function backend(index: number): Record<string, unknown> {
  return { type: 'TunnelGroup', tunnelGroup: { labels: { app: `shop-${index}` } } }
}

function policy(cidr: string): Record<string, unknown> {
  return { rules: [{ cidr, action: 'Allow' }] }
}

function edge(index: number): Record<string, unknown> {
  return {
    protocol: 'TCP',
    backend: { name: `backend-${index}` },
    ipRestriction: { ipPolicyRefs: [{ name: `policy-${index}` }] },
    ...(index === 0 ? { hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'spare' } }] } : {}),
  }
}

/** How many objects of caches and stores the operator is handed during the step. */
async function visitsOf(world: SimulatedWorld, step: (world: SimulatedWorld) => void): Promise<number> {
  let visits = 0
  for (const method of ['all', 'find'] as const) {
    const original = CollectionCache.prototype[method]
    vi.spyOn(CollectionCache.prototype, method).mockImplementation(function (this: CollectionCache, key = '') {
      const found = original.call(this, key)
      visits += found.length
      return found
    })
  }
  for (const method of ['list', 'byIndex'] as const) {
    const original = MapStore.prototype[method] as (...args: string[]) => never[]
    vi.spyOn(MapStore.prototype, method).mockImplementation(function (this: MapStore<never>, ...args: string[]) {
      const found = original.apply(this, args)
      visits += found.length
      return found
    })
  }
  step(world)
  await world.advance(STEP_MS)
  vi.restoreAllMocks()
  return visits
}

it.each<[string, (world: SimulatedWorld) => void]>([
  ['a new backend', (world) => world.apply('Backend', 'another', backend(-1))],
  ['a new policy with a rule', (world) => world.apply('IPPolicy', 'another', policy('203.0.113.0/24'))],
  ['an edit of a rule', (world) => world.apply('IPPolicy', 'policy-0', policy('203.0.113.0/24'))],
  ['an edit of an edge', (world) => world.apply('Edge', 'edge-0', { ...edge(0), description: 'edited' })],
  ['the deletion of an edge', (world) => world.delete('Edge', 'edge-0')],
  [
    'an edit of an account with one resource',
    ({ server, accountType }) => {
      server.patch(accountType, OTHER, { spec: { resyncInterval: '12h' } })
    },
  ],
  ['the deletion of an address in use', (world) => world.delete('ReservedAddress', 'spare')],
])('%s visits as few objects among many as among few', async (_name, step) => {
  const visits: number[] = []
  for (const count of [FEW, MANY]) {
    const world = await worldOf(count)
    const seen = await visitsOf(world, step)
    expect(seen, 'the operator is seen at work').toBeGreaterThan(0)
    visits.push(seen)
  }
  expect(visits[1]).toBe(visits[0])
})
