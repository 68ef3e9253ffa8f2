import { expect, inject, test } from 'vitest'
import type { FaultAct } from '../../src/emulator/faults/fault-spec.ts'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { type Decision, KubeProxy } from '../builders/kube-proxy.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

/** A lease that does not expire while a test runs: who leads after another was given it. */
const LONG = ['--lease-duration', '30m', '--renew-deadline', '20m', '--retry-period', '300ms']
/** A lease that expires soon, with room for renewals on a busy machine. */
const SHORT = ['--lease-duration', '8s', '--renew-deadline', '5s', '--retry-period', '300ms', '--request-timeout', '2s']

const BACKENDS = '/backends/tunnel_group'
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

function posts(world: World, since = 0): readonly JournalEntry[] {
  return world.journal(since).filter(({ method, path }) => method === 'POST' && path === BACKENDS)
}

/** Lets matching creates hang; resolves to a way to wait for so many of them, and one to let them go. */
function hangCreates(world: World, act: Extract<FaultAct, { type: 'hang' }>, times: number) {
  const { id } = world.emulator.admin.addFault({ match: { method: 'POST', path: BACKENDS, times }, act })
  return {
    reached: () =>
      until(`${times} creates hang`, () => {
        const entries = posts(world).filter(({ fault, body, status }) => {
          return fault === id && (act.when === 'after' ? status !== null : body !== null)
        })
        return entries.length === times
      }),
    release: () => world.emulator.admin.deleteFault(id),
  }
}

/** Drops every write to Kubernetes but those to the Lease: renewing one is no work. */
const dropWork: Decision = ({ method, path }) => {
  return method === 'GET' || path.includes('/leases') ? undefined : { type: 'drop', when: 'before' }
}

async function expectOneEach(world: World, names: readonly string[]): Promise<void> {
  const crs = await Promise.all(names.map((name) => world.ready('Backend', name, 60_000)))
  const objects = await world.remote(BACKENDS.slice(1))
  expect(objects.map(({ id }) => id).toSorted()).toEqual(crs.map(({ status }) => status?.id).toSorted())
}

test('of two operators one works; told to stop, it hands over before the Lease expires', async () => {
  await using world = await World.open({ leaderElect: true, flags: LONG })
  const leader = world.operator
  const standby = await world.startStandby()
  await world.apply('Backend', 'one', tunnels)
  await world.ready('Backend', 'one')
  await world.resync()
  expect(await leader.metric('leader_election_master_status')).toBe(1)
  expect(await standby.metric('leader_election_master_status')).toBe(0)
  expect(await leader.metric('controller_runtime_reconcile_total')).toBeGreaterThan(0)
  expect(await standby.metric('controller_runtime_reconcile_total')).toBe(0)
  expect(await standby.metric('culvert_api_requests_total')).toBe(0)

  const mark = world.mark()
  expect(await leader.stop()).toBe(0)
  await standby.reconciling()
  await world.apply('Backend', 'two', tunnels)
  await expectOneEach(world, ['one', 'two'])
  expect(posts(world, mark)).toHaveLength(1)
})

test('a leader that is killed while its creates are answered leaves each object once', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ leaderElect: true, flags: SHORT })
  const leader = world.operator
  const standby = await world.startOperator([], 'serving')
  const names = ['one', 'two', 'three']
  const held = hangCreates(world, { type: 'hang', when: 'after' }, names.length)
  await Promise.all(names.map((name) => world.apply('Backend', name, tunnels)))
  await held.reached()
  await leader.kill()
  held.release()
  await standby.reconciling()
  await expectOneEach(world, names)
  expect(posts(world)).toHaveLength(names.length)
})

test('a leader frozen in the middle of a create writes nothing when it resumes, and ends', {
  tags: 'nightly',
}, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ leaderElect: true, flags: SHORT, operator: false })
  const leader = await world.startOperator(['--kubeconfig', proxy.kubeconfigPath])
  const standby = await world.startOperator([], 'serving')
  const held = hangCreates(world, { type: 'hang', when: 'before' }, 1)
  await world.apply('Backend', 'one', tunnels)
  await held.reached()
  leader.signal('SIGSTOP')
  await standby.reconciling()
  const { status } = await world.ready('Backend', 'one', 60_000)

  // The API is as late as it can be: it carries out the request of the frozen process now, and the answer awaits its
  // thaw.
  held.release()
  await until('the late create was answered', () => posts(world).every((entry) => entry.answeredSeq !== null))
  expect(posts(world).map((entry) => entry.status)).toEqual([201, 201])
  const mark = world.mark()
  const written = proxy.intercept(dropWork)
  leader.signal('SIGCONT')
  expect(await leader.exited()).toBe(1)
  expect(written.requests).toEqual([])
  expect(world.writes(mark)).toEqual([])

  // What it made is found by the next resync of its successor.
  await world.resync()
  await until('the copy is gone', async () => (await world.remote(BACKENDS.slice(1))).length === 1)
  expect(await world.remote(BACKENDS.slice(1))).toMatchObject([{ id: status?.id }])
  expect((await world.ready('Backend', 'one')).status?.id).toBe(status?.id)
})

test('a leader that cannot reach the apiserver ends, and the next one does the rest once', {
  tags: 'nightly',
}, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ leaderElect: true, flags: SHORT, operator: false })
  const leader = await world.startOperator(['--kubeconfig', proxy.kubeconfigPath])
  const standby = await world.startOperator([], 'serving')
  await world.apply('Backend', 'one', tunnels)
  await world.ready('Backend', 'one')
  // Its watches go on to tell it what there is to do.
  proxy.intercept(() => ({ type: 'drop', when: 'before' }))
  await world.apply('Backend', 'two', tunnels)
  expect(await leader.exited()).toBe(1)
  await standby.reconciling()
  await expectOneEach(world, ['one', 'two'])
  expect(posts(world)).toHaveLength(2)
})
