import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { isWatch, KubeProxy } from '../builders/kube-proxy.ts'
import type { OpenWatch } from '../builders/open-watch.ts'
import { managed } from './support/cases.ts'
import { Changes } from './support/changes.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { until } from './support/wait.ts'
import { typeOf, World } from './support/world.ts'

/** The operator must not be helped by giving up a watch for its silence. */
const PATIENT = ['--watch-silence', '1h']

test('a change made while the apiserver was down for 20 s is handled', {
  timeout: 600_000,
  tags: 'nightly',
}, async () => {
  await using cluster = await startOwnCluster()
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  await using world = await World.open({
    kubeconfig: cluster.kubeconfigPath,
    flags: ['--kubeconfig', proxy.kubeconfigPath, '--request-timeout', '10s', ...PATIENT],
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

for (const { where, end, isAsked } of [
  { where: 'in the stream', end: (watch: OpenWatch) => watch.expire(), isAsked: false },
  { where: 'when it is opened again', end: (watch: OpenWatch) => watch.reset(), isAsked: true },
]) {
  test(`a change that a watch missed before a 410 ${where} is handled`, { tags: 'nightly' }, async () => {
    await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
    await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath, ...PATIENT] })
    const changes = await Changes.prepare(world)
    const watches = stallAll(proxy)
    await changes.make()
    await untilMissed(watches)
    const compacted = Number((await world.kube.list(typeOf('Account'), { namespace: world.namespace })).resourceVersion)
    const expired = proxy.intercept((request) => {
      const isOld = isWatch(request) && Number(request.query.get('resourceVersion')) < compacted
      return isOld ? { type: 'answer', status: 410, reason: 'Expired' } : undefined
    })
    for (const watch of watches) end(watch)
    await changes.expectActedOn()
    expect(expired.requests.length).toBe(isAsked ? watches.length : 0)
  })
}

test('a change whose frame broke with the connection is handled', { tags: 'nightly' }, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath, ...PATIENT] })
  const changes = await Changes.prepare(world)
  const watches = proxy.watches()
  for (const watch of watches) watch.cutNextFrame()
  await changes.make()
  await until('the watch of each kind was cut', () => ofKinds(watches).every(({ cut }) => cut > 0))
  await changes.expectActedOn()
})

test('a change that a silently stalled watch missed is handled', { tags: 'nightly' }, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath, '--watch-silence', '5s'] })
  const changes = await Changes.prepare(world)
  const watches = stallAll(proxy)
  await changes.make()
  await untilMissed(watches)
  await until('the operator gave every one up', () => watches.every(({ isOpen }) => !isOpen))
  await changes.expectActedOn()
})

function stallAll(proxy: KubeProxy): readonly OpenWatch[] {
  const watches = proxy.watches()
  for (const watch of watches) watch.stall()
  return watches
}

/** A create, an edit and a deletion of each kind did not get through. */
async function untilMissed(watches: readonly OpenWatch[]): Promise<void> {
  await until('the watch of each kind kept its frames back', () => {
    return ofKinds(watches).every(({ swallowed }) => swallowed >= 3)
  })
}

function ofKinds(watches: readonly OpenWatch[]): readonly OpenWatch[] {
  const plurals = managed.map(({ definition }) => definition.plural)
  const found = watches.filter(({ path }) => plurals.includes(path.split('/').at(-1) ?? ''))
  expect(found.length).toBe(plurals.length)
  return found
}
