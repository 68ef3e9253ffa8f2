import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { caPem } from '../../builders/contract/ca-pem.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
})

afterEach(() => emulator.close())

describe('edges', () => {
  it('go on showing an IP policy that was deleted, and may be sent it again, but not for the first time', async () => {
    const policy = await client.create('/ip_policies')
    const edge = await client.create('/edges/tcp', { ip_restriction: { ip_policy_ids: [policy] } })
    expect((await client.delete(`/ip_policies/${policy}`)).status).toBe(204)
    const shown = await client.patch(`/edges/tcp/${edge}`, { description: 'other' })
    expect(at(shown.body, 'ip_restriction', 'ip_policies', 0, 'id')).toBe(policy)
    const body = { ip_restriction: { ip_policy_ids: [policy] } }
    expect((await client.patch(`/edges/tcp/${edge}`, body)).status).toBe(200)
    const other = await client.call('POST', '/edges/tcp', body)
    expect(other.body).toMatchObject({ status_code: 400, details: { id: policy } })
  })

  it('let a backend go once the module that names it is disabled without it, replaced or removed', async () => {
    const backends = [await client.create('/backends/tunnel_group'), await client.create('/backends/tunnel_group')]
    const edge = await client.create('/edges/tcp', { backend: { backend_id: backends[0] } })
    const refused = await client.delete(`/backends/tunnel_group/${String(backends[0])}`)
    expect(refused.body).toMatchObject({ status_code: 409, details: { ids: edge } })
    await client.call('PUT', `/edges/tcp/${edge}/backend`, { backend_id: backends[1] })
    expect((await client.delete(`/backends/tunnel_group/${String(backends[0])}`)).status).toBe(204)
    await client.patch(`/edges/tcp/${edge}`, { backend: { enabled: false } })
    expect((await client.delete(`/backends/tunnel_group/${String(backends[1])}`)).status).toBe(204)
  })

  it('check TLS passed through to upstream against what exists already, on every way in', async () => {
    const { objects } = emulator.admin.seed({ objects: { certificate_authorities: [{ ca_pem: caPem }] } })
    const mutual = { certificate_authority_ids: objects.certificate_authorities }
    const upstream = { terminate_at: 'upstream' }
    const edge = await client.create('/edges/tls', { tls_termination: upstream })
    expect((await client.call('PUT', `/edges/tls/${edge}/mutual_tls`, mutual)).status).toBe(400)
    expect((await client.patch(`/edges/tls/${edge}`, { policy: {} })).status).toBe(400)
    expect((await client.patch(`/edges/tls/${edge}`, { policy: { enabled: false } })).status).toBe(200)
    await client.delete(`/edges/tls/${edge}/tls_termination`)
    expect((await client.call('PUT', `/edges/tls/${edge}/mutual_tls`, mutual)).status).toBe(200)
    expect((await client.patch(`/edges/tls/${edge}`, { tls_termination: upstream })).status).toBe(400)
  })

  it('free their hostports and domains when they are deleted or moved', async () => {
    const domain = await client.create('/reserved_domains', { domain: '*.customer.org' })
    const edge = await client.create('/edges/tls', { hostports: ['a.customer.org:443', 'b.customer.org:443'] })
    const clash = await client.post('/edges/tcp', { hostports: ['B.customer.org:443'] })
    expect(clash.body).toMatchObject({ status_code: 409, details: { field: 'hostports', id: edge } })
    await client.patch(`/edges/tls/${edge}`, { hostports: ['a.customer.org:443'] })
    const other = await client.create('/edges/tcp', { hostports: ['b.customer.org:443'] })
    const busy = await client.delete(`/reserved_domains/${domain}`)
    expect(new Set(String(at(busy.body, 'details', 'ids')).split(','))).toEqual(new Set([edge, other]))
    await client.delete(`/edges/tls/${edge}`)
    await client.delete(`/edges/tcp/${other}`)
    expect((await client.delete(`/reserved_domains/${domain}`)).status).toBe(204)
    expect((await client.post('/edges/tls', { hostports: ['a.customer.org:443'] })).status).toBe(400)
  })

  it('do not listen on the domains and addresses of another account', async () => {
    const { accounts } = emulator.admin.seed({ accounts: [{}] })
    const stranger = new EmulatorClient(emulator.url, String(accounts[0]?.apiKey))
    await stranger.create('/reserved_domains', { domain: 'app.customer.org' })
    const { addr } = (await stranger.post('/reserved_addrs', {})).body
    for (const hostport of ['app.customer.org:443', addr]) {
      expect((await client.post('/edges/tcp', { hostports: [hostport] })).status).toBe(400)
    }
    const taken = await client.post('/reserved_domains', { domain: 'app.customer.org' })
    expect(taken.status).toBe(409)
    expect(taken.body.details).not.toHaveProperty('id')
  })
})

describe('backends', () => {
  it('refuse a cycle through several levels and both kinds, naming the way round', async () => {
    const leaf = await client.create('/backends/http_response')
    const low = await client.create('/backends/failover', { backends: [leaf] })
    const middle = await client.create('/backends/weighted', { backends: { [low]: 1, [leaf]: 1 } })
    const top = await client.create('/backends/failover', { backends: [middle, leaf] })
    const refused = await client.patch(`/backends/failover/${low}`, { backends: [leaf, top] })
    expect(refused.status).toBe(400)
    for (const id of [top, middle, low]) expect(refused.body.msg).toContain(id)
    expect((await client.get(`/backends/failover/${low}`)).body.backends).toEqual([leaf])
  })

  it('look at each backend of a wide and deep tree once', async () => {
    let level = [await client.create('/backends/http_response'), await client.create('/backends/http_response')]
    for (let depth = 0; depth < 24; depth += 1) {
      level = [
        await client.create('/backends/failover', { backends: level }),
        await client.create('/backends/failover', { backends: level }),
      ]
    }
    expect((await client.post('/backends/failover', { backends: level })).status).toBe(201)
  })
})

describe('event destinations', () => {
  async function storedTarget(id: string): Promise<unknown> {
    const destinations = at(emulator.admin.snapshot(), 'accounts', emulator.account, 'objects', 'event_destinations')
    return Array.isArray(destinations)
      ? at(
          destinations.find((object) => at(object, 'id') === id),
          'target',
        )
      : undefined
  }

  it('keep a secret that is left out of the same member, and ask for it in another', async () => {
    const creds = { cloud_access_key_id: 'one', cloud_secret_access_key: 'hunter-2' }
    const target = (member: string, arn: string, auth: unknown): unknown => ({
      target: { [member]: { auth, [arn]: 'arn' } },
    })
    const id = await client.create('/event_destinations', {
      format: 'JSON',
      ...Object(target('kinesis', 'stream_arn', { creds })),
    })
    const withoutSecret = { creds: { cloud_access_key_id: 'two' } }
    const patched = await client.patch(`/event_destinations/${id}`, target('kinesis', 'stream_arn', withoutSecret))
    expect(at(patched.body, 'target', 'kinesis', 'auth')).toEqual({
      role: null,
      creds: { cloud_access_key_id: 'two', cloud_secret_access_key: null },
    })
    expect(at(await storedTarget(id), 'kinesis', 'auth', 'creds', 'cloud_secret_access_key')).toBe('hunter-2')
    const other = await client.patch(
      `/event_destinations/${id}`,
      target('firehose', 'delivery_stream_arn', withoutSecret),
    )
    expect(other.body).toMatchObject({
      status_code: 400,
      details: { field: 'target.firehose.auth.creds.cloud_secret_access_key' },
    })
  })
})

describe('event subscriptions', () => {
  it('count characters, not bytes, in description and metadata', async () => {
    const wide = '🜁'.repeat(255)
    expect((await client.post('/event_subscriptions', { description: wide })).status).toBe(201)
    expect((await client.post('/event_subscriptions', { description: `${wide}x` })).status).toBe(400)
    expect((await client.post('/ip_policies', { description: wide })).status).toBe(400)
  })

  it('change source by source', async () => {
    const id = await client.create('/event_subscriptions', { sources: [{ type: 'ip_policy_created.v0' }] })
    const sources = `/event_subscriptions/${id}/sources`
    const added = await client.post(sources, { type: 'tcp_edge_deleted.v0' })
    expect(added.body).toEqual({ type: 'tcp_edge_deleted.v0', uri: `${emulator.url}${sources}/tcp_edge_deleted.v0` })
    expect((await client.post(sources, { type: 'tcp_edge_deleted.v0' })).status).toBe(409)
    expect((await client.delete(`${sources}/ip_policy_created.v0`)).status).toBe(204)
    expect((await client.get(`${sources}/ip_policy_created.v0`)).status).toBe(404)
    expect((await client.get(sources)).body.sources).toEqual([added.body])
  })
})

describe('bot users', () => {
  it('are refused while they are not active, may not choose owners, and cannot go while they own a key', async () => {
    const bot = await client.create('/bot_users', { name: 'deployer' })
    const key = await client.post('/api_keys', { owner_id: bot })
    const asBot = new EmulatorClient(emulator.url, String(key.body.token))
    const admin = (await client.post('/api_keys', {})).body.owner_id
    expect((await asBot.create('/ip_policies')).startsWith('ipp_')).toBe(true)
    expect((await asBot.post('/api_keys', { owner_id: admin })).status).toBe(403)
    expect((await client.delete(`/bot_users/${bot}`)).status).toBe(409)
    await client.patch(`/bot_users/${bot}`, { active: false })
    expect((await asBot.get('/ip_policies')).status).toBe(403)
    await client.patch(`/bot_users/${bot}`, { active: true })
    expect((await asBot.get('/ip_policies')).status).toBe(200)
  })
})

describe('certificate authorities', () => {
  it('are seeded from the PEM of an authority, nothing else', () => {
    expect(() => emulator.admin.seed({ objects: { certificate_authorities: [{}] } })).toThrow('ca_pem')
    for (const ca_pem of ['', 'hello', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']) {
      expect(() => emulator.admin.seed({ objects: { certificate_authorities: [{ ca_pem }] } })).toThrow('ca_pem')
    }
  })
})
