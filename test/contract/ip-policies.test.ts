import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefusal, type Resource, refTo } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const policy = (): Promise<Resource> => world.api.create('ip_policies', {})
const rule = (ip_policy_id: string, cidr: string): Promise<Resource> =>
  world.api.create('ip_policy_rules', { ip_policy_id, cidr, action: 'allow' })

test(stated('policies.cidr-canonical'), async () => {
  const { id } = await policy()
  const canonical: Readonly<Record<string, string>> = {
    '10.0.0.0/8': '10.0.0.0/8',
    '192.0.2.7': '192.0.2.7/32',
    '192.0.2.8/32': '192.0.2.8/32',
    '0.0.0.0/0': '0.0.0.0/0',
    '2001:DB8:0:0::/64': '2001:db8::/64',
    '2001:db8::1': '2001:db8::1/128',
    '::/0': '::/0',
  }
  for (const [sent, stored] of Object.entries(canonical)) {
    const created = await rule(id, sent)
    expect(created.cidr, sent).toBe(stored)
    expect((await world.api.get('ip_policy_rules', created.id)).cidr).toBe(stored)
  }
  const changed = await rule(id, '198.51.100.0/24')
  expect((await world.api.update('ip_policy_rules', changed.id, { cidr: '198.51.100.9' })).cidr).toBe('198.51.100.9/32')
})

test(stated('policies.cidr-invalid'), async () => {
  const { id } = await policy()
  const kept = await rule(id, '192.0.2.0/24')
  const bad = [
    '10.0.0.1/8',
    '2001:db8::1/64',
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    '256.0.0.0/8',
    'anywhere',
    '',
    '10.0.0.0/',
    '10.0.0.0/-1',
    ' 10.0.0.0/8',
  ]
  for (const cidr of bad) {
    const body = { ip_policy_id: id, cidr, action: 'deny' }
    expectRefusal(await world.api.call('POST', '/ip_policy_rules', { body }), 400, 'cidr')
    expectRefusal(await world.api.call('PATCH', `/ip_policy_rules/${kept.id}`, { body: { cidr } }), 400, 'cidr')
  }
})

test(stated('policies.cidr-once'), async () => {
  const [one, other] = [await policy(), await policy()]
  const first = await rule(one.id, '10.0.0.0/8')
  await rule(other.id, '10.0.0.0/8')
  const again = { ip_policy_id: one.id, cidr: '10.0.0.0/8', action: 'deny' }
  expectRefusal(await world.api.call('POST', '/ip_policy_rules', { body: again }), 409, '10.0.0.0/8')
  await rule(one.id, '192.0.2.1')
  const same = { ...again, cidr: '192.0.2.1/32' }
  expectRefusal(await world.api.call('POST', '/ip_policy_rules', { body: same }), 409, '192.0.2.1/32')
  const second = await rule(one.id, '172.16.0.0/12')
  const moved = await world.api.call('PATCH', `/ip_policy_rules/${second.id}`, { body: { cidr: '10.0.0.0/8' } })
  expectRefusal(moved, 409, '10.0.0.0/8')
  // Its own cidr is no conflict, and a deleted rule's cidr is free.
  await world.api.update('ip_policy_rules', first.id, { cidr: '10.0.0.0/8' })
  await world.api.remove(`/ip_policy_rules/${first.id}`)
  await world.api.update('ip_policy_rules', second.id, { cidr: '10.0.0.0/8' })
})

test('a rule of a policy that does not exist is a 400 naming field and id', async () => {
  const unknown = `ipp_${'0'.repeat(27)}`
  const body = { ip_policy_id: unknown, cidr: '10.0.0.0/8', action: 'allow' }
  expectRefusal(await world.api.call('POST', '/ip_policy_rules', { body }), 400, 'ip_policy_id', unknown)
})

test(stated('policies.delete-in-use'), async () => {
  const [used, kept] = [await policy(), await policy()]
  const [gone, stays] = [await rule(used.id, '10.0.0.0/8'), await rule(kept.id, '10.0.0.0/8')]
  const edge = await world.api.create('edges/tcp', { ip_restriction: { ip_policy_ids: [used.id, kept.id] } })
  await world.api.remove(`/ip_policies/${used.id}`)
  expectRefusal(await world.api.call('GET', `/ip_policies/${used.id}`), 404)
  expectRefusal(await world.api.call('GET', `/ip_policy_rules/${gone.id}`), 404)
  const rules = await world.api.all('/ip_policy_rules', 'ip_policy_rules')
  expect(rules.map(({ id }) => id)).toContain(stays.id)
  expect(rules.map(({ id }) => id)).not.toContain(gone.id)
  expect((await world.api.get('edges/tcp', edge.id)).ip_restriction).toEqual({
    enabled: true,
    ip_policies: [refTo(used), refTo(kept)],
  })
  // New references to it are refused.
  const body = { ip_restriction: { ip_policy_ids: [used.id] } }
  expectRefusal(await world.api.call('POST', '/edges/tcp', { body }), 400, used.id)
})

test(stated('unique.nothing-else'), async () => {
  const body = { description: 'shared', metadata: 'shared' }
  expect((await world.api.create('ip_policies', body)).id).not.toBe((await world.api.create('ip_policies', body)).id)
})
