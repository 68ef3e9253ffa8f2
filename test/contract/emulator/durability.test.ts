import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

const ENTRY = `
  import { emulatorCommand } from ${JSON.stringify(new URL('../../../src/cli/emulator.ts', import.meta.url).href)}
  await emulatorCommand().parseAsync(process.argv.slice(1), { from: 'user' })
`
const KEY = 'key-for-the-durability-test'

let folder: string
let processes: ChildProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-emulator-'))
  processes = []
})

afterEach(async () => {
  await Promise.all(processes.map((child) => stop(child, 'SIGKILL')))
  await rm(folder, { recursive: true })
})

/** Starts the command in a process of its own and resolves with the address it prints. */
async function start(...flags: string[]): Promise<{ child: ChildProcess; url: string; output: () => string }> {
  const data = join(folder, 'emulator.db')
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', ENTRY, '--', '--listen', '127.0.0.1:0', '--data', data, ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  processes.push(child)
  const lines: string[] = []
  const errors: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  const url = await new Promise<string>((resolve, reject) => {
    if (child.stdout === null) throw new Error('the child has no output')
    child.once('exit', () => reject(new Error(`the emulator ended: ${errors.join('')}`)))
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      const address = /^emulator listening on (\S+)$/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
    })
  })
  return { child, url, output: () => lines.join('\n') }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
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
    await stop(first.child, 'SIGKILL')
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
    await stop(first.child, 'SIGKILL')
    await ended

    const second = await start('--api-key', KEY, '--admin-token', 'admin')
    const admin = new EmulatorClient(`${second.url}/_emulator`, 'admin')
    const { deliveries } = (await admin.get('/deliveries?limit=1000')).body
    const told = Array.isArray(deliveries) ? deliveries.map((each) => at(each, 'event', 'object', 'id')) : []
    const found = await idsOf(new EmulatorClient(second.url, KEY), '/ip_policies')
    expect(told).toEqual(found.toReversed())
    expect(answered.filter((id) => !told.includes(id))).toEqual([])
  })

  it('goes on with ids in order of creation, the clock and the DNS table after a restart', async () => {
    const first = await start('--api-key', KEY, '--admin-token', 'admin')
    const admin = new EmulatorClient(`${first.url}/_emulator`, 'admin')
    await admin.post('/clock', { advanceSeconds: 86_400 })
    await admin.call('PUT', '/dns', { name: 'a.example.com', type: 'CNAME', value: 'b.example.com' })
    const older = await new EmulatorClient(first.url, KEY).create('/ip_policies')
    await stop(first.child, 'SIGKILL')

    const second = await start('--api-key', KEY, '--admin-token', 'admin')
    const newer = await new EmulatorClient(second.url, KEY).create('/ip_policies')
    expect(newer > older).toBe(true)
    const clock = await new EmulatorClient(`${second.url}/_emulator`, 'admin').get('/clock')
    expect(Date.parse(String(clock.body.now)) - Date.now()).toBeGreaterThan(86_000_000)
    const dns = await new EmulatorClient(`${second.url}/_emulator`, 'admin').get('/dns')
    expect(dns.body.records).toEqual([{ name: 'a.example.com', type: 'CNAME', value: 'b.example.com' }])
  })

  it('ends with exit code 0 on SIGTERM', async () => {
    const { child } = await start('--api-key', KEY)
    expect(await stop(child, 'SIGTERM')).toBe(0)
  })

  it('prints the key and the admin token only when it made them up', async () => {
    const given = await start('--api-key', KEY, '--admin-token', 'admin')
    await stop(given.child, 'SIGTERM')
    expect(given.output()).not.toContain(KEY)

    const generated = await start()
    await expect.poll(generated.output).toMatch(/admin surface: .* bearer token \S+/)
    const key = /API key: (\S+)/.exec(generated.output())?.[1] ?? ''
    expect((await new EmulatorClient(generated.url, key).get('/ip_policies')).status).toBe(200)
  })

  it('stores no token, only hashes', async () => {
    const { child, url } = await start('--api-key', KEY)
    const made = await new EmulatorClient(url, KEY).post('/api_keys', {})
    await stop(child, 'SIGTERM')
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
