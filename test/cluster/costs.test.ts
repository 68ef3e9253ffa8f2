import { expect, test } from 'vitest'
import { AuditLog } from './support/audit-log.ts'
import { World } from './support/world.ts'

type Spec = Record<string, unknown>

const tunnels: Spec = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const rules = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((cidr) => ({ cidr, action: 'Allow' }))
const edge: Spec = {
  protocol: 'TLS',
  backend: { name: 'first-backend' },
  ipRestriction: { ipPolicyRefs: [{ name: 'first-ippolicy' }] },
  trafficPolicy: { outbound: [{ name: 'log', actions: [{ type: 'log' }] }] },
  tlsTermination: { minVersion: '1.2' },
}

/** What something cost, each call and write by name and in order. */
interface Cost {
  readonly calls: readonly string[]
  readonly writes: readonly string[]
}

/** A world in which each collection has been listed: something of each kind exists. */
async function open(): Promise<World> {
  const world = await World.open()
  await world.apply('Backend', 'first-backend', tunnels)
  await world.apply('IPPolicy', 'first-ippolicy', { rules })
  await world.apply('Edge', 'first-edge', edge)
  await world.ready('Edge', 'first-edge')
  return world
}

/** API calls, and Kubernetes writes but Events, that the operator makes while `act` runs. */
async function costOf(world: World, act: () => Promise<unknown>): Promise<Cost> {
  const audit = AuditLog.ofSuite()
  const [apiMark, kubeMark] = [world.mark(), await audit.mark()]
  await act()
  const writes = await audit.operatorWrites([world.namespace, world.operatorNamespace], kubeMark)
  return {
    calls: world.journal(apiMark).map(({ method, path }) => `${method} ${path.replace(/\/[a-z]+_\w{20,}$/, '/{id}')}`),
    writes: writes.map(({ verb, resource, subresource }) => [verb, resource, subresource].filter(Boolean).join(' ')),
  }
}

/** Cost of creating a resource, up to Ready. */
function creation(world: World, kind: string, name: string, spec: Spec): Promise<Cost> {
  return costOf(world, async () => {
    await world.apply(kind, name, spec)
    await world.ready(kind, name)
  })
}

function deletion(world: World, kind: string, name: string): Promise<Cost> {
  return costOf(world, async () => {
    await world.delete(kind, name)
    await world.gone(kind, name)
  })
}

test.each([
  ['without', {}],
  ['with', { metadata: { team: 'shop' } }],
])('a Backend %s metadata of the user costs one API call and two Kubernetes writes', async (_title, more) => {
  await using world = await open()
  expect(await creation(world, 'Backend', 'shop', { ...tunnels, ...more })).toEqual({
    calls: ['POST /backends/tunnel_group'],
    writes: ['patch backends', 'patch backends status'],
  })
})

test('raw metadata costs one more API call and two more Kubernetes writes', async () => {
  await using world = await open()
  expect(await creation(world, 'Backend', 'shop', { ...tunnels, rawMetadata: '{"team":"shop"}' })).toEqual({
    calls: ['POST /backends/tunnel_group', 'PATCH /backends/tunnel_group/{id}'],
    writes: ['patch backends', 'patch backends status', 'patch backends', 'patch backends status'],
  })
})

test('an IPPolicy with three rules costs four API calls and two Kubernetes writes', async () => {
  await using world = await open()
  expect(await creation(world, 'IPPolicy', 'office', { rules })).toEqual({
    calls: ['POST /ip_policies', 'POST /ip_policy_rules', 'POST /ip_policy_rules', 'POST /ip_policy_rules'],
    writes: ['patch ippolicies', 'patch ippolicies status'],
  })
})

test('an Edge with four modules costs one API call and two Kubernetes writes', async () => {
  await using world = await open()
  expect(await creation(world, 'Edge', 'front', edge)).toEqual({
    calls: ['POST /edges/tls'],
    writes: ['patch edges', 'patch edges status'],
  })
})

test('deleting costs one read, one API call, one Kubernetes write, and a list of each collection that may hold dependents', async () => {
  await using world = await open()
  expect(await deletion(world, 'Edge', 'first-edge')).toEqual({
    calls: ['GET /edges/tls/{id}', 'DELETE /edges/tls/{id}'],
    writes: ['patch edges'],
  })
  const edges = ['GET /edges/tcp', 'GET /edges/tls']
  const policy = await deletion(world, 'IPPolicy', 'first-ippolicy')
  const policyCalls = ['DELETE /ip_policies/{id}', ...edges, 'GET /ip_policies/{id}', 'GET /ip_restrictions']
  expect(policy.calls.toSorted()).toEqual(policyCalls)
  expect(policy.writes).toEqual(['patch ippolicies'])
  const backend = await deletion(world, 'Backend', 'first-backend')
  // Groups and fixed answers refer to no other backend.
  const backends = ['failover', 'weighted'].map((type) => `GET /backends/${type}`)
  const look = 'GET /backends/tunnel_group/{id}'
  expect(backend.calls.toSorted()).toEqual(
    expect.arrayContaining(['DELETE /backends/tunnel_group/{id}', look, ...backends, ...edges]),
  )
  expect(backend.calls).toHaveLength(6)
  expect(backend.writes).toEqual(['patch backends'])
})

test('an edit costs one API call and one Kubernetes write', async () => {
  await using world = await open()
  const cost = await costOf(world, async () => {
    await world.apply('Backend', 'first-backend', { ...tunnels, description: 'the shop' })
    await world.ready('Backend', 'first-backend')
  })
  expect(cost).toEqual({ calls: ['PATCH /backends/tunnel_group/{id}'], writes: ['patch backends status'] })
})
