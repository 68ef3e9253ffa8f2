import { expect, inject, test } from 'vitest'
import { type Interception, KubeProxy, type PassingRequest } from '../../builders/kube-proxy.ts'
import type { OperatorProcess } from '../support/operator-process.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import { LeaseLog, readLease } from './lease-log.ts'
import { report, seconds } from './report.ts'

/**
 * The times that users have, but for a Lease that does not expire while a test runs: who leads after another was given
 * it.
 */
const TIMES = ['--lease-duration', '30m', '--renew-deadline', '20m', '--retry-period', '2s', '--request-timeout', '4s']
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
/** More than are sent to an account at a time. */
const MANY = 20
const timeout = 300_000

interface HandOver {
  readonly code: number | null
  /** All from the signal on, in milliseconds. */
  readonly released: number
  readonly taken: number
  readonly ended: number
}

/** Tells the leader to stop. By the time it has ended the Lease must be no longer its own. */
async function handOver(world: World, leader: OperatorProcess, next: OperatorProcess): Promise<HandOver> {
  await using log = await LeaseLog.open(world)
  const before = log.last
  expect(before.holder).not.toBe('')
  const told = Date.now()
  const code = await leader.stop()
  const ended = Date.now() - told
  expect((await readLease(world))?.spec.holderIdentity).not.toBe(before.holder)
  const released = await log.next('is given back', before, ({ holder }) => holder !== before.holder)
  expect(released.holder).toBe('')
  const taken = await log.next('is taken', released, ({ holder }) => holder !== '')
  expect(taken.transitions).toBe(before.transitions + 1)
  await next.reconciling()
  return { code, released: released.heardAt - told, taken: taken.heardAt - told, ended }
}

test('an idle leader that is asked to stop releases the Lease before it ends, and the standby leads immediately', {
  timeout,
}, async () => {
  await using world = await World.open({ leaderElect: true, flags: TIMES })
  await world.apply('Backend', 'one', tunnels)
  await world.ready('Backend', 'one')
  const figures: HandOver[] = []
  for (let round = 0; round < 3; round++) {
    const leader = world.operator
    figures.push(await handOver(world, leader, await world.startStandby()))
  }
  expect(figures.map(({ code }) => code)).toEqual(figures.map(() => 0))
  report('handed over by an idle leader, from SIGTERM on', {
    rounds: figures.length,
    'Lease given back': seconds(figures.map(({ released }) => released)),
    'taken by the other': seconds(figures.map(({ taken }) => taken)),
    'process ended': seconds(figures.map(({ ended }) => ended)),
  })
  await world.ready('Backend', 'one')
  expect(await world.remote('backends/tunnel_group')).toHaveLength(1)
})

const isEvent = ({ method, path }: PassingRequest): boolean => method === 'POST' && path.endsWith('/events')

function namesOf(what: string): readonly string[] {
  return Array.from({ length: MANY }, (_, index) => `${what}-${index}`)
}

/** Creates what there is to tell of, while no Event gets an answer: they are sent one at a time. */
async function holdEvents(world: World, proxy: KubeProxy): Promise<Interception> {
  const held = proxy.intercept((request) => (isEvent(request) ? { type: 'hold', when: 'before' } : undefined))
  for (const name of namesOf('told')) await world.apply('Backend', name, tunnels)
  await Promise.all(namesOf('told').map((name) => world.ready('Backend', name, 60_000)))
  await held.hits(1)
  return held
}

const unanswered = [
  { title: 'creates', match: { method: 'POST', every: true }, withEvents: false },
  { title: 'requests to the API', match: { every: true }, withEvents: false },
  { title: 'requests to the API and Events', match: { every: true }, withEvents: true },
]

for (const { title, match, withEvents } of unanswered) {
  test(`a leader whose ${title} never get an answer releases the Lease when told to stop, and ends`, {
    timeout,
    tags: 'nightly',
  }, async () => {
    await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
    await using world = await World.open({ leaderElect: true, flags: TIMES, operator: false })
    const leader = await world.startOperator(['--kubeconfig', proxy.kubeconfigPath])
    const next = await world.startStandby()
    await world.reason('Account', 'default', 'Ready', 'Available')
    const events = withEvents ? await holdEvents(world, proxy) : undefined
    const { id } = world.emulator.admin.addFault({ match, act: { type: 'hang', when: 'before' } })
    const open = () => world.journal().filter(({ fault, answeredSeq }) => fault === id && answeredSeq === null)
    for (const name of namesOf('held')) await world.apply('Backend', name, tunnels)
    await until('requests hang', () => open().length >= 4, { timeoutMs: 60_000 })
    const [mark, told] = [world.mark(), events?.requests.length ?? 0]
    const figures = await handOver(world, leader, next)
    expect(figures.code).toBe(0)
    // Each of them waits for its time-out: one after the other they would take more than a minute.
    expect((events?.requests.length ?? 0) - told).toBeLessThanOrEqual(3)
    report(`handed over by a leader whose ${title} never get an answer, from SIGTERM on`, {
      'requests to the API held': open().filter(({ seq }) => seq <= mark).length,
      'Events that were still to be told': withEvents ? MANY - told : 0,
      'Lease given back': seconds([figures.released]),
      'process ended': seconds([figures.ended]),
    })
    // What it could not finish the other one does, each once.
    world.emulator.admin.deleteFault(id)
    for (const name of namesOf('held')) await world.ready('Backend', name, 90_000)
    const [objects, crs] = [await world.remote('backends/tunnel_group'), await world.list('Backend')]
    expect(objects.map(({ id: own }) => own).toSorted()).toEqual(crs.map(({ status }) => status?.id).toSorted())
  })
}
