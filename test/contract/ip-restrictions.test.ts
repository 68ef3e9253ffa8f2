import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, ApiClient, expectRefusal, type Resource, refTo } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ trustForwardedFor: true })
})
afterAll(() => world.close())

/** The tests' own address during setup: every restriction here admits it. */
const home = '127.0.0.1'

type Action = 'allow' | 'deny'

const rule = (ip_policy_id: string, cidr: string, action: Action = 'allow'): Promise<Resource> =>
  world.api.create('ip_policy_rules', { ip_policy_id, cidr, action })

async function policy(rules: Readonly<Record<string, Action>>): Promise<Resource> {
  const made = await world.api.create('ip_policies', {})
  for (const [cidr, action] of Object.entries(rules)) await rule(made.id, cidr, action)
  return made
}

const homePolicy = (): Promise<Resource> => policy({ [home]: 'allow' })

const restrict = (policies: readonly Resource[], fields: Readonly<Record<string, unknown>> = {}): Promise<Resource> =>
  world.api.create('ip_restrictions', {
    type: 'api',
    enforced: true,
    ip_policy_ids: policies.map(({ id }) => id),
    ...fields,
  })

const from = (address: string, api: ApiClient = world.api): Promise<Answer> =>
  api.call('GET', '/reserved_addrs', { headers: { 'X-Forwarded-For': address } })

const statusesFrom = async (...addresses: readonly string[]): Promise<readonly number[]> =>
  (await Promise.all(addresses.map((address) => from(address)))).map(({ status }) => status)

afterEach(async () => {
  for (const { id } of await world.api.all('/ip_restrictions', 'ip_restrictions')) {
    await world.api.remove(`/ip_restrictions/${id}`)
  }
})

test(stated('restrictions.api'), async () => {
  const office = await policy({ [home]: 'allow', '192.0.2.0/24': 'allow' })
  const restriction = await restrict([office], { enforced: false })
  const warned = await from('198.51.100.1')
  expect(warned.status).toBe(200)
  expect(warned.headers.get('warning')).toMatch(new RegExp(`^299 - "[^"]*${restriction.id}[^"]*"$`))
  expect((await from('192.0.2.7')).headers.get('warning')).toBeNull()

  await world.api.update('ip_restrictions', restriction.id, { enforced: true })
  const refused = await from('198.51.100.1')
  const { error_code } = expectRefusal(refused, 403, restriction.id, '198.51.100.1')
  expect(refused.headers.get('warning')).toBeNull()
  expect((await from('192.0.2.7')).status).toBe(200)

  // No other 403 has this code, and no other answer takes precedence.
  const bot = await world.api.create('bot_users', { name: 'sleeper', active: false })
  const asBot = new ApiClient(world.url, await world.admin.seedApiKey(bot.id))
  expect(expectRefusal(await from('192.0.2.7', asBot), 403).error_code).not.toBe(error_code)
  const headers = { 'X-Forwarded-For': '198.51.100.1' }
  const write = { headers, body: { description: 'from outside' } }
  expect(expectRefusal(await world.api.call('POST', '/ip_policies', write), 403).error_code).toBe(error_code)
  expectRefusal(await world.api.call('GET', '/nowhere', { headers }), 403)
  expectRefusal(await new ApiClient(world.url, 'unknown').call('GET', '/ip_policies', { headers }), 401)
  const all = await world.api.all('/ip_policies', 'ip_policies')
  expect(all.map(({ description }) => description)).not.toContain('from outside')
})

test(stated('restrictions.judging'), async () => {
  const mixed = await policy({
    [home]: 'allow',
    '10.0.0.0/8': 'allow',
    '10.1.0.0/16': 'deny',
    '10.1.2.0/24': 'allow',
    '2001:db8::/32': 'allow',
    '2001:db8:bad::/48': 'deny',
  })
  await restrict([mixed])
  expect(await statusesFrom('10.0.0.0', '10.255.255.255', '10.2.0.1', '2001:db8::1')).toEqual([200, 200, 200, 200])
  expect(await statusesFrom('10.1.0.1', '10.1.2.3', '2001:db8:bad::1')).toEqual([403, 403, 403])
  expect(await statusesFrom('9.255.255.255', '11.0.0.0', '2001:db9::1', '::1')).toEqual([403, 403, 403, 403])
})

test(stated('restrictions.all-admit'), async () => {
  const wide = await policy({ [home]: 'allow', '10.0.0.0/8': 'allow', '172.16.0.0/12': 'allow' })
  const narrow = await policy({ [home]: 'allow', '10.1.0.0/16': 'allow' })
  const blocked = await policy({ '10.1.1.0/24': 'deny', '192.0.2.0/24': 'allow' })
  const first = await restrict([wide])
  expect(await statusesFrom('10.1.0.1', '10.2.0.1', '172.16.0.1')).toEqual([200, 200, 200])
  const second = await restrict([narrow, blocked])
  expect(await statusesFrom('10.1.0.1', '10.2.0.1', '172.16.0.1', '10.1.1.1', '192.0.2.1')).toEqual([
    200, 403, 403, 403, 403,
  ])
  expectRefusal(await from('198.51.100.1'), 403, first.id, second.id)
  await world.api.update('ip_restrictions', first.id, { enforced: false })
  const answer = await from('192.0.2.1')
  expect([answer.status, answer.headers.get('warning')]).toEqual([200, expect.stringContaining(first.id)])
})

test(stated('restrictions.policy-deleted'), async () => {
  const [kept, gone] = [await homePolicy(), await policy({ '192.0.2.0/24': 'allow', '198.51.100.0/24': 'deny' })]
  const restriction = await restrict([kept, gone])
  expect(await statusesFrom(home, '192.0.2.1')).toEqual([200, 200])
  await world.api.remove(`/ip_policies/${gone.id}`)
  expect(await statusesFrom(home, '192.0.2.1')).toEqual([200, 403])
  const shown = { ip_policies: [refTo(kept), refTo(gone)] }
  expect(await world.api.get('ip_restrictions', restriction.id)).toMatchObject(shown)
  expect(await world.api.update('ip_restrictions', restriction.id, { description: 'x' })).toMatchObject(shown)
  // A policy that counts as one that exists may be sent again, in any order.
  const again = await world.api.update('ip_restrictions', restriction.id, { ip_policy_ids: [gone.id, kept.id] })
  expect(again).toMatchObject({ ip_policies: [refTo(gone), refTo(kept)] })
  const body = { type: 'agent', ip_policy_ids: [kept.id, gone.id] }
  expectRefusal(await world.api.call('POST', '/ip_restrictions', { body }), 400, gone.id)
  await world.api.update('ip_restrictions', restriction.id, { ip_policy_ids: [kept.id] })
  expectRefusal(
    await world.api.call('PATCH', `/ip_restrictions/${restriction.id}`, { body: { ip_policy_ids: [gone.id] } }),
    400,
    gone.id,
  )
})

test(stated('restrictions.changes'), async () => {
  const office = await homePolicy()
  const restriction = await restrict([office])
  expect(await statusesFrom('192.0.2.1')).toEqual([403])
  const added = await rule(office.id, '192.0.2.0/24')
  expect(await statusesFrom('192.0.2.1')).toEqual([200])
  await world.api.update('ip_policy_rules', added.id, { cidr: '192.0.2.128/25' })
  expect(await statusesFrom('192.0.2.1', '192.0.2.129')).toEqual([403, 200])
  await world.api.remove(`/ip_policy_rules/${added.id}`)
  expect(await statusesFrom('192.0.2.129')).toEqual([403])
  const other = await policy({ [home]: 'allow', '192.0.2.0/24': 'allow' })
  await world.api.update('ip_restrictions', restriction.id, { ip_policy_ids: [other.id] })
  expect(await statusesFrom('192.0.2.1')).toEqual([200])
  await rule(other.id, '192.0.2.1', 'deny')
  expect(await statusesFrom('192.0.2.1')).toEqual([403])
  await world.api.remove(`/ip_restrictions/${restriction.id}`)
  expect(await statusesFrom('192.0.2.1')).toEqual([200])
})

test(stated('restrictions.own-account'), async () => {
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('other'))
  await restrict([await homePolicy()])
  expect((await from('192.0.2.1', stranger)).status).toBe(200)
  expect((await from('192.0.2.1')).status).toBe(403)
})

test(stated('restrictions.other-types'), async () => {
  for (const type of ['dashboard', 'agent', 'endpoints']) await restrict([], { type })
  const answer = await from('192.0.2.1')
  expect([answer.status, answer.headers.get('warning')]).toEqual([200, null])
})

test('a restriction names policies that exist, each once', async () => {
  const { id } = await homePolicy()
  const unknown = `ipp_${'0'.repeat(27)}`
  for (const ip_policy_ids of [[unknown], [id, unknown], [id, id]]) {
    const body = { type: 'agent', ip_policy_ids }
    expectRefusal(await world.api.call('POST', '/ip_restrictions', { body }), 400, 'ip_policy_ids')
  }
})

test('every form of an IPv4 address is judged as that address, and what is no address is refused', async () => {
  await restrict([await policy({ [home]: 'allow', '::ffff:10.0.0.0/104': 'allow' })])
  const mapped = ['::ffff:127.0.0.1', '::FFFF:7f00:1', '10.1.2.3', '::ffff:10.1.2.3']
  expect(await statusesFrom(...mapped)).toEqual([200, 200, 200, 200])
  expectRefusal(await from('::ffff:192.0.2.1'), 403, ' 192.0.2.1')
  expect(await statusesFrom('127.1', '127.0.0.1:80', 'unknown', '::127.0.0.1')).toEqual([403, 403, 403, 403])
})

describe('without trust in X-Forwarded-For', () => {
  test(stated('restrictions.source-address'), async () => {
    // The trusted proxy added the last one; those before it are the client's own claim.
    await restrict([await homePolicy()])
    expect(await statusesFrom(`192.0.2.1, ${home}`, `${home}, 192.0.2.1`)).toEqual([200, 403])
    const plain = await startWorld()
    try {
      const { id } = await plain.api.create('ip_policies', {})
      await plain.api.create('ip_policy_rules', { ip_policy_id: id, cidr: home, action: 'allow' })
      await plain.api.create('ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [id] })
      expect((await from('192.0.2.1', plain.api)).status).toBe(200)
    } finally {
      await plain.close()
    }
  })

  test(stated('restrictions.admin-surface'), async () => {
    const plain = await startWorld()
    try {
      const headers = { Authorization: `Bearer ${plain.adminToken}` }
      const snapshot = await (await fetch(`${plain.url}/_emulator/snapshot`, { headers })).text()
      await plain.api.create('ip_restrictions', { type: 'api', enforced: true })
      expectRefusal(await plain.api.call('GET', '/ip_restrictions'), 403, home)
      // The way back in after locking everybody out.
      const restored = await fetch(`${plain.url}/_emulator/restore`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: snapshot,
      })
      expect(restored.status).toBe(204)
      expect(await plain.api.all('/ip_restrictions', 'ip_restrictions')).toEqual([])
    } finally {
      await plain.close()
    }
  })
})
