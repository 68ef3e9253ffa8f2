import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLoopback } from '../../../src/emulator/admin/routes.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient
let admin: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
  admin = new EmulatorClient(emulator.adminUrl, emulator.adminToken)
})

afterEach(() => emulator.close())

describe('the admin surface', () => {
  it('answers its own token only, not an API key', async () => {
    expect((await new EmulatorClient(emulator.adminUrl, emulator.apiKey).get('/journal')).status).toBe(401)
    expect((await admin.get('/journal', { headers: { authorization: undefined } })).status).toBe(401)
    expect((await new EmulatorClient(emulator.url, emulator.adminToken).get('/ip_policies')).status).toBe(401)
    expect((await admin.get('/journal')).status).toBe(200)
    expect((await admin.get('/nothing')).status).toBe(404)
    expect((await admin.post('/journal', {})).status).toBe(405)
  })

  it('is absent when switched off', async () => {
    const closed = await startEmulator({ admin: false })
    const asAdmin = await new EmulatorClient(closed.adminUrl, closed.adminToken).get('/journal')
    const asUser = await new EmulatorClient(closed.adminUrl, closed.apiKey).get('/journal')
    expect([asAdmin.status, asUser.status]).toEqual([401, 404])
    await closed.close()
  })
})

describe('loopback', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('includes %s', (address) => {
    expect(isLoopback(address)).toBe(true)
  })

  it.each([undefined, '', '10.0.0.1', '::ffff:10.0.0.1', '::2', '127.evil.example', '128.0.0.1'])(
    'does not include %s',
    (address) => {
      expect(isLoopback(address)).toBe(false)
    },
  )
})

describe('the journal', () => {
  it('records each request with its caller, body, status and the id in the answer', async () => {
    const id = await client.create('/ip_policies', { description: 'x' })
    await client.get(`/ip_policies/${id}?unknown=1`)
    await client.get('/ip_policies', { headers: { authorization: 'Bearer wrong' } })
    const { body } = await admin.get('/journal')
    expect(body.entries).toMatchObject([
      {
        method: 'POST',
        path: '/ip_policies',
        status: 201,
        responseId: id,
        body: { description: 'x' },
        account: emulator.account,
        keyId: expect.stringMatching(/^ak_/),
        fault: null,
      },
      { method: 'GET', path: `/ip_policies/${id}`, query: '?unknown=1', status: 200, responseId: id, body: null },
      { method: 'GET', path: '/ip_policies', status: 401, responseId: null, keyId: null },
    ])
  })

  it('orders arrivals and answers by one counter, and reads from a number on', async () => {
    await client.create('/ip_policies')
    await client.create('/ip_policies')
    const [first, second] = emulator.admin.journal()
    expect(first?.answeredSeq).toBeGreaterThan(first?.seq ?? 0)
    expect(second?.seq).toBeGreaterThan(first?.answeredSeq ?? 0)
    const later = await admin.get(`/journal?since=${String(first?.seq)}`)
    expect(at(later.body, 'entries', 'length')).toBe(1)
  })

  it('holds no secrets', async () => {
    await client.create('/event_destinations', { format: 'json', target: { monitor: { api_key: 'hunter-2' } } })
    const creds = { cloud_access_key_id: 'visible', cloud_secret_access_key: 'hunter-2' }
    await client.create('/event_destinations', {
      format: 'json',
      target: { kinesis: { stream_arn: 'a', auth: { creds } } },
    })
    await client.create('/api_keys')
    const { body } = await admin.get('/journal')
    const text = JSON.stringify(body)
    expect(text).not.toContain('hunter-2')
    expect(text).toContain('visible')
    expect(text).not.toContain(emulator.apiKey)
    expect(text).not.toContain('tk_')
  })

  it('notes the size of a large body instead of keeping it', async () => {
    await client.create('/backends/http_response', { body: 'x'.repeat(100_000) })
    expect(emulator.admin.journal()[0]?.body).toMatch(/^\[1000\d\d bytes\]$/)
  })

  it('is emptied by DELETE; its numbers go on', async () => {
    await client.get('/ip_policies')
    const before = emulator.admin.journal().at(-1)?.seq ?? 0
    expect((await admin.delete('/journal')).status).toBe(204)
    expect(emulator.admin.journal()).toEqual([])
    await client.get('/ip_policies')
    expect(emulator.admin.journal()[0]?.seq).toBeGreaterThan(before)
  })
})

describe('the clock', () => {
  it('is advanced, set and reset, and times of the API follow it', async () => {
    await admin.post('/clock', { set: '2031-05-06T07:08:09Z' })
    const made = await client.post('/ip_policies', {})
    expect(made.body.created_at).toBe('2031-05-06T07:08:09Z')
    await admin.post('/clock', { advanceSeconds: 3600 })
    expect((await admin.get('/clock')).body.now).toMatch(/^2031-05-06T08:08:/)
    await admin.post('/clock', { reset: true })
    expect(Math.abs(Date.parse(String((await admin.get('/clock')).body.now)) - Date.now())).toBeLessThan(60_000)
  })

  it.each([{}, { advanceSeconds: 1, reset: true }, { set: 'noon' }, { advanceSeconds: '1' }])(
    'refuses %j',
    async (body) => {
      expect((await admin.post('/clock', body)).status).toBe(400)
    },
  )
})

describe('seeding', () => {
  it('puts in what the API does not serve, with ids of its own or given ones', async () => {
    const seeded = await admin.post('/seed', {
      objects: {
        tls_certificates: [{ description: 'uploaded' }],
        endpoint_configurations: [{ id: 'ec_given', description: 'one' }],
        users: [{ name: 'somebody' }],
      },
    })
    expect(seeded.status).toBe(201)
    expect(seeded.body.objects).toMatchObject({
      tls_certificates: [expect.stringMatching(/^cert_/)],
      endpoint_configurations: ['ec_given'],
    })
    const address = await client.create('/reserved_addrs')
    const patched = await client.patch(`/reserved_addrs/${address}`, { endpoint_configuration_id: 'ec_given' })
    expect(at(patched.body, 'endpoint_configuration', 'id')).toBe('ec_given')
  })

  it('makes a second account whose objects stay its own', async () => {
    const seeded = await admin.post('/seed', { accounts: [{ name: 'second', apiKey: 'second-key' }] })
    const second = new EmulatorClient(emulator.url, 'second-key')
    const theirs = await second.create('/ip_policies')
    const ours = await client.create('/ip_policies')
    expect((await client.get(`/ip_policies/${theirs}`)).status).toBe(404)
    expect((await second.patch(`/ip_policies/${ours}`, {})).status).toBe(404)
    expect(at((await second.get('/ip_policies')).body, 'ip_policies', 'length')).toBe(1)
    const rule = { cidr: '10.0.0.0/8', action: 'allow', ip_policy_id: ours }
    expect((await second.post('/ip_policy_rules', rule)).status).toBe(400)
    expect((await client.get('/api_keys')).body.keys).toHaveLength(1)
    const account = at(seeded.body, 'accounts', 0, 'account')
    const more = await admin.post('/seed', { account, apiKeys: [{ token: 'third-key' }] })
    expect(more.status).toBe(201)
    expect((await new EmulatorClient(emulator.url, 'third-key').get(`/ip_policies/${theirs}`)).status).toBe(200)
  })

  it('makes many objects from one body', async () => {
    await admin.post('/seed', {
      bulk: [{ collection: 'reserved_domains', count: 120, body: { domain: 'd{n}.tunnel.example' } }],
    })
    const { body } = await client.get('/reserved_domains')
    expect(at(body, 'reserved_domains', 0, 'domain')).toBe('d120.tunnel.example')
    expect(body.next_page_uri).not.toBeNull()
  })

  it('puts in nothing when a part is refused', async () => {
    const refused = await admin.post('/seed', { objects: { ip_policies: [{}], users: [{ nonsense: true }] } })
    expect(refused.status).toBe(400)
    expect(at((await client.get('/ip_policies')).body, 'ip_policies')).toEqual([])
    expect((await admin.post('/seed', { objects: { nonsense: [{}] } })).status).toBe(400)
    expect((await admin.post('/seed', { objects: { users: [{ id: 'ipp_1' }] } })).status).toBe(400)
    expect((await admin.post('/seed', { account: 'acct_none' })).status).toBe(400)
  })
})

describe('snapshot, restore and reset', () => {
  it('brings everything back: objects, keys, uniqueness, what is in use, certificate jobs', async () => {
    const second = await client.post('/api_keys', {})
    const domain = await client.create('/reserved_domains', {
      domain: 'app.tunnel.example',
      certificate_management_policy: {},
    })
    const edge = await client.create('/edges/tls', { hostports: ['app.tunnel.example:443'] })
    const taken = (await admin.get('/snapshot')).body

    await client.delete(`/edges/tls/${edge}`)
    await client.delete(`/reserved_domains/${domain}`)
    emulator.admin.advanceClock(1000)
    expect((await admin.post('/restore', taken)).status).toBe(204)

    expect((await admin.get('/snapshot')).body).toEqual(taken)
    const other = new EmulatorClient(emulator.url, String(second.body.token))
    expect((await other.get(`/edges/tls/${edge}`)).status).toBe(200)
    expect((await client.delete(`/reserved_domains/${domain}`)).status).toBe(409)
    expect((await client.post('/reserved_domains', { domain: 'app.tunnel.example' })).status).toBe(409)
    emulator.admin.advanceClock(5)
    expect(at((await client.get(`/reserved_domains/${domain}`)).body, 'certificate', 'id')).toMatch(/^cert_/)
  })

  it('dumps raw objects by account and collection', async () => {
    const id = await client.create('/ip_policies', { description: 'x' })
    const { body } = await admin.get('/snapshot')
    expect(at(body, 'accounts', emulator.account, 'objects', 'ip_policies')).toEqual([
      { id, created_at: expect.any(String), description: 'x', metadata: '' },
    ])
  })

  it('refuses a snapshot that it cannot read, and keeps what it has', async () => {
    const id = await client.create('/ip_policies')
    expect((await admin.post('/restore', { accounts: {}, tokens: 7 })).status).toBe(400)
    expect((await client.get(`/ip_policies/${id}`)).status).toBe(200)
  })

  it('starts over on reset, with the same key', async () => {
    await client.create('/ip_policies')
    emulator.admin.advanceClock(1000)
    emulator.admin.addFault({ match: { every: true }, act: { type: 'drop' } })
    expect((await admin.post('/reset', undefined)).status).toBe(204)
    expect((await client.get('/ip_policies')).body.ip_policies).toEqual([])
    expect(emulator.admin.journal()).toHaveLength(1)
    expect(Math.abs(emulator.admin.now() - Date.now())).toBeLessThan(60_000)
  })
})
