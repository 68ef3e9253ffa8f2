import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
})

afterEach(() => emulator.close())

const status = async (): Promise<number> => (await client.get('/reserved_addrs')).status
const enforced = (policies: readonly string[]) => ({ type: 'api', enforced: true, ip_policy_ids: [...policies] })
/** A fixed id, so that objects of one seed can refer to each other. */
const given = (prefix: string, digit: number): string => `${prefix}_${String(digit).repeat(27)}`

describe('what is kept of restrictions to judge requests by', () => {
  it('follows seeds, restores and resets', async () => {
    expect(await status()).toBe(200)
    const before = emulator.admin.snapshot()
    emulator.admin.seed({ objects: { ip_restrictions: [enforced([])] } })
    expect(await status()).toBe(403)
    const locked = emulator.admin.snapshot()
    emulator.admin.restore(before)
    expect(await status()).toBe(200)
    emulator.admin.restore(locked)
    expect(await status()).toBe(403)
    emulator.admin.reset()
    expect(await status()).toBe(200)
  })

  it('forgets what a refused seed had put in', async () => {
    const nonsense = { ip_restrictions: [enforced([]), { type: 'nonsense' }] }
    expect(() => emulator.admin.seed({ objects: nonsense })).toThrow(expect.objectContaining({ code: 'invalidField' }))
    expect(await status()).toBe(200)
  })

  it('is read anew where a snapshot brings it', async () => {
    const policy = given('ipp', 1)
    emulator.admin.seed({
      objects: {
        ip_policies: [{ id: policy }],
        ip_policy_rules: [{ ip_policy_id: policy, cidr: '127.0.0.0/8', action: 'allow' }],
        ip_restrictions: [enforced([policy])],
      },
    })
    const snapshot = emulator.admin.snapshot()
    const other = await startEmulator({ apiKey: emulator.apiKey })
    other.admin.restore(snapshot)
    expect((await EmulatorClient.of(other).get('/reserved_addrs')).status).toBe(200)
    const rules = (await EmulatorClient.of(other).get('/ip_policy_rules')).body.ip_policy_rules as { id: string }[]
    expect((await EmulatorClient.of(other).delete(`/ip_policy_rules/${rules[0]?.id}`)).status).toBe(204)
    expect((await EmulatorClient.of(other).get('/reserved_addrs')).status).toBe(403)
    await other.close()
  })
})

it('a request that was held up is judged by the restrictions of the time it is carried out', async () => {
  const { id } = emulator.admin.addFault({
    match: { method: 'POST', path: '/ip_policies' },
    act: { type: 'hang', when: 'before' },
  })
  const held = client.post('/ip_policies', { description: 'held' })
  expect((await emulator.admin.waitForFault(id)).hits).toBe(1)
  const restriction = emulator.admin.seed({ objects: { ip_restrictions: [enforced([])] } })
  emulator.admin.releaseFault(id)
  const answer = await held
  expect([answer.status, answer.body.error_code]).toEqual([403, 'ERR_2005'])
  expect(answer.body.details).toMatchObject({ ids: restriction.objects.ip_restrictions?.[0], address: '127.0.0.1' })
})

it('a request that is refused for its source costs nothing of the rate limit', async () => {
  const limited = await startEmulator({ rateLimit: { requests: 2, periodMs: 3_600_000 }, trustForwardedFor: true })
  const caller = EmulatorClient.of(limited)
  const policy = given('ipp', 1)
  limited.admin.seed({
    objects: {
      ip_policies: [{ id: policy }],
      ip_policy_rules: [{ ip_policy_id: policy, cidr: '192.0.2.0/24', action: 'allow' }],
      ip_restrictions: [enforced([policy])],
    },
  })
  const from = async (address: string): Promise<number> =>
    (await caller.get('/reserved_addrs', { headers: { 'x-forwarded-for': address } })).status
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await from('198.51.100.1')).toBe(403)
  expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([200, 200, 429])
  await limited.close()
})
