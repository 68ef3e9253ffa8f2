import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import '../cluster/provided.ts'
import { startOwnCluster } from '../cluster/support/own-cluster.ts'
import { until } from '../cluster/support/wait.ts'
import { World } from '../cluster/support/world.ts'
import { manifest, quickstart } from './manifests.ts'
import { type ApplicationOptions, ArgoCD } from './tools/argocd.ts'
import { type Files, Repository } from './tools/repository.ts'

/** What is peculiar to Argo CD, and to one that does not know Culvert's health script. */
let cluster: ControlPlane
let argocd: ArgoCD

beforeAll(async () => {
  cluster = await startOwnCluster()
  const { kubeconfigPath: kubeconfig, kubectlPath } = cluster
  argocd = await ArgoCD.start({ kubeconfig, kubectlPath }, { isAware: false })
}, 1_800_000)
afterAll(async () => {
  await argocd[Symbol.asyncDispose]()
  await cluster.stop()
})

/** Has Argo CD apply files to a world. */
async function delivered(world: World, files: Files, options?: ApplicationOptions) {
  await using resources = new AsyncDisposableStack()
  const repository = resources.use(await Repository.create())
  await repository.commit(files)
  const delivery = await argocd.deliver({ namespace: world.namespace, repository }, options)
  const shows = (state: string) => {
    const describe = async () => ({ shown: await delivery.shown(), log: argocd.log })
    return until(
      `Argo CD shows ${state}`,
      async () => {
        const shown = await delivery.shown()
        return shown.isCurrent && shown.state === state
      },
      { timeoutMs: 120_000, describe },
    )
  }
  const kept = resources.move()
  return { delivery, shows, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const MODES: Readonly<Record<string, ApplicationOptions>> = {
  'of client-side apply': { syncOptions: [] },
  'of server-side apply': { syncOptions: ['ServerSideApply=true'] },
  'by dry runs of client-side apply': { syncOptions: [], compareOptions: 'ServerSideDiff=true' },
  'by dry runs of server-side apply': { syncOptions: ['ServerSideApply=true'], compareOptions: 'ServerSideDiff=true' },
}

test.each(Object.entries(MODES))('sees no difference %s, and syncs once', async (_mode, options) => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, setUp: false })
  await using applied = await delivered(world, await quickstart(world), options)
  await applied.shows('Synced, Healthy')
  for (const kind of ['Edge', 'ReservedDomain']) await world.ready(kind, 'shop', 120_000)
  const synced = await applied.delivery.lastSync()
  await applied.delivery.sync()
  await applied.shows('Synced, Healthy')
  expect(await applied.delivery.lastSync()).toBe(synced)
})

test('takes a refused resource for healthy without the health script', async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath })
  const match = { method: 'POST', path: '/ip_policies', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 400 } })
  await using applied = await delivered(world, { 'office.yaml': manifest('IPPolicy', 'office', { allowEmpty: true }) })
  await world.reason('IPPolicy', 'office', 'Stalled', 'Rejected')
  await applied.delivery.sync()
  await applied.shows('Synced, Healthy')
})
