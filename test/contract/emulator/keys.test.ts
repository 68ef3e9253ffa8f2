import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

let emulator: Emulator
let client: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
})

afterEach(() => emulator.close())

describe('API keys', () => {
  it('show their token in the answer to the create only, and work until they are deleted', async () => {
    const made = await client.post('/api_keys', { description: 'ci' })
    expect(made.status).toBe(201)
    const mine = new EmulatorClient(emulator.url, String(made.body.token))
    const id = String(made.body.id)
    expect((await mine.get(`/api_keys/${id}`)).body.token).toBeNull()
    expect((await mine.patch(`/api_keys/${id}`, { description: 'cd' })).body).toMatchObject({
      token: null,
      description: 'cd',
    })
    expect((await mine.delete(`/api_keys/${id}`)).status).toBe(204)
    expect((await mine.get('/api_keys')).status).toBe(401)
  })

  it('may be given to another owner by an admin only', async () => {
    const { objects } = emulator.admin.seed({ objects: { users: [{ name: 'plain' }] } })
    const plain = String(objects.users?.[0])
    const made = await client.post('/api_keys', { owner_id: plain })
    expect(made.body.owner_id).toBe(plain)
    const theirs = new EmulatorClient(emulator.url, String(made.body.token))
    expect((await theirs.post('/api_keys', { owner_id: plain })).status).toBe(201)
    expect((await theirs.post('/api_keys', {})).body.owner_id).toBe(plain)
    const admin = (await client.post('/api_keys', {})).body.owner_id
    expect((await theirs.post('/api_keys', { owner_id: admin })).status).toBe(403)
    expect((await client.post('/api_keys', { owner_id: 'usr_nobody' })).status).toBe(400)
  })

  it('held up by a fault while they are deleted are refused afterwards', async () => {
    const made = await client.post('/api_keys', {})
    const { id } = emulator.admin.addFault({ match: { path: '/ip_policies' }, act: { type: 'hang' } })
    const answer = new EmulatorClient(emulator.url, String(made.body.token)).post('/ip_policies', {})
    await emulator.admin.waitForFault(id)
    await client.delete(`/api_keys/${String(made.body.id)}`)
    emulator.admin.deleteFault(id)
    expect((await answer).status).toBe(401)
  })

  it('are refused alike whatever is wrong with the token', async () => {
    const answers = []
    for (const authorization of [undefined, 'Basic eDp5', 'Bearer', 'Bearer unknown']) {
      const { status, body } = await client.get('/ip_policies', { headers: { authorization } })
      answers.push(JSON.stringify([status, body.error_code, body.msg]))
    }
    expect(new Set(answers).size).toBe(1)
  })
})

describe('the rate limit', () => {
  it('answers 429 with Retry-After per key, and lets requests through again as time passes', async () => {
    const clock = new FakeClock()
    const limited = await startEmulator({ rateLimit: { requests: 3, periodMs: 60_000 }, clock })
    const first = EmulatorClient.of(limited)
    const { apiKeys } = limited.admin.seed({ apiKeys: [{}] })
    const second = new EmulatorClient(limited.url, String(apiKeys[0]?.token))
    for (let call = 0; call < 3; call += 1) expect((await first.get('/ip_policies')).status).toBe(200)
    const refused = await first.get('/ip_policies')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('20')
    expect((await second.get('/ip_policies')).status).toBe(200)
    await clock.advance(20_000)
    expect((await first.get('/ip_policies')).status).toBe(200)
    expect((await first.get('/ip_policies')).status).toBe(429)
    await limited.close()
  })
})

describe('latency', () => {
  it('holds up each request by the time set, before it is processed', async () => {
    const clock = new FakeClock()
    const slow = await startEmulator({ latencyMs: 200, clock })
    const answer = EmulatorClient.of(slow).post('/ip_policies', {})
    await clock.untilTimers()
    expect(clock.nextTimerIn).toBe(200)
    expect(slow.admin.journal()[0]?.status).toBeNull()
    await clock.advance(200)
    expect((await answer).status).toBe(201)
    await slow.close()
    await slow.close()
  })
})

describe('the version header', () => {
  it('may have further names, compared without case', async () => {
    const other = await startEmulator({ versionHeaders: ['X-Api-Version'] })
    const caller = EmulatorClient.of(other)
    const status = async (headers: Record<string, string | undefined>): Promise<number> =>
      (await caller.get('/ip_policies', { headers })).status
    expect(await status({ 'service-version': undefined, 'x-api-version': '2' })).toBe(200)
    expect(await status({})).toBe(200)
    expect(await status({ 'service-version': undefined, 'x-api-version': '1' })).toBe(400)
    expect(await status({ 'service-version': undefined })).toBe(400)
    await other.close()
  })
})
