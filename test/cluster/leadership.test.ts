import { expect, inject, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
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
