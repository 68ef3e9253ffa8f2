import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import '../cluster/provided.ts'
import { startOwnCluster } from '../cluster/support/own-cluster.ts'
import { until } from '../cluster/support/wait.ts'
import { core, typeOf, World } from '../cluster/support/world.ts'
import { manifest, quickstart } from './manifests.ts'
import { type ApplicationOptions, ArgoCD } from './tools/argocd.ts'
import { type Files, Repository } from './tools/repository.ts'

/** What is peculiar to Argo CD. */
let cluster: ControlPlane
let argocd: ArgoCD

beforeAll(async () => {
  cluster = await startOwnCluster()
  argocd = await startArgoCD(cluster)
}, 1_800_000)
afterAll(async () => {
  await argocd[Symbol.asyncDispose]()
  await cluster.stop()
})

function startArgoCD({ kubeconfigPath, kubectlPath }: ControlPlane, options?: { readonly isAware: boolean }) {
  return ArgoCD.start({ kubeconfig: kubeconfigPath, kubectlPath }, options)
}

/** Has Argo CD apply files to a world. */
async function delivered(tool: ArgoCD, world: World, files: Files, options?: ApplicationOptions) {
  await using resources = new AsyncDisposableStack()
  const repository = resources.use(await Repository.create())
  await repository.commit(files)
  const delivery = await tool.deliver({ namespace: world.namespace, repository }, options)
  const shows = (state: string) => {
    const describe = async () => ({ shown: await delivery.shown(), log: tool.log })
    return until(
      `Argo CD shows ${state}`,
      async () => {
        const shown = await delivery.shown()
        return shown.isCurrent && shown.state === state
      },
      { timeoutMs: 300_000, describe },
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
  await using applied = await delivered(argocd, world, await quickstart(world), options)
  await applied.shows('Synced, Healthy')
  for (const kind of ['Edge', 'ReservedDomain']) await world.ready(kind, 'shop', 120_000)
  const synced = await applied.delivery.lastSync()
  await applied.delivery.sync()
  await applied.shows('Synced, Healthy')
  expect(await applied.delivery.lastSync()).toBe(synced)
})

/** A rule that somebody adds with kubectl: server-side apply merges the items of all managers of a list. */
test.each([
  { options: {}, left: ['198.51.100.0/24'] },
  { options: { syncOptions: ['ServerSideApply=true'] }, left: ['198.51.100.0/24', '203.0.113.0/24'] },
])('leaves the rules $left, after one was added by hand, with $options', async ({ options, left }) => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath })
  const rules = [{ cidr: '198.51.100.0/24', action: 'Allow' }]
  const files = { 'office.yaml': manifest('IPPolicy', 'office', { rules }) }
  await using applied = await delivered(argocd, world, files, options)
  await applied.shows('Synced, Healthy')
  const added = [...rules, { cidr: '203.0.113.0/24', action: 'Allow' }]
  const key = { namespace: world.namespace, name: 'office' }
  await world.kube.mergePatch(typeOf('IPPolicy'), key, { spec: { rules: added } })
  await world.until('IPPolicy', 'office', 'has the added rule', ({ status }) => status?.ruleCount === 2)
  await applied.delivery.sync()
  await applied.shows('Synced, Healthy')
  const cidrs = async () => (await world.remote('ip_policy_rules')).map(({ cidr }) => cidr).sort()
  await until(`the rules are ${left}`, async () => isDeepStrictEqual(await cidrs(), left), {
    describe: async () => ({ cidrs: await cidrs(), shown: await applied.delivery.shown() }),
  })
})

test('shows a refused resource as healthy without the health script', async () => {
  await using resources = new AsyncDisposableStack()
  const other = await startOwnCluster()
  resources.defer(() => other.stop())
  const unaware = resources.use(await startArgoCD(other, { isAware: false }))
  const world = resources.use(await World.open({ kubeconfig: other.kubeconfigPath }))
  const match = { method: 'POST', path: '/ip_policies', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 400 } })
  const office = manifest('IPPolicy', 'office', { allowEmpty: true })
  const applied = resources.use(await delivered(unaware, world, { 'office.yaml': office }))
  await world.reason('IPPolicy', 'office', 'Stalled', 'Rejected')
  await applied.delivery.sync()
  await applied.shows('Synced, Healthy')
})

/** ConfigMaps stand in for the Jobs that hooks usually are: no controller runs Jobs here. */
const hook = (name: string, phase: string): string => {
  const annotations = {
    'argocd.argoproj.io/hook': phase,
    'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
  }
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations }, data: {} })
}

test('applies a sync wave once the one before is healthy, hooks around them, and deletes in the reverse order', async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, operator: false })
  const wave = (number: string) => ({ 'argocd.argoproj.io/sync-wave': number })
  const exists = async (name: string): Promise<boolean> => {
    return (await world.kube.get(core('configmaps', 'ConfigMap'), { namespace: world.namespace, name })) !== undefined
  }
  await using applied = await delivered(argocd, world, {
    'office.yaml': manifest('IPPolicy', 'office', { allowEmpty: true }, wave('0')),
    'other.yaml': manifest('IPPolicy', 'other', { allowEmpty: true }, wave('1')),
    'before.yaml': hook('before', 'PreSync'),
    'after.yaml': hook('after', 'PostSync'),
  })
  const waits = 'waiting for healthy state of culvert.dev/IPPolicy/office'
  await until(`Argo CD is ${waits}`, async () => (await applied.delivery.operation())?.includes(waits))
  expect([await exists('before'), await exists('after')]).toEqual([true, false])
  expect(await world.get('IPPolicy', 'other')).toBeUndefined()

  await world.startOperator()
  await applied.shows('Synced, Healthy')
  expect(await exists('after')).toBe(true)

  await world.operator.kill()
  await applied.delivery.remove()
  const isDeleted = async (name: string) =>
    (await world.get('IPPolicy', name))?.metadata.deletionTimestamp !== undefined
  await until('the last wave is deleted', () => isDeleted('other'))
  expect(await isDeleted('office')).toBe(false)
  await world.startOperator()
  await applied.shows('gone')
  expect(await world.remote('ip_policies')).toEqual([])
})
