import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Resource } from '../../builders/contract/api-client.ts'
import { answerOf, ask, dial, Upstream } from '../../builders/contract/tcp-peers.ts'
import { type ReachableEdge, startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'

const [INSIDE, OUTSIDE] = ['127.0.0.1', '127.0.0.2']
const SOON = { timeout: 20_000, interval: 20 }
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
let upstream: Upstream
let backend: Resource
const sockets: Socket[] = []
beforeAll(async () => {
  world = await startTrafficWorld()
  // Says at once that the connection is open, and then what it receives.
  upstream = await Upstream.start((socket) => {
    socket.write('open:')
    socket.pipe(socket)
  })
  backend = await world.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
  const { key } = await world.newCredential()
  await world.online(key, `app=shop:1:127.0.0.1:${upstream.port}`)
}, START_MS)
beforeEach(async () => {
  for (const { id } of await world.api.all('/ip_restrictions', 'ip_restrictions')) {
    await world.api.remove(`/ip_restrictions/${id}`)
  }
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  upstream.close()
  await world.close()
})

/** A policy with these rules, `allow` or `deny` by range. */
async function policy(rules: Readonly<Record<string, string>>): Promise<{ id: string; rules: readonly Resource[] }> {
  const { id } = await world.api.create('ip_policies', {})
  const made: Resource[] = []
  for (const [cidr, action] of Object.entries(rules)) {
    made.push(await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr, action }))
  }
  return { id, rules: made }
}

function edgeWith(...policies: readonly string[]): Promise<ReachableEdge> {
  const restriction = policies.length === 0 ? {} : { ip_restriction: { ip_policy_ids: policies } }
  return world.tcpEdge({ backend: { backend_id: backend.id }, ...restriction })
}

/** Whether a new connection from that source is served. */
async function isServed(edge: ReachableEdge, source: string): Promise<boolean> {
  const answer = await ask(edge, 'hello', source)
  if (answer !== 'open:hello') expect(['', 'ECONNRESET']).toContain(answer)
  return answer === 'open:hello'
}

/** An open connection from that source that is served. */
async function openFrom(edge: ReachableEdge, source: string): Promise<Socket> {
  const socket = await dial(edge, source)
  sockets.push(socket)
  expect(String((await once(socket, 'data'))[0])).toBe('open:')
  return socket
}

/** Resolves once the connection is cut, which nothing else must bring about. */
async function cut(socket: Socket): Promise<void> {
  socket.resume()
  await answerOf(socket)
}

describe("the edge's own module", () => {
  test('admits by the rules of its policies, and the journal names the rule', async () => {
    const { id, rules } = await policy({ '127.0.0.0/8': 'allow', '127.0.0.2/32': 'deny' })
    const edge = await edgeWith(id)
    expect([await isServed(edge, INSIDE), await isServed(edge, OUTSIDE)]).toEqual([true, false])
    expect(await world.trafficOf(edge.edge)).toMatchObject([
      { source: INSIDE, verdict: 'served', rule: rules[0]?.id },
      { source: OUTSIDE, verdict: 'refused', rule: rules[1]?.id, bytesOut: 0 },
    ])
  })

  test('refuses everybody when its policy has no rules, or was deleted', async () => {
    const { id } = await policy({})
    const edge = await edgeWith(id)
    expect(await isServed(edge, INSIDE)).toBe(false)
    await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr: '127.0.0.1', action: 'allow' })
    expect(await isServed(edge, INSIDE)).toBe(true)
    await world.api.remove(`/ip_policies/${id}`)
    expect(await isServed(edge, INSIDE)).toBe(false)
    expect((await world.trafficOf(edge.edge)).at(-1)).toMatchObject({ verdict: 'refused', rule: null })
  })

  test('restricts nobody while it is disabled', async () => {
    const { id } = await policy({})
    const edge = await edgeWith(id)
    await world.api.update('edges/tcp', edge.edge.id, { ip_restriction: { enabled: false, ip_policy_ids: [id] } })
    expect(await isServed(edge, INSIDE)).toBe(true)
  })

  test('cuts the open connections that a change refuses, and no others', async () => {
    const { id } = await policy({ '127.0.0.0/8': 'allow' })
    const edge = await edgeWith(id)
    const [inside, outside] = [await openFrom(edge, INSIDE), await openFrom(edge, OUTSIDE)]
    await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr: OUTSIDE, action: 'deny' })
    await cut(outside)
    inside.write('still here')
    expect(String((await once(inside, 'data'))[0])).toBe('still here')
    await expect
      .poll(async () => (await world.trafficOf(edge.edge)).map(({ end }) => end), SOON)
      .toEqual([null, expect.stringMatching(/^cut: /)])
  })

  test('cuts open connections when it is added to an edge', async () => {
    const edge = await edgeWith()
    const outside = await openFrom(edge, OUTSIDE)
    const { id } = await policy({ '127.0.0.1/32': 'allow' })
    await world.api.update('edges/tcp', edge.edge.id, { ip_restriction: { ip_policy_ids: [id] } })
    await cut(outside)
  })
})

describe('a restriction of type endpoints', () => {
  const restrict = (enforced: boolean, id: string, type = 'endpoints'): Promise<Resource> =>
    world.api.create('ip_restrictions', { type, enforced, ip_policy_ids: [id] })

  test('holds for every edge of the account, next to the module of the edge', async () => {
    const everybody = await policy({ '127.0.0.0/8': 'allow' })
    const edges = [await edgeWith(), await edgeWith(everybody.id)]
    const inside = await policy({ '127.0.0.1/32': 'allow' })
    const restriction = await restrict(true, inside.id)
    for (const edge of edges) {
      expect([await isServed(edge, INSIDE), await isServed(edge, OUTSIDE)]).toEqual([true, false])
      const refused = (await world.trafficOf(edge.edge)).at(-1)
      expect(refused).toMatchObject({ verdict: 'refused', rule: restriction.id })
    }
  })

  test('only warns while it is not enforced, and cuts open connections once it is', async () => {
    const edge = await edgeWith()
    const restriction = await restrict(false, (await policy({ '127.0.0.1/32': 'allow' })).id)
    const outside = await openFrom(edge, OUTSIDE)
    expect(await world.trafficOf(edge.edge)).toMatchObject([{ verdict: 'served', warnings: [restriction.id] }])
    await world.api.update('ip_restrictions', restriction.id, { enforced: true })
    await cut(outside)
  })

  test.each(['api', 'agent', 'dashboard'])('is another than one of type %s', async (type) => {
    const edge = await edgeWith()
    // The API's own caller must still be admitted.
    await restrict(true, (await policy({ '127.0.0.1/32': 'allow' })).id, type)
    expect(await isServed(edge, OUTSIDE)).toBe(true)
  })
})

describe('a traffic policy', () => {
  const denyOutside = {
    inbound: [
      { name: 'outside', expressions: [`conn.client_ip == '${OUTSIDE}'`], actions: [{ type: 'deny' }] },
      { name: 'all', expressions: [], actions: [{ type: 'log' }] },
    ],
  }

  test('denies connections, and cuts open ones when it comes to an edge', async () => {
    const edge = await edgeWith()
    const outside = await openFrom(edge, OUTSIDE)
    await world.api.update('edges/tcp', edge.edge.id, { policy: denyOutside })
    await cut(outside)
    expect([await isServed(edge, INSIDE), await isServed(edge, OUTSIDE)]).toEqual([true, false])
    expect((await world.trafficOf(edge.edge)).slice(1)).toMatchObject([
      { verdict: 'served', notes: ['the policy rule "all" logs it'] },
      { verdict: 'refused', reason: 'the policy rule "outside" denies it' },
    ])
  })

  test('does nothing while it is disabled', async () => {
    const edge = await edgeWith()
    await world.api.update('edges/tcp', edge.edge.id, { policy: { ...denyOutside, enabled: false } })
    expect(await isServed(edge, OUTSIDE)).toBe(true)
  })
})

test('from the answer to a write on, no connection from a refused source is served', async () => {
  const { id } = await policy({ '127.0.0.1/32': 'allow' })
  const edge = await edgeWith(id)
  for (let round = 0; round < 10; round += 1) {
    const rule = await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr: OUTSIDE, action: 'allow' })
    expect(await isServed(edge, OUTSIDE)).toBe(true)
    await world.api.remove(`/ip_policy_rules/${rule.id}`)
    expect(await isServed(edge, OUTSIDE)).toBe(false)
  }
})
