import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient
let admin: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator({ certSeconds: 5 })
  client = EmulatorClient.of(emulator)
  admin = new EmulatorClient(emulator.adminUrl, emulator.adminToken)
})
afterEach(() => emulator.close())

const destination = (): Promise<string> =>
  client.create('/event_destinations', { format: 'json', target: { monitor: { api_key: 'k' } } })

async function subscribe(types: readonly string[], destinations: readonly string[]): Promise<string> {
  const sources = types.map((type) => ({ type }))
  return client.create('/event_subscriptions', { sources, destination_ids: destinations })
}

async function deliveries(query = ''): Promise<Record<string, unknown>[]> {
  const { status, body } = await admin.get(`/deliveries${query}`)
  expect(status).toBe(200)
  return body.deliveries as Record<string, unknown>[]
}

describe('deliveries', () => {
  it('are shown by destination, by type, and page by page in their order', async () => {
    const [one, two] = [await destination(), await destination()]
    await subscribe(['ip_policy_created.v0', 'ip_policy_deleted.v0'], [one, two])
    const policies = [await client.create('/ip_policies'), await client.create('/ip_policies')]
    await client.delete(`/ip_policies/${policies[0]}`)
    expect(await deliveries()).toHaveLength(6)
    expect(await deliveries(`?destination=${one}`)).toHaveLength(3)
    const deleted = await deliveries(`?type=ip_policy_deleted.v0&destination=${two}`)
    expect(deleted.map((delivery) => at(delivery, 'event', 'object', 'id'))).toEqual([policies[0]])
    const first = await deliveries('?limit=4')
    const rest = await deliveries(`?limit=4&since=${String(first.at(-1)?.seq)}`)
    expect([...first, ...rest]).toEqual(await deliveries())
    expect((await admin.get('/deliveries?limit=x')).status).toBe(400)
  })

  it('are forgotten on request and on reset, and their numbers go on', async () => {
    await subscribe(['ip_policy_created.v0'], [await destination()])
    await client.create('/ip_policies')
    const [before] = await deliveries()
    expect((await admin.delete('/deliveries')).status).toBe(204)
    expect(await deliveries()).toEqual([])
    await client.create('/ip_policies')
    const [after] = await deliveries()
    expect(Number(after?.seq)).toBeGreaterThan(Number(before?.seq))
    await admin.post('/reset', {})
    expect(await deliveries()).toEqual([])
  })

  it('are not made for seeds, and are made by what a restored subscription routes', async () => {
    await subscribe(['ip_policy_created.v0'], [await destination()])
    const snapshot = emulator.admin.snapshot()
    emulator.admin.seed({ bulk: [{ collection: 'ip_policies', count: 3 }] })
    expect(await deliveries()).toEqual([])
    await client.create('/ip_policies')
    emulator.admin.restore(snapshot)
    expect(await deliveries()).toEqual([])
    await client.create('/ip_policies')
    expect(await deliveries()).toHaveLength(1)
  })

  it('of what falls due exist without a further request to the API', async () => {
    const to = await destination()
    await subscribe(['reserved_domain_updated.v0'], [to])
    const policy = { authority: 'letsencrypt' }
    await client.create('/reserved_domains', { domain: 'a.tunnel.example', certificate_management_policy: policy })
    await admin.post('/clock', { advanceSeconds: 10 })
    const [delivery] = emulator.admin.deliveries({ destination: to })
    expect(delivery?.event.object).toMatchObject({ uri: expect.stringContaining(emulator.url) })
  })

  it('are kept up to 10,000, and the newest of them', async () => {
    const destinations = await Promise.all(Array.from({ length: 100 }, destination))
    await subscribe(['ip_policy_updated.v0'], destinations)
    const policy = await client.create('/ip_policies')
    for (let turn = 1; turn <= 102; turn += 1) await client.patch(`/ip_policies/${policy}`, { description: `${turn}` })
    const kept = emulator.admin.deliveries({ limit: 20_000 })
    expect(kept).toHaveLength(10_000)
    expect(at(kept[0]?.event, 'object', 'description')).toBe('3')
    expect(at(kept.at(-1)?.event, 'object', 'description')).toBe('102')
    expect(await deliveries('?limit=20000')).toHaveLength(1000)
  })
})
