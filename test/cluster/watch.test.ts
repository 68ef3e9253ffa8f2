import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { Changes } from './support/changes.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { World } from './support/world.ts'

test('a change made while the apiserver was down for 20 s is handled', {
  timeout: 600_000,
  tags: 'nightly',
}, async () => {
  await using cluster = await startOwnCluster()
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  await using world = await World.open({
    kubeconfig: cluster.kubeconfigPath,
    // The operator must not be helped by giving up a watch for its silence.
    flags: ['--kubeconfig', proxy.kubeconfigPath, '--request-timeout', '10s', '--watch-silence', '1h'],
  })
  const changes = await Changes.prepare(world)
  const { pid } = world.operator
  const held = world.emulator.admin.addFault({ match: { method: 'POST' }, act: { type: 'hang' } })
  await world.apply('IPPolicy', 'caught', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.emulator.admin.waitForFault(held.id)
  await cluster.killApiserver()
  // Its answer comes at a time when it cannot be stored.
  world.emulator.admin.deleteFault(held.id)
  await sleep(20_000)
  // The operator finds the apiserver again only when everything has changed.
  const unreachable = proxy.intercept(() => ({ type: 'drop', when: 'before' }))
  await cluster.startApiserver()
  await changes.make()
  unreachable.remove()
  await changes.expectActedOn()
  expect(process.kill(pid, 0)).toBe(true)
})
