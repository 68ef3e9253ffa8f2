import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { selfSigned } from '../../builders/certificate.ts'
import { BODY_TEXT, text } from '../../builders/hostile-answers.ts'
import { type Front, HostileAPI } from '../../builders/hostile-api.ts'
import { startServer, type TestServer } from '../../builders/http-server.ts'
import { until } from '../../cluster/support/wait.ts'
import { type Resource, World } from '../../cluster/support/world.ts'
import { AFFECTS, type HostileCase, hostileCases } from './hostile-api-cases.ts'

/**
 * The chart's memory limit for the operator: a hundred accounts, a dozen of them hostile at the same time, must fit.
 */
const MEMORY_LIMIT = 512 * 1024 * 1024
/** The heap size that Node chooses in a container with that limit. */
const HEAP_MIB = 259
const PATIENCE_MS = 150_000
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** Must receive nothing. Redirects and pages name it, so it is started before the cases are built. */
const elsewhere: TestServer = await startServer((_, response) => response.writeHead(200).end('{}'))
const cases = hostileCases(elsewhere.url)

let world: World
let hostile: HostileAPI
let hostileTLS: HostileAPI
let memoryAtStart: number
const emulators: Emulator[] = []
const keys: string[] = []
const wrong = selfSigned()

beforeAll(async () => {
  hostile = await HostileAPI.start()
  hostileTLS = await HostileAPI.start(wrong)
  world = await World.open({
    flags: [hostile.host, hostileTLS.host].flatMap((host) => ['--allow-api-host', host]),
    account: { rateLimit: { requestsPerMinute: 6000 } },
    nodeFlags: [`--max-heap-size=${HEAP_MIB}`],
  })
  await world.apply('Backend', 'before', tunnels)
  await world.ready('Backend', 'before')
  // Writing 5 here resets the peak that Linux keeps.
  await writeFile(`/proc/${world.operator.pid}/clear_refs`, '5')
  memoryAtStart = await memory('VmRSS')
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
  for (const server of [hostile, hostileTLS]) await server[Symbol.asyncDispose]()
  await elsewhere.close()
  await Promise.all(emulators.map((emulator) => emulator.close()))
})

/** Memory of the operator in bytes: current (`VmRSS`) or peak (`VmHWM`). */
async function memory(line: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${world.operator.pid}/status`, 'utf8')
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

/** An account of its own, with an emulator behind the hostile API. */
async function account(front: Front, name: string, key: string, more: Record<string, unknown> = {}): Promise<void> {
  keys.push(key)
  await world.secret(`key-${name}`, { apiKey: key })
  await world.apply('Account', name, accountSpec(front, name, more))
}

function accountSpec(front: Front, name: string, more: Record<string, unknown>): Record<string, unknown> {
  return { baseURL: front.baseURL, apiKeySecretRef: { name: `key-${name}` }, resyncInterval: '10m', ...more }
}

async function emulator(): Promise<Emulator> {
  const started = await startEmulator({ listen: '127.0.0.1:0' })
  emulators.push(started)
  return started
}

/** The message of the condition that reports the fault. */
function complaint(cr: Resource, says: RegExp): string | undefined {
  return cr.status?.conditions?.find(({ message }) => says.test(message))?.message
}

/** Waits until a condition of the CR reports it, and checks that no message contains what it must not. */
async function complains(kind: string, name: string, says: RegExp): Promise<string> {
  const cr = await world.until(kind, name, `says ${says}`, (seen) => complaint(seen, says) !== undefined, PATIENCE_MS)
  const message = complaint(cr, says) ?? ''
  expect(message.length).toBeLessThan(1024)
  for (const secret of [BODY_TEXT, elsewhere.url, ...keys]) expect(message).not.toContain(secret)
  return message
}

/** A failed read stays in the status only until the next one, which may come within a second; the log keeps it. */
async function logged(name: string, says: RegExp): Promise<string> {
  const look = (): string | undefined => {
    const lines = world.operator.log.split('\n').filter((line) => line.includes(`"name":"${name}"`))
    return lines.map((line) => String(JSON.parse(line).err?.message ?? '')).find((message) => says.test(message))
  }
  const describe = async (): Promise<unknown> => {
    return { log: world.operator.log.split('\n').slice(-40), cr: await world.get('Backend', name) }
  }
  return until(`the log says ${says} of ${name}`, look, { timeoutMs: PATIENCE_MS, describe })
}

/** Creates and changes resources of a working account while the other account fails. */
async function othersWork(name: string): Promise<void> {
  await world.apply('Backend', `${name}-beside`, tunnels)
  await world.ready('Backend', `${name}-beside`, PATIENCE_MS)
}

async function doHarm({ place, harm, says, again, perMinute = 100 }: HostileCase): Promise<string> {
  const name = `h-${randomBytes(4).toString('hex')}`
  const api = await emulator()
  const front = hostile.front(name, { target: api.url, affects: AFFECTS[place], harm })
  front.hostile = place !== 'object'
  // Applied before the account, which lists only collections in use: an account without resources is verified with
  // another list.
  await world.apply('Backend', name, { ...tunnels, accountRef: { name } })
  await account(front, name, api.apiKey)
  if (place === 'object') {
    await world.ready('Backend', name, PATIENCE_MS)
    front.hostile = true
    await recheck(name)
  }
  // A failed read is not repeated on its own: what was known before still holds.
  const [kind, least] = { list: ['Account', 3], create: ['Backend', 2], object: ['Backend', 1] }[place] as [
    string,
    number,
  ]
  let message = 'nothing is wrong'
  if (says === undefined) {
    await until('harm was done', () => front.harmed >= 1, { timeoutMs: PATIENCE_MS })
  } else {
    message = place === 'object' ? await logged(name, says) : await complains(kind, name, says)
    // The next attempt ends in the same way, with the same message.
    const redone = again === undefined ? least : 1
    await until('harm was done again', () => front.harmed >= redone, { timeoutMs: PATIENCE_MS })
    if (redone > 1) expect(await complains(kind, name, says)).toBe(message)
  }
  await othersWork(name)
  const busiest = front.busiestMinute
  const { harmed } = front
  front.hostile = false
  if (again === 'asked') await recheck(name)
  if (again !== 'held') await world.ready('Backend', name, PATIENCE_MS)
  else expect(harmed).toBe(1)
  expect(harmed).toBeGreaterThan(0)
  expect(busiest, 'requests in a minute').toBeLessThanOrEqual(perMinute)
  return `${message} | ${harmed} answers harmed, ${busiest} requests in a minute`
}

async function recheck(name: string): Promise<void> {
  const value = randomBytes(6).toString('hex')
  await world.annotate('Backend', name, { 'culvert.dev/reconcile-requested-at': value })
}

describe.concurrent('an API that answers', () => {
  test.for(cases.map((each) => [`to a ${each.place}: ${each.what}`, each] as const))('%s', async ([name, each]) => {
    const result = await doHarm(each)
    console.log(`${name}: ${result}; peak so far ${mebibytes(await memory('VmHWM'))}`)
  })

  test('with an untrusted certificate', async () => {
    const right = selfSigned()
    const api = await emulator()
    const front = hostileTLS.front('tls', { target: api.url, affects: () => false, harm: text('') })
    await account(front, 'tls', api.apiKey, { caBundle: right.cert })
    await world.apply('Backend', 'tls', { ...tunnels, accountRef: { name: 'tls' } })
    await complains('Account', 'tls', /the server's certificate is not trusted/)
    expect(front.requestTimes).toEqual([])
    await othersWork('tls')
    hostileTLS.show(right)
    await world.ready('Backend', 'tls', PATIENCE_MS)
  })
})

test('has not made the operator grow, send more requests or break a promise', async () => {
  const peak = await memory('VmHWM')
  console.log(`memory: ${mebibytes(memoryAtStart)} at the start, ${mebibytes(peak)} at the peak, ${cases.length} cases`)
  expect(peak).toBeLessThan(MEMORY_LIMIT)
  expect(elsewhere.requests).toEqual([])
  const { log } = world.operator
  for (const secret of [BODY_TEXT, ...keys]) expect(log).not.toContain(secret)
  const unexpected = log.split('\n').filter((line) => /TypeError|RangeError|OperatorError|unhandled/i.test(line))
  expect(unexpected).toEqual([])
  expect((await world.operator.ask('/healthz')).status).toBe(200)
  expect(await world.operator.stop()).toBe(0)
})
