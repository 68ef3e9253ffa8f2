import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { AccountAtEmulator } from '../chart/installed/support/account-at-emulator.ts'
import { InstalledCluster } from '../chart/installed/support/installed-cluster.ts'
import { countResources, quickstartAt } from '../chart/installed/support/quickstart.ts'
import { templateArgs } from '../chart/support/helm.ts'
import { CHART } from '../chart/support/paths.ts'
import { until } from '../cluster/support/wait.ts'
import { ArgoCD } from './tools/argocd.ts'
import { Flux } from './tools/flux.ts'
import { type Files, Repository } from './tools/repository.ts'
import type { Delivery, Target, Tool, ToolCluster } from './tools/tool.ts'

const HOME = 'culvert-system'
/** For the emulator: certificates are issued quickly, and the key is the quickstart's. */
const VALUES = { emulator: { enabled: true, apiKey: 'demo-key', extraArgs: ['--cert-seconds=1'] } }

/** How a tool installs the chart. */
interface Installer {
  readonly start: (cluster: ToolCluster) => Promise<Tool>
  readonly installed: string
  /** What of the chart is in the repository, in the folder `chart`. */
  readonly files: (cluster: InstalledCluster, values: object) => Promise<Files>
  readonly deliver: (tool: Tool, target: Target) => Promise<Delivery>
}

/** As Flux's Kustomizations do: what Helm has rendered. */
const byFlux: Installer = {
  start: Flux.start,
  installed: 'Ready: True, ReconciliationSucceeded',
  files: async (cluster, values) => ({ 'chart/culvert.yaml': await rendered(cluster, values) }),
  deliver: (tool, target) => tool.deliver(target),
}

/** By Argo CD's own Helm. */
const byArgoCD: Installer = {
  start: ArgoCD.start,
  installed: 'Synced, Healthy',
  files: async (_cluster, values) => {
    const paths = globSync('**/*', { cwd: CHART, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = paths.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.replace(CHART, 'chart'), await readFile(path, 'utf8')] as const
    })
    return { ...Object.fromEntries(await Promise.all(files)), 'chart/values-here.yaml': stringify(values) }
  },
  deliver: (tool, target) => {
    return (tool as ArgoCD).deliver(target, { helm: { releaseName: 'culvert', valueFiles: ['values-here.yaml'] } })
  },
}

/** Without hooks, which a Kustomization would apply like everything else. */
async function rendered(cluster: InstalledCluster, values: object): Promise<string> {
  const file = join(cluster.folder, 'values.yaml')
  await writeFile(file, stringify(values))
  const flags = ['--no-hooks', '--values', file]
  return cluster.helmed(4, [...templateArgs(HOME), ...flags])
}

/** Reports Deployments as available, like their controller once all Pods are ready. */
async function makeAvailable(cluster: InstalledCluster): Promise<void> {
  for (const { metadata, spec } of await cluster.list('deployments', '-n', HOME)) {
    const count = spec?.replicas ?? 1
    const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: reason })
    const status = {
      observedGeneration: metadata.generation,
      replicas: count,
      updatedReplicas: count,
      readyReplicas: count,
      availableReplicas: count,
      conditions: [
        condition('Available', 'MinimumReplicasAvailable'),
        condition('Progressing', 'NewReplicaSetAvailable'),
      ],
    }
    const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
    await cluster.kubectl(['patch', 'deployment', metadata.name, '-n', HOME, ...patch])
  }
}

async function shows(tool: Tool, delivery: Delivery, state: string): Promise<void> {
  const look = async (): Promise<boolean> => {
    const shown = await delivery.shown()
    return shown.isCurrent && shown.state === state
  }
  const describe = async () => ({ shown: await delivery.shown(), log: tool.log })
  await until(`${tool.name} shows ${state}`, look, { timeoutMs: 120_000, describe })
}

describe.each([
  ['Flux', byFlux],
  ['Argo CD', byArgoCD],
] as const)('%s', (_name, { start, installed, files, deliver }) => {
  test('installs the chart and the quickstart, and upgrades the chart without a write at the API', async () => {
    await using resources = new AsyncDisposableStack()
    const cluster = resources.use(await InstalledCluster.start())
    const { kubeconfigPath: kubeconfig, kubectlPath } = cluster.controlPlane
    const tool = resources.use(await start({ kubeconfig, kubectlPath }))
    const repository = resources.use(await Repository.create())
    await cluster.kubectl(['create', 'namespace', HOME])
    await repository.commit(await files(cluster, VALUES))
    const chart = await deliver(tool, { namespace: HOME, repository, path: 'chart' })
    await until(
      'the operator is deployed',
      async () => (await cluster.get('deployment', 'culvert', HOME)) !== undefined,
    )
    const account = resources.use(await AccountAtEmulator.run(cluster, 'culvert', HOME))
    const operator = await cluster.operator(HOME)
    await makeAvailable(cluster)
    await shows(tool, chart, installed)

    const manifests = await quickstartAt(account)
    await repository.commit({ 'quickstart/all.yaml': manifests })
    await chart.sync()
    const shop = await tool.deliver({ namespace: 'quickstart', repository, path: 'quickstart' })
    await shows(tool, shop, installed)
    await cluster.allReady(countResources(manifests))

    const mark = await account.mark()
    const more = { ...VALUES, operator: { workers: 3 } }
    await repository.commit(await files(cluster, more))
    await chart.sync()
    await cluster.until('deployment', 'culvert', HOME, (found) => JSON.stringify(found).includes('"--workers=3"'))
    expect(await operator.stop()).toBe(0)
    await cluster.operator(HOME)
    await makeAvailable(cluster)
    await shows(tool, chart, installed)
    await cluster.resync('default', 'quickstart')
    expect(await account.writes(mark)).toEqual([])
  })
})
