import { expect, test } from 'vitest'
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
