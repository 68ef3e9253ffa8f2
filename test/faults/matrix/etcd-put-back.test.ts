import { expect, test } from 'vitest'
import { events } from '../../../src/runtime/events.ts'
import { Oracle } from '../simulation/oracle.ts'
import { putBackEtcd, puttingsBack } from '../simulation/restore/running.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { Laboratory } from '../simulation/world.ts'
import { some } from '../support/size.ts'

/** Within the time-out of a request. Virtual milliseconds. */
const LATE_MS = 3_900

test('running operators notice that etcd was restored, and the next process finds nothing to do', async () => {
  await tryAll('etcd put back under operators', some(oneOf(4, puttingsBack), 40), 340)
})

test('an update that lands after etcd was put back is undone at once, not only by the next resync', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { resyncInterval: '24h' } })
  const tunnels = (app: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app } } })
  const oracle = await Oracle.watch(world)
  world.apply('Backend', 'web', tunnels('one'))
  expect(await oracle.untilRest()).toEqual([])
  await world.advance(10_000)
  const snapshot = world.kube.snapshot()
  let landsAt: number | undefined
  world.trouble = {
    request: ({ server, method }) => {
      if (server !== 'api' || method !== 'PATCH' || landsAt !== undefined) return undefined
      landsAt = world.time.now + LATE_MS
      return { type: 'late', ms: LATE_MS }
    },
  }
  world.apply('Backend', 'web', tunnels('two'))
  await world.until(() => landsAt !== undefined, 10_000)
  await putBackEtcd(world, snapshot, { revision: 'bumped', downMs: 0 })
  expect(await oracle.untilRest()).toEqual([])
  expect(world.time.now).toBeLessThan(landsAt ?? 0)
  await world.advance(20_000)
  expect(await oracle.unlikeDeclared()).toEqual([])
})

test('a status is written although no watch tells that etcd was put back to an older state of the resource', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { resyncInterval: '1m' } })
  const oracle = await Oracle.watch(world)
  const group = (description: string) => {
    return { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } }, description }
  }
  world.apply('Backend', 'web', group('one'))
  expect(await oracle.untilRest()).toEqual([])
  const snapshot = world.kube.snapshot()
  world.apply('Backend', 'web', group('two'))
  expect(await oracle.untilRest()).toEqual([])
  const former = Number(world.kube.revision)
  await putBackEtcd(world, snapshot, { revision: 'as it was', downMs: 0 })
  // Passes the former revision before a bookmark shows a lower one.
  const key = { namespace: 'kube-system', name: 'somebody-else' }
  world.kube.create(events, key, { note: '' })
  for (let count = 0; Number(world.kube.revision) <= former; count += 1) {
    world.kube.mergePatch(events, key, { note: `${count}` })
  }
  const status = () => world.get('Backend', 'web')?.status as { readonly tunnelCount?: number } | undefined
  expect(status()?.tunnelCount).toBe(0)
  const { token } = await world.api.ask('POST', '/credentials', {})
  world.api.emulator.admin.connectAgent({ token: String(token), tunnels: [{ labels: { app: 'shop' } }] })
  expect(await world.until(() => status()?.tunnelCount === 1, 10 * 60_000)).toBe(true)
})
