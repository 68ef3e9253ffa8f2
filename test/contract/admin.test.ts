import { afterEach, beforeEach, expect, test } from 'vitest'
import { ApiClient, expectRefusal } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

test(stated('admin.own-token'), async () => {
  const paths = ['/_emulator/journal', '/_emulator/snapshot', '/_emulator/clock']
  for (const path of paths) {
    expectRefusal(await world.api.call('GET', path), 401)
    expectRefusal(await world.api.call('GET', path, { headers: { Authorization: undefined } }), 401)
    const admin = new ApiClient(world.url, world.adminToken)
    expect((await admin.call('GET', path)).status).toBe(200)
    expectRefusal(await admin.call('GET', '/ip_policies'), 401)
  }
})

test(stated('admin.absent'), async () => {
  const closed = await startWorld({ admin: false })
  try {
    const admin = new ApiClient(closed.url, closed.adminToken)
    for (const path of ['/_emulator/journal', '/_emulator/snapshot', '/_emulator/']) {
      // The answer does not distinguish a token that would have been valid from any other.
      expectRefusal(await admin.call('GET', path), 401)
      expectRefusal(await closed.api.call('GET', path), 404)
    }
  } finally {
    await closed.close()
  }
})

test(stated('admin.journal-without-secrets'), async () => {
  const secrets = ['monitor-secret-value', 'cloud-secret-value']
  const monitor = { monitor: { api_key: secrets[0] } }
  const creds = { cloud_access_key_id: 'AKID', cloud_secret_access_key: secrets[1] }
  const kinesis = { kinesis: { auth: { creds }, stream_arn: 'arn:a' } }
  const { id } = await world.api.create('event_destinations', { format: 'json', target: monitor })
  await world.api.update('event_destinations', id, { target: kinesis })
  // A refused body is recorded too.
  await world.api.call('POST', '/event_destinations', { body: { format: 'xml', target: { ...monitor, ...kinesis } } })
  const key = await world.api.create('api_keys', {})
  const { text } = await new ApiClient(world.url, world.adminToken).call('GET', '/_emulator/journal')
  const { entries } = JSON.parse(text) as { entries: readonly { method: string; path: string; status: number }[] }
  expect(entries.map(({ method, path, status }) => [method, path, status])).toEqual([
    ['POST', '/event_destinations', 201],
    ['PATCH', `/event_destinations/${id}`, 200],
    ['POST', '/event_destinations', 400],
    ['POST', '/api_keys', 201],
  ])
  for (const secret of [...secrets, String(key.token), world.apiKey]) expect(text).not.toContain(secret)
})

test(stated('admin.token-hashed'), async () => {
  const { token } = await world.api.create('api_keys', {})
  const { text } = await new ApiClient(world.url, world.adminToken).call('GET', '/_emulator/snapshot')
  expect(text).toMatch(/ak_/)
  for (const secret of [String(token), world.apiKey]) expect(text).not.toContain(secret)
})

test(stated('admin.snapshot-restored'), async () => {
  const policy = await world.api.create('ip_policies', { description: 'kept' })
  const key = await world.api.create('api_keys', {})
  const admin = new ApiClient(world.url, world.adminToken)
  const snapshot = (await admin.call('GET', '/_emulator/snapshot')).text
  const before = await world.admin.now()

  await world.api.remove(`/ip_policies/${policy.id}`)
  await world.api.remove(`/api_keys/${key.id}`)
  const added = await world.api.create('ip_policies', {})
  await world.admin.advance(100 * 86_400)
  expect((await admin.call('POST', '/_emulator/restore', { body: snapshot })).status).toBe(204)

  expect(await world.api.get('ip_policies', policy.id)).toEqual(policy)
  expectRefusal(await world.api.call('GET', `/ip_policies/${added.id}`), 404)
  expect((await new ApiClient(world.url, String(key.token)).call('GET', '/ip_policies')).status).toBe(200)
  expect((await world.admin.now()) - before).toBeLessThan(60_000)
})
