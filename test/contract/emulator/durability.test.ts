import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'

const KEY = 'key-for-the-durability-test'

let folder: string
let processes: EmulatorProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-emulator-'))
  processes = []
})

afterEach(async () => {
  await Promise.all(processes.map((process) => process.stop('SIGKILL')))
  await rm(folder, { recursive: true })
})

async function start(...flags: string[]): Promise<EmulatorProcess> {
  const process = await EmulatorProcess.start(['--data', join(folder, 'emulator.db'), ...flags])
  processes.push(process)
  return process
}

describe('the emulator with a data file', () => {
  it('keeps every answered write when it is killed in the middle of others', async () => {
    const first = await start('--api-key', KEY)
    const client = new EmulatorClient(first.url, KEY)
    const answered = new Set<string>()
    const enough = Promise.withResolvers<void>()
    const writers = Array.from({ length: 4 }, async () => {
      for (;;) {
        const answer = await client.post('/ip_policies', { description: 'kept' })
        answered.add(String(answer.body.id))
        if (answered.size === 150) enough.resolve()
      }
    })
    const ended = Promise.allSettled(writers)
    await enough.promise
    await first.stop('SIGKILL')
    await ended

    const second = await start('--api-key', KEY)
    const found = await idsOf(new EmulatorClient(second.url, KEY), '/ip_policies')
    expect([...answered].filter((id) => !found.includes(id))).toEqual([])
    expect(answered.size).toBeGreaterThanOrEqual(150)
  })

  it('keeps with every answered change the delivery that tells of it, and none of a change that was not made', async () => {
    const first = await start('--api-key', KEY, '--admin-token', 'admin')
    const client = new EmulatorClient(first.url, KEY)
    const target = { monitor: { api_key: 'k' } }
    const destination = await client.create('/event_destinations', { format: 'json', target })
    const sources = [{ type: 'ip_policy_created.v0' }]
    await client.create('/event_subscriptions', { sources, destination_ids: [destination] })
    const answered: string[] = []
    const enough = Promise.withResolvers<void>()
    const writers = Array.from({ length: 4 }, async () => {
      for (;;) {
        answered.push(await client.create('/ip_policies'))
        if (answered.length === 150) enough.resolve()
      }
    })
    const ended = Promise.allSettled(writers)
    await enough.promise
    await first.stop('SIGKILL')
    await ended

    const second = await start('--api-key', KEY, '--admin-token', 'admin')
    const admin = new EmulatorClient(`${second.url}/_emulator`, 'admin')
    const { deliveries } = (await admin.get('/deliveries?limit=1000')).body
    const told = Array.isArray(deliveries) ? deliveries.map((each) => at(each, 'event', 'object', 'id')) : []
    const found = await idsOf(new EmulatorClient(second.url, KEY), '/ip_policies')
    expect(told).toEqual(found.toReversed())
    expect(answered.filter((id) => !told.includes(id))).toEqual([])
  })

  it('continues with ids in order of creation, the clock and the DNS table after a restart', async () => {
    const first = await start('--api-key', KEY, '--admin-token', 'admin')
    const admin = new EmulatorClient(`${first.url}/_emulator`, 'admin')
    await admin.post('/clock', { advanceSeconds: 86_400 })
    await admin.call('PUT', '/dns', { name: 'a.example.com', type: 'CNAME', value: 'b.example.com' })
    const older = await new EmulatorClient(first.url, KEY).create('/ip_policies')
    await first.stop('SIGKILL')

    const second = await start('--api-key', KEY, '--admin-token', 'admin')
    const newer = await new EmulatorClient(second.url, KEY).create('/ip_policies')
    expect(newer > older).toBe(true)
    const clock = await new EmulatorClient(`${second.url}/_emulator`, 'admin').get('/clock')
    expect(Date.parse(String(clock.body.now)) - Date.now()).toBeGreaterThan(86_000_000)
    const dns = await new EmulatorClient(`${second.url}/_emulator`, 'admin').get('/dns')
    expect(dns.body.records).toEqual([{ name: 'a.example.com', type: 'CNAME', value: 'b.example.com' }])
  })

  it('ends with exit code 0 on SIGTERM', async () => {
    const process = await start('--api-key', KEY)
    expect(await process.stop('SIGTERM')).toBe(0)
  })

  it('prints the key and the admin token only when it made them up', async () => {
    const given = await start('--api-key', KEY, '--admin-token', 'admin')
    await given.stop('SIGTERM')
    expect(given.output).not.toContain(KEY)

    const generated = await start()
    await expect.poll(() => generated.output).toMatch(/admin surface: .* bearer token \S+/)
    const key = /API key: (\S+)/.exec(generated.output)?.[1] ?? ''
    expect((await new EmulatorClient(generated.url, key).get('/ip_policies')).status).toBe(200)
  })

  it('takes key and admin token from the environment, which other users do not see, and does not print them', async () => {
    const tokens = { CULVERT_EMULATOR_API_KEY: KEY, CULVERT_EMULATOR_ADMIN_TOKEN: 'admin-token' }
    const process = await EmulatorProcess.start([], undefined, tokens)
    processes.push(process)
    expect((await new EmulatorClient(process.url, KEY).get('/ip_policies')).status).toBe(200)
    expect((await new EmulatorClient(`${process.url}/_emulator`, 'admin-token').get('/dns')).status).toBe(200)
    await process.stop('SIGTERM')
    expect(process.output).not.toMatch(new RegExp(`${KEY}|admin-token`))
  })

  it('stores no token, only hashes', async () => {
    const process = await start('--api-key', KEY)
    const made = await new EmulatorClient(process.url, KEY).post('/api_keys', {})
    await process.stop('SIGTERM')
    const stored = await readFile(join(folder, 'emulator.db'), 'latin1')
    expect(stored).toContain(String(made.body.id))
    expect(stored).not.toContain(KEY)
    expect(stored).not.toContain(String(made.body.token))
  })
})

async function idsOf(client: EmulatorClient, path: string): Promise<string[]> {
  const ids: string[] = []
  for (let next: unknown = path; typeof next === 'string'; ) {
    const { body } = await client.get(next)
    const page = at(body, path.slice(1))
    ids.push(...(Array.isArray(page) ? page.map((object) => String(at(object, 'id'))) : []))
    next = body.next_page_uri
  }
  return ids
}
