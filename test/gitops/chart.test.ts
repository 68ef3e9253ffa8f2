import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { AccountAtEmulator } from '../chart/installed/support/account-at-emulator.ts'
import { packChart } from '../chart/installed/support/chart-packages.ts'
import { InstalledCluster } from '../chart/installed/support/installed-cluster.ts'
import { countResources, quickstartAt } from '../chart/installed/support/quickstart.ts'
import { ACCOUNT_CHART, CHART, ROOT } from '../chart/support/paths.ts'
import { until } from '../cluster/support/wait.ts'
import { manifest } from './manifests.ts'
import { ArgoCD } from './tools/argocd.ts'
import { FluxHelm } from './tools/flux-helm.ts'
import { type Files, Repository } from './tools/repository.ts'
import type { Delivery } from './tools/tool.ts'

const HOME = 'culvert-system'
const OPERATOR = {
  // Argo CD renders the chart at each look, and generated keys would differ each time.
  emulator: { enabled: true, apiKey: 'demo-key', adminToken: 'demo-token', extraArgs: ['--cert-seconds=1'] },
  // Its status would wait for a controller that does not run here.
  podDisruptionBudget: { enabled: false },
}
const ACCOUNT = {
  spec: {
    baseURL: `http://culvert-emulator.${HOME}.svc:4040`,
    apiKeySecretRef: { name: 'culvert-emulator' },
    access: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }],
  },
}

const SYNCED = 'Synced, Healthy'

/** Both charts in the hands of a tool. */
interface Installation extends AsyncDisposable {
  /** Changes the values of the chart `culvert` in the repository. */
  upgrade(values: object): Promise<void>
  /** What the tool shows of each chart. */
  shown(): Promise<readonly string[]>
  readonly log: readonly string[]
}

/** Two HelmReleases, of which the second depends on the first, applied at once. */
async function byFlux(cluster: InstalledCluster): Promise<Installation> {
  const flux = await FluxHelm.start(toolCluster(cluster), HOME)
  await flux.apply({ name: 'culvert', values: OPERATOR })
  await flux.apply({ name: 'culvert-account', values: ACCOUNT, dependsOn: ['culvert'] })
  await flux.publish('culvert', await packChart(cluster, 4))
  await flux.publish('culvert-account', await packChart(cluster, 4, ACCOUNT_CHART))
  return {
    upgrade: (values) => flux.apply({ name: 'culvert', values }),
    shown: () => Promise.all(['culvert', 'culvert-account'].map((name) => flux.shown(name))),
    get log() {
      return flux.log
    },
    [Symbol.asyncDispose]: () => flux[Symbol.asyncDispose](),
  }
}

/** Two Applications, created at once. */
async function byArgoCD(cluster: InstalledCluster): Promise<Installation> {
  await using resources = new AsyncDisposableStack()
  const argocd = resources.use(await ArgoCD.start(toolCluster(cluster)))
  const repository = resources.use(await Repository.create())
  for (const folder of [CHART, ACCOUNT_CHART]) await repository.commit(await filesOf(folder))
  const deliver = (chart: string, values: object): Promise<Delivery> => {
    const target = { namespace: HOME, repository, path: chart }
    return argocd.deliver(target, {
      helm: { releaseName: chart, values: stringify(values) },
      syncOptions: ['ServerSideApply=true'],
      retry: { limit: -1 },
    })
  }
  const culvert = await deliver('culvert', OPERATOR)
  const account = await deliver('culvert-account', ACCOUNT)
  const kept = resources.move()
  return {
    upgrade: async (values) => {
      await deliver('culvert', values)
    },
    shown: async () => {
      const shown = await Promise.all([culvert, account].map((delivery) => delivery.shown()))
      // Without a refresh, Argo CD shows for minutes that CRDs are not established.
      if (shown[0]?.isCurrent && shown[0].state !== SYNCED) await culvert.sync()
      return shown.map(({ isCurrent, state }) => (isCurrent ? state : 'in progress'))
    },
    get log() {
      return argocd.log
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function filesOf(folder: string): Promise<Files> {
  const entries = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [relative(dirname(folder), path), await readFile(path, 'utf8')] as const
  })
  return Object.fromEntries(await Promise.all(files))
}

function toolCluster({ controlPlane }: InstalledCluster) {
  return { kubeconfig: controlPlane.kubeconfigPath, kubectlPath: controlPlane.kubectlPath }
}

/** Reports Deployments as available, as their controller does once all Pods are ready. */
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

async function untilShown(installation: Installation, states: readonly string[]): Promise<void> {
  const look = async (): Promise<boolean> => String(await installation.shown()) === String(states)
  const describe = async () => ({ shown: await installation.shown(), log: installation.log })
  await until(`the charts are ${states}`, look, { timeoutMs: 300_000, describe })
}

const INSTALLED = 'Ready: True, InstallSucceeded'

describe.each([
  ['Flux', byFlux, [INSTALLED, INSTALLED], ['Ready: True, UpgradeSucceeded', INSTALLED]],
  ['Argo CD', byArgoCD, [SYNCED, SYNCED], [SYNCED, SYNCED]],
] as const)('%s', (_name, start, installed, upgraded) => {
  test('installs both charts from one commit, and upgrades without a write at the API', async () => {
    await using resources = new AsyncDisposableStack()
    const cluster = resources.use(await InstalledCluster.start())
    await cluster.kubectl(['create', 'namespace', HOME])
    const installation = resources.use(await start(cluster))
    await until('the operator is deployed', async () => {
      return (await cluster.get('deployment', 'culvert', HOME)) !== undefined
    })
    const account = resources.use(await AccountAtEmulator.run(cluster, 'culvert', HOME))
    const operator = await cluster.operator(HOME)
    await makeAvailable(cluster)
    await untilShown(installation, installed)
    const manifests = await quickstartAt(account)
    await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin: manifests })
    await cluster.allReady(countResources(manifests) + 1)

    const mark = await account.mark()
    await installation.upgrade({ ...OPERATOR, operator: { workers: 3 } })
    await cluster.until('deployment', 'culvert', HOME, (found) => JSON.stringify(found).includes('"--workers=3"'))
    expect(await operator.stop()).toBe(0)
    await cluster.operator(HOME)
    await makeAvailable(cluster)
    await untilShown(installation, upgraded)
    await cluster.resync('default', 'quickstart')
    expect(await account.writes(mark)).toEqual([])
  })
})

test('Argo CD applies CRDs and a ClusterAccount in a later wave from one Application', async () => {
  await using resources = new AsyncDisposableStack()
  const cluster = resources.use(await InstalledCluster.start())
  const argocd = resources.use(await ArgoCD.start(toolCluster(cluster)))
  const repository = resources.use(await Repository.create())
  await repository.commit(await filesOf(join(ROOT, 'crds')))
  const annotations = {
    'argocd.argoproj.io/sync-wave': '1',
    'argocd.argoproj.io/sync-options': 'SkipDryRunOnMissingResource=true',
  }
  await repository.commit({ 'crds/account.yaml': manifest('ClusterAccount', 'default', ACCOUNT.spec, annotations) })
  const delivery = await argocd.deliver(
    { namespace: HOME, repository, path: 'crds' },
    // A CRD that is not established yet counts as Degraded, which ends a sync; Argo CD's default is five retries.
    { syncOptions: ['ServerSideApply=true'], retry: { limit: 5 } },
  )
  const look = async () => (await delivery.shown()).state
  // No operator runs, which would make it healthy.
  await until('everything is applied', async () => (await look()) === 'Synced, Progressing', {
    timeoutMs: 300_000,
    describe: () => delivery.shown(),
  })
})
