import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { ControlPlaneError } from '../../../controlplane/errors.ts'
import { goProgram } from '../../../controlplane/go-program.ts'
import { startOnFreePort } from '../../../controlplane/ports.ts'
import type { ClosableKubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { goModule, toolPath } from '../../chart/support/tools.ts'
import { until } from '../../cluster/support/wait.ts'
import { clientOf, install, isServed } from './cluster-client.ts'
import { type Delivery, nameOf, type Shown, type Target, type Tool, type ToolCluster } from './tool.ts'
import { ToolProcess } from './tool-process.ts'

const MODULE = join(import.meta.dirname, '..', 'argocd')
const ARGOCD_CM = join(import.meta.dirname, '..', '..', '..', 'gitops', 'argocd-cm.yaml')
const CRDS = ['application-crd.yaml', 'appproject-crd.yaml']
const NAMESPACE = 'argocd'

const applications: ResourceType = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  plural: 'applications',
  kind: 'Application',
  namespaced: true,
}

interface Application extends KubeObject {
  readonly operation?: unknown
  readonly status?: {
    readonly sync?: { readonly status: string; readonly revision?: string }
    readonly health?: { readonly status: string }
    readonly conditions?: readonly { readonly type: string; readonly message: string }[]
    readonly operationState?: {
      readonly phase: string
      readonly finishedAt?: string
      readonly message?: string
      readonly syncResult?: { readonly resources?: readonly TaskResult[] }
    }
    readonly resources?: readonly {
      readonly kind: string
      readonly name: string
      readonly status?: string
      readonly health?: { readonly status?: string; readonly message?: string }
    }[]
  }
}

/** How one resource was applied in a sync. */
interface TaskResult {
  readonly kind: string
  readonly name: string
  readonly status?: string
  readonly message?: string
}

/** How an Application differs from the one in the documentation. */
export interface ApplicationOptions {
  /** `spec.syncPolicy.syncOptions`. Default: none. */
  readonly syncOptions?: readonly string[]
  /** The annotation `argocd.argoproj.io/compare-options`. */
  readonly compareOptions?: string
  /** `spec.source.helm`, for a chart. */
  readonly helm?: object
  /** `spec.syncPolicy.retry`. Default: none, so that each failure shows. */
  readonly retry?: object
}

/** Argo CD's application controller and repository server, with a Redis, as its Deployments start them. */
export class ArgoCD implements Tool {
  readonly name = 'Argo CD'
  readonly userAgent = 'argocd-application-controller/'
  readonly #kube: ClosableKubeClient
  readonly #processes: AsyncDisposableStack
  readonly #controller: ToolProcess

  private constructor(kube: ClosableKubeClient, controller: ToolProcess, processes: AsyncDisposableStack) {
    this.#kube = kube
    this.#controller = controller
    this.#processes = processes
  }

  /**
   * Builds both first where this machine has not done so yet, which takes some minutes.
   *
   * @param isAware whether the health script of `gitops/argocd-cm.yaml` is installed. Default true
   */
  static async start(cluster: ToolCluster, { isAware = true } = {}): Promise<ArgoCD> {
    const program = await goProgram(MODULE, ['-ldflags=-s -w'])
    const helm = await toolPath('helm4', (message) => console.error(message))
    const crds = join(await goModule('github.com/argoproj/argo-cd/v3', MODULE), 'manifests', 'crds')
    for (const file of CRDS) await install(cluster, { file: join(crds, file) })
    await using processes = new AsyncDisposableStack()
    const kube = clientOf(cluster)
    processes.defer(() => kube.close())
    // The API server lists a kind a moment after its CRD was applied.
    await until('AppProjects are served', () => isServed(cluster, 'applications,appprojects'))
    await install(cluster, { objects: await settings(isAware) })
    const folder = await mkdtemp(join(tmpdir(), 'culvert-argocd-'))
    processes.defer(() => rm(folder, { recursive: true, force: true }))
    const redis = await serve((port) => {
      const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', folder]
      return startRedis(flags)
    }, processes)
    const shared = ['--redis', redis, '--loglevel', 'info', '--logformat', 'text']
    const env = {
      KUBECONFIG: cluster.kubeconfig,
      PATH: `${dirname(helm)}:${process.env.PATH}`,
      TMPDIR: folder,
      HOME: folder,
      ARGOCD_FAKE_IN_CLUSTER: 'true',
      ARGOCD_GPG_ENABLED: 'false',
      ARGOCD_SSH_DATA_PATH: folder,
      ARGOCD_TLS_DATA_PATH: folder,
    }
    const repositories = await serve((port) => {
      const own = ['--address', '127.0.0.1', '--port', String(port), '--metrics-port', '0', '--disable-tls']
      const options = { env, ready: /listening on .*/ }
      return ToolProcess.start([program, 'argocd-repo-server', ...own, ...shared], options)
    }, processes)
    const own = ['--repo-server', repositories, '--repo-server-plaintext', '--metrics-port', '0']
    const often = ['--self-heal-timeout-seconds', '1', '--persist-resource-health']
    const controller = processes.use(
      await ToolProcess.start(
        [program, 'argocd-application-controller', '--namespace', NAMESPACE, ...own, ...often, ...shared],
        { env: { ...env, ARGOCD_CONTROLLER_SHARD: '0' }, ready: /starting/i },
      ),
    )
    return new ArgoCD(kube, controller, processes.move())
  }

  get log(): readonly string[] {
    return this.#controller.printed.text.split('\n').slice(-30)
  }

  async deliver(target: Target, options: ApplicationOptions = {}): Promise<ArgoDelivery> {
    const delivery = new ArgoDelivery(this.#kube, target)
    await delivery.begin(options)
    return delivery
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]()
  }
}

class ArgoDelivery implements Delivery {
  readonly #kube: ClosableKubeClient
  readonly #target: Target
  readonly #key: { readonly namespace: string; readonly name: string }

  constructor(kube: ClosableKubeClient, target: Target) {
    this.#kube = kube
    this.#target = target
    this.#key = { namespace: NAMESPACE, name: nameOf(target) }
  }

  async begin({ syncOptions = [], compareOptions, helm, retry = { limit: 0 } }: ApplicationOptions): Promise<void> {
    const { namespace, repository, path = '.' } = this.#target
    const annotations = compareOptions === undefined ? {} : { 'argocd.argoproj.io/compare-options': compareOptions }
    await this.#kube.apply(applications, this.#key, {
      metadata: { finalizers: ['resources-finalizer.argocd.argoproj.io'], annotations },
      spec: {
        project: 'default',
        source: { repoURL: `file://${repository.folder}`, path, targetRevision: 'main', helm },
        destination: { server: 'https://kubernetes.default.svc', namespace },
        syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions, retry },
      },
    })
  }

  async sync(): Promise<void> {
    const annotations = { 'argocd.argoproj.io/refresh': 'normal', 'example.com/requested': randomUUID() }
    await this.#kube.mergePatch(applications, this.#key, { metadata: { annotations } })
  }

  async shown(): Promise<Shown> {
    const found = await this.#kube.get<Application>(applications, this.#key)
    if (found === undefined) return { state: 'gone', message: '', isCurrent: true }
    const { sync, health, operationState, resources = [], conditions = [] } = found.status ?? {}
    const isOperating = found.operation !== undefined || operationState?.phase === 'Running'
    const phase = operationState === undefined || operationState.phase === 'Succeeded' ? [] : [operationState.phase]
    const unhealthy = resources.flatMap(({ kind, name, health: its }) => {
      return its?.message === undefined || its.status === 'Healthy' ? [] : [`${kind}/${name}: ${its.message}`]
    })
    const refused = (operationState?.syncResult?.resources ?? []).flatMap(({ kind, name, status, message }) => {
      return status === 'SyncFailed' ? [`${kind}/${name}: ${message}`] : []
    })
    const messages = [
      ...(phase.length === 0 ? [] : [operationState?.message ?? '', ...refused]),
      ...conditions.map(({ message }) => message),
      ...unhealthy,
    ]
    return {
      state: [`${sync?.status}`, `${health?.status}`, ...phase].join(', '),
      message: messages.join('; '),
      isCurrent:
        !isOperating &&
        sync?.revision === this.#target.repository.head &&
        found.metadata.annotations?.['argocd.argoproj.io/refresh'] === undefined,
    }
  }

  /** What the newest sync says of itself. */
  async operation(): Promise<string | undefined> {
    return (await this.#kube.get<Application>(applications, this.#key))?.status?.operationState?.message
  }

  /** When it last finished a sync. */
  async lastSync(): Promise<string | undefined> {
    const found = await this.#kube.get<Application>(applications, this.#key)
    return found?.status?.operationState?.finishedAt
  }

  async suspend(isSuspended: boolean): Promise<void> {
    await this.#kube.mergePatch(applications, this.#key, {
      spec: { syncPolicy: { automated: { enabled: !isSuspended } } },
    })
  }

  async remove(): Promise<void> {
    await this.#kube.delete(applications, this.#key)
  }
}

/** What an installation has besides its CRDs and Deployments. */
async function settings(isAware: boolean): Promise<readonly object[]> {
  const labels = { 'app.kubernetes.io/part-of': 'argocd' }
  const ours = parse(await readFile(ARGOCD_CM, 'utf8'))
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-cm', namespace: NAMESPACE, labels } }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    isAware ? ours : theirs,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'argocd-secret', namespace: NAMESPACE, labels },
      stringData: { 'server.secretkey': randomUUID() },
    },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AppProject',
      metadata: { name: 'default', namespace: NAMESPACE },
      spec: {
        sourceRepos: ['*'],
        destinations: [{ namespace: '*', server: '*' }],
        clusterResourceWhitelist: [{ group: '*', kind: '*' }],
      },
    },
  ]
}

async function startRedis(flags: readonly string[]): Promise<ToolProcess> {
  try {
    return await ToolProcess.start(['redis-server', ...flags], { ready: /Ready to accept connections/ })
  } catch (error) {
    if (!/No such file or directory/.test(String(error))) throw error
    throw new Error('Argo CD needs a Redis server, which is missing here: sudo apt-get install redis-server', {
      cause: error,
    })
  }
}

/** Starts a server on a free port, and returns its address. */
function serve(start: (port: number) => Promise<ToolProcess>, processes: AsyncDisposableStack): Promise<string> {
  return startOnFreePort(async (port) => {
    try {
      processes.use(await start(port))
    } catch (error) {
      if (!/address already in use/i.test(String(error))) throw error
      throw new ControlPlaneError('PORT_TAKEN', String(error), { cause: error })
    }
    return `127.0.0.1:${port}`
  })
}
