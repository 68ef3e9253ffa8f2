import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../builders/contract/world.ts'

/** Generated clients send `""` for an optional text that their caller did not set, and 0 for a number. */

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const texts = { description: '', metadata: '' }

test('a text that is unset is absent in a create', async () => {
  const domain = world.serviceDomain()
  const certificate = { certificate_id: '', certificate_management_policy: { authority: '', private_key_type: '' } }
  expect(await world.api.create('reserved_domains', { ...texts, domain, region: '', ...certificate })).toMatchObject({
    region: null,
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
  })
  expect(await world.api.create('reserved_addrs', { ...texts, region: '' })).toMatchObject({ region: 'us' })
  const authority = { ...texts, private_key_type: '', elliptic_curve: '', key_size: 0 }
  const { id, key_type } = await world.api.create('ssh_certificate_authorities', authority)
  expect(key_type).toBe('ed25519')
  const key = String((await world.api.get('ssh_certificate_authorities', id)).public_key)
  const times = { valid_after: '', valid_until: '' }
  const signed = { ...texts, ssh_certificate_authority_id: id, public_key: key, ...times }
  expect((await world.api.create('ssh_user_certificates', signed)).valid_until).toEqual(expect.any(String))
  const { owner_id } = await world.api.create('credentials', {})
  expect(await world.api.create('credentials', { ...texts, owner_id: '' })).toMatchObject({ owner_id })
  const tls_termination = { terminate_at: '', min_version: '' }
  expect(await world.api.create('edges/tls', { ...texts, tls_termination })).toMatchObject({
    tls_termination: { terminate_at: 'edge', min_version: null },
  })
})

test('a text that is unset clears the field in an update', async () => {
  const certificate_id = await world.admin.seedTlsCertificate('uploaded')
  const { id } = await world.api.create('reserved_domains', { domain: world.serviceDomain(), certificate_id })
  expect(await world.api.update('reserved_domains', id, { certificate_id: '' })).toMatchObject({ certificate: null })
})

test('a mandatory text is not unset, and a free text may be empty', async () => {
  const nameless = await world.api.call('POST', '/bot_users', { body: { name: '' } })
  expect(nameless.status).toBe(400)
  const bot = await world.api.create('bot_users', { name: 'ci' })
  expect((await world.api.call('PATCH', `/bot_users/${bot.id}`, { body: { name: '' } })).status).toBe(400)
  expect(await world.api.create('backends/http_response', { body: '' })).toMatchObject({ body: '' })
})
