import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource, World } from '../../cluster/support/world.ts'
import { Tenant } from '../support/tenant.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const path = '/backends/tunnel_group'

/**
 * Two tenants, each with its own emulator, and the operator that serves both. The world's own namespace and account are
 * unused.
 */
class Neighbours implements AsyncDisposable {
  readonly world: World
  readonly noisy: Tenant
  readonly quiet: Tenant
  readonly noisyApi: Emulator
  readonly quietApi: Emulator

  private constructor(world: World, tenants: readonly [Tenant, Tenant], apis: readonly [Emulator, Emulator]) {
    this.world = world
    ;[this.noisy, this.quiet] = tenants
    ;[this.noisyApi, this.quietApi] = apis
  }

  static async open(): Promise<Neighbours> {
    const noisyApi = await startEmulator({ listen: '127.0.0.1:0' })
    const quietApi = await startEmulator({ listen: '127.0.0.1:0' })
    const flags = [noisyApi, quietApi].flatMap(({ url }) => ['--allow-api-host', new URL(url).host])
    const world = await World.open({ watch: 'cluster', flags })
    const noisy = await Tenant.create(world, 'noisy')
    const quiet = await Tenant.create(world, 'quiet')
    await quiet.account(quietApi.url, quietApi.apiKey)
    await quiet.ready('Account', 'default')
    return new Neighbours(world, [noisy, quiet], [noisyApi, quietApi])
  }

  /** Creates a Backend of the quiet tenant; resolves to the time until it was Ready. */
  async quietBackend(name: string): Promise<number> {
    const began = performance.now()
    await this.quiet.apply('Backend', name, tunnels)
    await this.quiet.ready('Backend', name)
    return performance.now() - began
  }

  /** Median of several, created one after the other. */
  async quietTime(prefix: string): Promise<number> {
    const times: number[] = []
    for (let each = 0; each < 5; each++) times.push(await this.quietBackend(`${prefix}-${each}`))
    return times.toSorted((left, right) => left - right)[2] ?? 0
  }

  /** Time until the first Account of another tenant is Ready. */
  async newcomer(): Promise<number> {
    const tenant = await Tenant.create(this.world, 'newcomer')
    try {
      const began = performance.now()
      await tenant.account(this.quietApi.url, this.quietApi.apiKey)
      await tenant.ready('Account', 'default', 30_000)
      return performance.now() - began
    } finally {
      await tenant.release(['Account'])
    }
  }

  /** Number of Backends of the noisy tenant that have not been reconciled yet. */
  async waiting(): Promise<number> {
    return (await this.noisy.list('Backend')).filter(isNew).length
  }

  /** Peak of the operator's resident memory, in MiB. */
  async peakMiB(): Promise<number> {
    const status = await readFile(`/proc/${this.world.operator.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.operator.kill()
    await this.noisy.release(['Account', 'Backend'])
    await this.quiet.release(['Account', 'Backend'])
    await this.world[Symbol.asyncDispose]()
    await this.noisyApi.close()
    await this.quietApi.close()
  }
}

/**
 * Whether no reconcile has finished yet: conditions may say that the resource is waiting, but none has an
 * observedGeneration.
 */
function isNew({ status }: Resource): boolean {
  return (status?.observedGeneration ?? -1) === -1
}

function ratio(noisy: number, alone: number): string {
  return `${Math.round(alone)} ms alone, ${Math.round(noisy)} ms next to the noise: ${(noisy / alone).toFixed(1)} times`
}

test('5,000 broken resources of one tenant do not delay another tenant', { timeout: 900_000 }, async () => {
  await using neighbours = await Neighbours.open()
  const { noisy, noisyApi, world } = neighbours
  const alone = await neighbours.quietTime('alone')
  await noisy.account(noisyApi.url, noisyApi.apiKey)
  noisyApi.admin.addFault({ match: { method: 'POST', path, every: true }, act: { type: 'status', status: 400 } })
  await world.operator.stop()
  // The API refuses half of them; the other half refer to objects that do not exist.
  const missing = { type: 'Failover', failover: { backendRefs: [{ name: 'missing' }] } }
  await noisy.applyMany(
    5000,
    (index) => `broken-${index}`,
    (index) => (index % 2 === 0 ? tunnels : missing),
  )
  await world.startOperator()
  const crowded = await neighbours.quietTime('crowded')
  const left = await neighbours.waiting()
  console.info(
    `broken: ${ratio(crowded, alone)}; ${left} of 5,000 not yet looked at; ${Math.round(await neighbours.peakMiB())} MiB`,
  )
  expect(left).toBeGreaterThan(1000)
})

test('10,000 resources applied at once fit into memory and delay neither another tenant nor an edit', {
  timeout: 1_200_000,
}, async () => {
  await using neighbours = await Neighbours.open()
  const { noisy, noisyApi, world } = neighbours
  const alone = await neighbours.quietTime('alone')
  await noisy.account(noisyApi.url, noisyApi.apiKey)
  await noisy.apply('Backend', 'at-work', tunnels)
  await noisy.ready('Backend', 'at-work')
  await world.operator.stop()
  await noisy.applyMany(
    10_000,
    (index) => `many-${index}`,
    () => tunnels,
  )
  await world.startOperator()
  const crowded = await neighbours.quietTime('crowded')
  await noisy.apply('Backend', 'at-work', { ...tunnels, description: 'edited' })
  const edited = await noisy.ready('Backend', 'at-work')
  const left = await neighbours.waiting()
  const peak = await neighbours.peakMiB()
  console.info(
    `many: ${ratio(crowded, alone)}; an edit ${Math.round(edited)} ms; ${left} of 10,000 not yet looked at; peak ${Math.round(peak)} MiB`,
  )
  expect(left).toBeGreaterThan(1000)
  expect(peak).toBeLessThan(1024)
})

test('an account whose API hangs under many names does not delay another account', { timeout: 900_000 }, async () => {
  await using neighbours = await Neighbours.open()
  const { noisy, noisyApi } = neighbours
  const alone = await neighbours.quietTime('alone')
  const accounts = Array.from({ length: 12 }, (_, index) => `hanging-${index}`)
  // Each is accepted before the API hangs.
  for (const name of accounts) await noisy.account(noisyApi.url, noisyApi.apiKey, { name, resyncInterval: '1s' })
  for (const name of accounts) await noisy.ready('Account', name)
  const fault = noisyApi.admin.addFault({ match: { every: true }, act: { type: 'hang' } })
  await noisy.applyMany(
    600,
    (index) => `hanging-${index}`,
    (index) => ({ ...tunnels, accountRef: { name: accounts[index % accounts.length] } }),
  )
  await noisyApi.admin.waitForFault(fault.id, 12, 60_000)
  const crowded = await neighbours.quietTime('crowded')
  const newcomer = await neighbours.newcomer()
  console.info(`hanging: ${ratio(crowded, alone)}; a new Account is Ready after ${Math.round(newcomer)} ms`)
  const ready = (await noisy.list('Backend')).filter((cr) => conditionOf(cr, 'Ready')?.status === 'True')
  expect(ready).toEqual([])
  noisyApi.admin.deleteFault(fault.id)
})

test('accounts limited to one request a minute do not delay another account', {
  timeout: 900_000,
}, async () => {
  await using neighbours = await Neighbours.open()
  const { noisy, noisyApi } = neighbours
  const alone = await neighbours.quietTime('alone')
  const accounts = Array.from({ length: 12 }, (_, index) => `slow-${index}`)
  const rateLimit = { requestsPerMinute: 1, burst: 1 }
  for (const name of accounts) await noisy.account(noisyApi.url, noisyApi.apiKey, { name, rateLimit })
  await noisy.applyMany(
    600,
    (index) => `slow-${index}`,
    (index) => ({ ...tunnels, accountRef: { name: accounts[index % accounts.length] } }),
  )
  await until('some accounts are asked', () => noisyApi.admin.journal().length >= 4, { timeoutMs: 60_000 })
  // Their only request is used up: any worker that takes them now waits for a minute.
  for (const name of accounts) await noisy.annotate('Account', name, { 'culvert.dev/reconcile-requested-at': 'now' })
  const crowded = await neighbours.quietTime('crowded')
  const newcomer = await neighbours.newcomer()
  console.info(`slow: ${ratio(crowded, alone)}; a new Account is Ready after ${Math.round(newcomer)} ms`)
  const ready = (await noisy.list('Backend')).filter((cr) => conditionOf(cr, 'Ready')?.status === 'True')
  expect(ready.length).toBeLessThan(50)
})

const PER_MINUTE = 120
const BURST = 10

/** Number of Backends that have not been reconciled yet. */
async function waiting(world: World): Promise<number> {
  return (await world.list('Backend')).filter(isNew).length
}

/** The highest number of requests in any one-minute window. */
function mostInAMinute(requests: readonly JournalEntry[]): number {
  const times = requests.map(({ time }) => Date.parse(time))
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 60_000).length))
}

test('500 resources waiting for 120 requests a minute stay within the budget, and an edit goes first', {
  timeout: 900_000,
}, async () => {
  await using world = await World.open({
    operator: false,
    // A request that timed out may arrive after it was counted: a busy machine must not look like a budget overrun.
    flags: ['--request-timeout', '20s'],
    emulator: { rateLimit: { requests: PER_MINUTE, periodMs: 60_000 } },
    account: { rateLimit: { requestsPerMinute: PER_MINUTE, burst: BURST } },
  })
  await world.startOperator()
  await world.apply('Backend', 'shop', tunnels)
  const { status } = await world.ready('Backend', 'shop')
  const names = Array.from({ length: 500 }, (_, index) => `waiting-${index}`)
  for (const name of names) await world.apply('Backend', name, tunnels)
  const made = (): number => world.journal().filter(({ method }) => method === 'POST').length
  await until('some are made', () => made() > 20, { timeoutMs: 120_000 })
  await until('work waits', async () => (await waiting(world)) > 300, { timeoutMs: 120_000 })
  const backlog = await world.operator.metric('culvert_rate_limit_backlog_seconds')
  const before = made()
  await world.apply('Backend', 'shop', { ...tunnels, description: 'edited' })
  await world.ready('Backend', 'shop', 120_000)
  const after = made()
  const edit = world.journal().find(({ method, path: at }) => method === 'PATCH' && at === `${path}/${status?.id}`)
  expect(edit).toBeDefined()
  await until('more than a minute is seen', () => made() > 170, { timeoutMs: 300_000 })
  const most = mostInAMinute(world.journal())
  console.info(
    `budget: at most ${most} requests in a minute; the edit was served after ${after - before} creates, ${500 - after} waiting; backlog ${backlog.toFixed(1)} s`,
  )
  expect(world.journal().filter(({ status: answered }) => answered === 429)).toEqual([])
  expect(most).toBeLessThanOrEqual(PER_MINUTE)
  expect(after - before).toBeLessThan(20)
  expect(500 - after).toBeGreaterThan(300)
  expect(backlog).toBeGreaterThan(0)
})
