import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { goProgram } from '../../../controlplane/go-program.ts'
import type { ClosableKubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { goModule } from '../../chart/support/tools.ts'
import type { ResourceCondition } from '../../cluster/support/world.ts'
import { clientOf, install } from './cluster-client.ts'
import { Sources } from './sources.ts'
import { type Delivery, nameOf, type Shown, type Target, type Tool, type ToolCluster } from './tool.ts'
import { ToolProcess } from './tool-process.ts'

const MODULE = join(import.meta.dirname, '..', 'kustomize-controller')
const CONTROLLER = 'github.com/fluxcd/kustomize-controller'

/** How long it waits for what it has applied, and until it tries again after a failure. */
const TIMEOUT = '20s'
const RETRY = '5s'

const kustomizations: ResourceType = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  plural: 'kustomizations',
  kind: 'Kustomization',
  namespaced: true,
}
const gitRepositories: ResourceType = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  plural: 'gitrepositories',
  kind: 'GitRepository',
  namespaced: true,
}

interface Kustomization extends KubeObject {
  readonly spec: { readonly suspend?: boolean }
  readonly status?: {
    readonly conditions?: readonly ResourceCondition[]
    readonly lastAttemptedRevision?: string
    readonly lastHandledReconcileAt?: string
  }
}

/** Flux's kustomize-controller. */
export class Flux implements Tool {
  readonly name = 'Flux'
  readonly userAgent = 'kustomize-controller/'
  readonly #kube: ClosableKubeClient
  readonly #controller: ToolProcess
  readonly #sources: Sources

  private constructor(kube: ClosableKubeClient, controller: ToolProcess, sources: Sources) {
    this.#kube = kube
    this.#controller = controller
    this.#sources = sources
  }

  /** Builds the controller first where this machine has not done so yet, which takes some minutes. */
  static async start(cluster: ToolCluster): Promise<Flux> {
    const program = await goProgram(MODULE, ['-ldflags=-s -w'], CONTROLLER)
    await install(cluster, { file: join(await goModule(CONTROLLER, MODULE), 'config', 'crd', 'bases') })
    const sources = await Sources.serve(cluster)
    const flags = ['--metrics-addr=0', '--health-addr=0', '--enable-leader-election=false', '--concurrent=10']
    const env = { KUBECONFIG: cluster.kubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: sources.folder }
    const controller = await ToolProcess.start([program, ...flags], { env, ready: /Starting workers/ })
    return new Flux(clientOf(cluster), controller, sources)
  }

  get log(): readonly string[] {
    return this.#controller.printed.text.split('\n').slice(-30)
  }

  async deliver(target: Target): Promise<Delivery> {
    const delivery = new FluxDelivery(this.#kube, this.#controller, this.#sources, target)
    await delivery.begin()
    return delivery
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller[Symbol.asyncDispose]()
    await this.#sources[Symbol.asyncDispose]()
    await this.#kube.close()
  }
}

class FluxDelivery implements Delivery {
  readonly #kube: ClosableKubeClient
  readonly #controller: ToolProcess
  readonly #sources: Sources
  readonly #target: Target
  readonly #key: { readonly namespace: string; readonly name: string }
  #requestedAt = ''

  constructor(kube: ClosableKubeClient, controller: ToolProcess, sources: Sources, target: Target) {
    this.#kube = kube
    this.#controller = controller
    this.#sources = sources
    this.#target = target
    this.#key = { namespace: target.namespace, name: nameOf(target) }
  }

  async begin(): Promise<void> {
    const { name } = this.#key
    const { namespace, path = '' } = this.#target
    await this.#kube.apply(gitRepositories, this.#key, { spec: { url: this.#sources.url, interval: '10m' } })
    await this.#publish()
    await this.#kube.apply(kustomizations, this.#key, {
      spec: {
        interval: '10m',
        retryInterval: RETRY,
        timeout: TIMEOUT,
        prune: true,
        wait: true,
        path: `./${path}`,
        sourceRef: { kind: 'GitRepository', name },
        targetNamespace: namespace,
      },
    })
  }

  async sync(): Promise<void> {
    await this.#publish()
    this.#requestedAt = randomUUID()
    const annotations = { 'reconcile.fluxcd.io/requestedAt': this.#requestedAt }
    await this.#kube.mergePatch(kustomizations, this.#key, { metadata: { annotations } })
  }

  async shown(): Promise<Shown> {
    const found = await this.#kube.get<Kustomization>(kustomizations, this.#key)
    if (found === undefined) return { state: 'gone', message: '', isCurrent: true }
    if (found.spec.suspend === true) return { state: 'suspended', message: '', isCurrent: this.#hasPassedOver() }
    const { conditions = [], lastAttemptedRevision, lastHandledReconcileAt = '' } = found.status ?? {}
    const ready = conditions.find(({ type }) => type === 'Ready')
    const isHandled = ready?.status === 'Unknown' || lastHandledReconcileAt === this.#requestedAt
    return {
      state: `Ready: ${ready?.status}, ${ready?.reason}`,
      message: ready?.message ?? '',
      isCurrent: isHandled && lastAttemptedRevision === this.#revision(),
    }
  }

  async suspend(isSuspended: boolean): Promise<void> {
    await this.#kube.mergePatch(kustomizations, this.#key, { spec: { suspend: isSuspended } })
  }

  async remove(): Promise<void> {
    await this.#kube.delete(kustomizations, this.#key)
  }

  /** Only its log says that the controller has seen a suspended object. */
  #hasPassedOver(): boolean {
    const lines = this.#controller.printed.text.split('\n')
    return lines.some((line) => line.includes('suspended') && line.includes(this.#key.name))
  }

  /** Says, like source-controller, which archive holds the newest commit. */
  async #publish(): Promise<void> {
    const { repository } = this.#target
    await this.#sources.publish(this.#kube, gitRepositories, this.#key, {
      revision: this.#revision(),
      file: `${repository.head}.tar.gz`,
      write: (path) => repository.archive(path),
    })
  }

  #revision(): string {
    return `main@sha1:${this.#target.repository.head}`
  }
}
