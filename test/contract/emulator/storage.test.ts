import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { Store } from '../../../src/emulator/store/emulator-store.ts'
import { type Answer, at, EmulatorClient } from '../../builders/emulator-client.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'

const KEY = 'key-for-the-storage-test'
/** Part of util-linux: changes a limit of a running process. */
const PRLIMIT = 'prlimit'

let folder: string
let data: string
let processes: EmulatorProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-storage-'))
  data = join(folder, 'emulator.db')
  processes = []
})

afterEach(async () => {
  await Promise.all(processes.map((process) => process.stop('SIGKILL')))
  await rm(folder, { recursive: true, force: true })
})

async function start(fileBlocks?: number): Promise<{ process: EmulatorProcess; client: EmulatorClient }> {
  const process = await EmulatorProcess.start(['--api-key', KEY, '--data', data], fileBlocks)
  processes.push(process)
  return { process, client: new EmulatorClient(process.url, KEY) }
}

/** A data file with that many policies. */
async function fill(policies: number): Promise<void> {
  const emulator = await startEmulator({ data, apiKey: KEY })
  const client = EmulatorClient.of(emulator)
  for (let made = 0; made < policies; made++) await client.create('/ip_policies', { metadata: 'x'.repeat(2000) })
  await emulator.close()
}

/** Creates a policy with a rule; resolves to the refusal if either was refused. */
async function makePolicyWithRule(client: EmulatorClient, made: string[]): Promise<Answer | undefined> {
  const policy = await client.post('/ip_policies', { metadata: 'x'.repeat(4000) })
  if (policy.status !== 201) return policy
  const rule = await client.post('/ip_policy_rules', {
    ip_policy_id: policy.body.id,
    cidr: '10.0.0.0/8',
    action: 'allow',
  })
  made.push(String(policy.body.id))
  if (rule.status !== 201) return rule
  made.push(String(rule.body.id))
  return undefined
}

async function ids(client: EmulatorClient, collection: string): Promise<string[]> {
  const found: string[] = []
  for (let next: unknown = `/${collection}`; typeof next === 'string'; ) {
    const { status, body } = await client.get(next)
    expect(status).toBe(200)
    const list = at(body, collection)
    found.push(...(Array.isArray(list) ? list.map((object) => String(at(object, 'id'))) : []))
    next = body.next_page_uri
  }
  return found
}

describe('a disk that is full', () => {
  it('answers 503 in words, undoes what was under way, and goes on where there is room again', async () => {
    const first = await start(400)
    const made: string[] = []
    let refusal: Answer | undefined
    while (refusal === undefined) refusal = await makePolicyWithRule(first.client, made)
    expect(refusal.status).toBe(503)
    expect(refusal.body).toMatchObject({ error_code: 'ERR_9004', status_code: 503 })
    expect(refusal.body.msg).toMatch(/^the data file cannot .*; nothing was changed$/)
    expect(made.length).toBeGreaterThan(10)
    // Acknowledged objects are always readable, and no others exist.
    const all = async (client: EmulatorClient): Promise<Set<string>> => {
      return new Set([...(await ids(client, 'ip_policies')), ...(await ids(client, 'ip_policy_rules'))])
    }
    for (let again = 0; again < 5; again++) {
      expect((await first.client.post('/ip_policies', { metadata: 'x'.repeat(4000) })).status).toBe(503)
    }
    expect(await all(first.client)).toEqual(new Set(made))

    const limits = spawn(PRLIMIT, ['--fsize=unlimited', '--pid', String(first.process.child.pid)])
    expect((await once(limits, 'exit'))[0]).toBe(0)
    expect(await makePolicyWithRule(first.client, made)).toBeUndefined()
    await first.process.stop('SIGKILL')
    const second = await start()
    expect(await all(second.client)).toEqual(new Set(made))
  })

  it('leaves nothing of a transaction that outgrew the file, and takes the next one that fits', () => {
    const store = new Store(data, () => 0)
    const object = (id: string, size: number) => ({ id, created_at: 'now', metadata: 'x'.repeat(size) })
    store.put('a', 'ip_policies', object('kept', 10))
    store.database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    store.database.exec(`PRAGMA max_page_count = ${pages(store) + 2}`)
    const work = (): void => {
      store.put('a', 'ip_policies', object('half', 10))
      store.setClaims('a', 'half', [{ scope: 's', value: 'v' }])
      store.put('a', 'ip_policies', object('large', 100_000))
    }
    expect(() => store.transaction(work)).toThrow(expect.objectContaining({ name: 'StorageError', code: 'full' }))
    expect(store.get('a', 'ip_policies', 'half')).toBeUndefined()
    expect(store.claimant({ scope: 's', value: 'v' })).toBeUndefined()
    expect(store.changes.differencesSince('a', 'ip_policies', -1).has('half')).toBe(false)
    store.database.exec('PRAGMA max_page_count = 100000')
    store.transaction(work)
    expect(store.get('a', 'ip_policies', 'large')?.id).toBe('large')
    expect(store.get('a', 'ip_policies', 'kept')?.id).toBe('kept')
    store.close()
  })

  it('leaves the time as it was when it cannot be noted', { tags: 'nightly' }, async () => {
    const emulator = await startEmulator({ data, apiKey: KEY })
    const other = new DatabaseSync(data)
    other.exec('BEGIN IMMEDIATE')
    const admin = new EmulatorClient(emulator.adminUrl, emulator.adminToken)
    const refusal = await admin.post('/clock', { advanceSeconds: 86_400 })
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR_9004' } })
    expect(refusal.body.msg).toContain('another process has locked the data file')
    other.exec('ROLLBACK')
    other.close()
    const clock = await admin.get('/clock')
    expect(Date.parse(String(clock.body.now)) - Date.now()).toBeLessThan(3_600_000)
    await emulator.close()
  })
})

function pages(store: Store): number {
  return Number(store.database.prepare('PRAGMA page_count').get()?.page_count)
}

describe('a data file that cannot be used', () => {
  it.each([
    ['cut short', () => truncate(data, 20_000), 'is damaged'],
    ['with garbage for a header', () => overwrite(0, 100), 'is damaged'],
    [
      'with garbage in its middle',
      async () => overwrite(Math.floor((await stat(data)).size / 8192) * 4096, 4096),
      'is damaged',
    ],
    ['that is text', () => writeFile(data, 'no database at all, '.repeat(1000)), 'is damaged'],
    ['of another program, by its id', () => change('PRAGMA application_id = 77'), 'a database of another program'],
    ['of another program, by its tables', () => foreign(), 'a database of another program'],
  ])('%s is refused at the start, and left as it is', async (_, harm, words) => {
    await fill(60)
    await harm()
    const before = await readFile(data)
    const failure = await start().then(String, (error: Error) => error.message)
    expect(failure).toMatch(/^the emulator ended with exit code 1: emulator: --data /)
    expect(failure).toContain(data)
    expect(failure).toContain(words)
    expect(failure.trim().split('\n')).toHaveLength(1)
    expect((await readFile(data)).equals(before)).toBe(true)
  })

  it('that another process has locked is refused at the start, and opened when it is let go', async () => {
    await fill(3)
    const other = new DatabaseSync(data)
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    await expect(start()).rejects.toThrow(/--data .*: another process has locked the data file/)
    other.close()
    expect(await ids((await start()).client, 'ip_policies')).toHaveLength(3)
  })

  it('in a folder that is not there, or is no folder, is refused at the start', async () => {
    data = join(folder, 'missing', 'emulator.db')
    await expect(start()).rejects.toThrow(/--data .*missing.*: the data file cannot be read or written/)
    await writeFile(join(folder, 'file'), '')
    data = join(folder, 'file', 'emulator.db')
    await expect(start()).rejects.toThrow(/--data .*: the data file cannot be read or written/)
  })

  it('that is damaged while it is in use brings 503, not the end, and is refused at the next start', async () => {
    await fill(200)
    const { process, client } = await start()
    await overwrite(8192, (await stat(data)).size - 8192)
    const { status, body } = await client.get('/ip_policies')
    expect(status).toBe(503)
    expect(body.msg).toContain('the data file is damaged')
    // An object requested by its id may still be in memory: either answer is possible.
    expect([201, 503]).toContain((await client.post('/ip_policies', {})).status)
    expect(process.child.exitCode).toBeNull()
    await process.stop('SIGKILL')
    await expect(start()).rejects.toThrow('is damaged')
  })

  it('of a version that wrote no id into it is taken, and a copy of it too', async () => {
    await fill(3)
    change('PRAGMA application_id = 0')
    await copyFile(data, `${data}.copy`)
    data = `${data}.copy`
    expect(await ids((await start()).client, 'ip_policies')).toHaveLength(3)
  })
})

function change(sql: string): void {
  const database = new DatabaseSync(data)
  database.exec(sql)
  database.close()
}

async function foreign(): Promise<void> {
  await rm(data)
  change('CREATE TABLE notes (text TEXT)')
}

async function overwrite(from: number, length: number): Promise<void> {
  const file = await open(data, 'r+')
  await file.write(Buffer.alloc(length, 0xa5), 0, length, from)
  await file.close()
}
