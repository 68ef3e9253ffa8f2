import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient, expectRefusal } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

test(stated('auth.one-refusal'), async () => {
  const wrong: readonly (string | undefined)[] = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    world.apiKey,
    `Basic ${btoa(`x:${world.apiKey}`)}`,
    `Token ${world.apiKey}`,
    `Bearer ${world.apiKey}x`,
    `Bearer ${world.apiKey.slice(0, -1)}`,
    `Bearer ${world.apiKey} extra`,
    'Bearer unknown',
  ]
  const bodies = new Set<string>()
  for (const authorization of wrong) {
    const answer = await world.api.call('GET', '/ip_policies', { headers: { Authorization: authorization } })
    const { details, ...rest } = expectRefusal(answer, 401)
    bodies.add(JSON.stringify({ ...rest, details: { ...details, operation_id: '' } }))
  }
  expect([...bodies]).toHaveLength(1)
})

test('a refused token says the same of a known and of an unknown id, and changes nothing', async () => {
  const { id } = await world.api.create('ip_policies', {})
  const stranger = new ApiClient(world.url, 'unknown')
  for (const path of [`/ip_policies/${id}`, `/ip_policies/ipp_${'0'.repeat(27)}`]) {
    expectRefusal(await stranger.call('DELETE', path), 401)
  }
  expectRefusal(await stranger.call('POST', '/ip_policies', { body: { description: 'from a stranger' } }), 401)
  const all = await world.api.all('/ip_policies', 'ip_policies')
  expect(all.map((policy) => policy.description)).not.toContain('from a stranger')
  expect(all.map((policy) => policy.id)).toContain(id)
})

test('the scheme of the Authorization header is read in any case', async () => {
  const answer = await world.api.call('GET', '/ip_policies', { headers: { Authorization: `bearer ${world.apiKey}` } })
  expect(answer.status).toBe(200)
})

test(stated('auth.created-key-works'), async () => {
  const key = await world.api.create('api_keys', { description: 'second key' })
  expect(key.token).toMatch(/^\S{20,}$/)
  const second = new ApiClient(world.url, String(key.token))
  await second.create('ip_policies', { description: 'by the second key' })
  await world.api.remove(`/api_keys/${key.id}`)
  expectRefusal(await second.call('GET', '/ip_policies'), 401)
})

test(stated('auth.token-shown-once'), async () => {
  const key = await world.api.create('api_keys', {})
  expect(key.token).toBeTypeOf('string')
  expect((await world.api.get('api_keys', key.id)).token).toBeNull()
  expect((await world.api.update('api_keys', key.id, { description: 'changed' })).token).toBeNull()
  for (const listed of await world.api.all('/api_keys', 'keys')) expect(listed.token).toBeNull()
})

test(stated('auth.boot-key-is-listed'), async () => {
  const [boot] = (await world.api.all('/api_keys', 'keys')).toReversed()
  expect(boot?.token).toBeNull()
  expect(boot?.owner_id).toMatch(/^usr_/)
  expect(await world.api.get('api_keys', boot?.id ?? '')).toEqual(boot)
})

test(stated('auth.admin-may-choose-owner'), async () => {
  const owner = await world.ownUserId()
  expect((await world.api.create('api_keys', {})).owner_id).toBe(owner)
  expect((await world.api.create('api_keys', { owner_id: owner })).owner_id).toBe(owner)
  expectRefusal(
    await world.api.call('POST', '/api_keys', { body: { owner_id: `usr_${'0'.repeat(27)}` } }),
    400,
    'owner_id',
    `usr_${'0'.repeat(27)}`,
  )
})

test(stated('auth.owner-needs-admin'), async () => {
  const ordinary = await world.admin.seedUser({ name: 'ordinary', admin: false })
  const caller = new ApiClient(world.url, await world.admin.seedApiKey(ordinary))
  expect((await caller.create('api_keys', {})).owner_id).toBe(ordinary)
  expect((await caller.create('api_keys', { owner_id: ordinary })).owner_id).toBe(ordinary)
  const body = { owner_id: await world.ownUserId() }
  expectRefusal(await caller.call('POST', '/api_keys', { body }), 403)
  expect((await world.api.create('api_keys', { owner_id: ordinary })).owner_id).toBe(ordinary)
})

test('nothing of one account is seen, used or changed with the key of another', async () => {
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('other'))
  const policy = await world.api.create('ip_policies', {})
  expect(await stranger.all('/ip_policies', 'ip_policies')).toEqual([])
  for (const method of ['GET', 'DELETE'] as const) {
    expectRefusal(await stranger.call(method, `/ip_policies/${policy.id}`), 404)
  }
  expectRefusal(await stranger.call('GET', `/ip_policies?before_id=${policy.id}`), 400, 'before_id')
  const rule = { ip_policy_id: policy.id, cidr: '10.0.0.0/8', action: 'allow' }
  expectRefusal(await stranger.call('POST', '/ip_policy_rules', { body: rule }), 400, policy.id)
  expect(await world.api.get('ip_policies', policy.id)).toEqual(policy)
})

test(stated('version.required'), async () => {
  for (const version of [undefined, '', '1', '3', '2.0', 'two']) {
    const answer = await world.api.call('GET', '/ip_policies', { headers: { 'Service-Version': version } })
    expect(expectRefusal(answer, 400).msg).toMatch(/service-version/i)
  }
})

test(stated('version.other-header-names'), async () => {
  const other = await startWorld({ versionHeaders: ['Tunnel-Version'] })
  try {
    const call = (headers: Record<string, string | undefined>): ReturnType<ApiClient['call']> =>
      other.api.call('GET', '/ip_policies', { headers })
    expect((await call({ 'Service-Version': undefined, 'Tunnel-Version': '2' })).status).toBe(200)
    expect((await call({})).status).toBe(200)
    expectRefusal(await call({ 'Service-Version': undefined, 'Tunnel-Version': '1' }), 400)
    expectRefusal(await call({ 'Service-Version': undefined }), 400)
    const elsewhere = { 'Service-Version': undefined, 'Tunnel-Version': '2' }
    expectRefusal(await world.api.call('GET', '/ip_policies', { headers: elsewhere }), 400)
  } finally {
    await other.close()
  }
})

test(stated('rate.limited'), async () => {
  const limited = await startWorld({ requestsPerMinute: 5 })
  try {
    const other = new ApiClient(limited.url, String((await limited.api.create('api_keys', {})).token))
    const answers = []
    for (let call = 0; call < 8; call += 1) answers.push(await limited.api.call('GET', '/ip_policies'))
    const refused = answers.filter((answer) => answer.status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expectRefusal(answer, 429)
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
    expect((await other.call('GET', '/ip_policies')).status).toBe(200)
  } finally {
    await limited.close()
  }
})
