import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { goProgram } from '../../../controlplane/go-program.ts'
import type { ClosableKubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { goModule } from '../../chart/support/tools.ts'
import type { ResourceCondition } from '../../cluster/support/world.ts'
import { clientOf, install } from './cluster-client.ts'
import { type Delivery, nameOf, type Shown, type Target, type Tool, type ToolCluster } from './tool.ts'
import { ToolProcess } from './tool-process.ts'

const MODULE = join(import.meta.dirname, '..', 'kustomize-controller')
const CONTROLLER = 'github.com/fluxcd/kustomize-controller'
/** Only its CRDs are used. */
const SOURCES = 'github.com/fluxcd/source-controller@v1.9.6'

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

/** Flux's kustomize-controller. The archives that its source-controller would make of repositories are served here. */
export class Flux implements Tool {
  readonly name = 'Flux'
  readonly userAgent = 'kustomize-controller/'
  readonly #kube: ClosableKubeClient
  readonly #controller: ToolProcess
  readonly #archives: Archives

  private constructor(kube: ClosableKubeClient, controller: ToolProcess, archives: Archives) {
    this.#kube = kube
    this.#controller = controller
    this.#archives = archives
  }

  /** Builds the controller first where this machine has not done so yet, which takes some minutes. */
  static async start(cluster: ToolCluster): Promise<Flux> {
    const program = await goProgram(MODULE, ['-ldflags=-s -w'], CONTROLLER)
    const folders = [await goModule(CONTROLLER, MODULE), await goModule(SOURCES)]
    for (const folder of folders) await install(cluster, { file: join(folder, 'config', 'crd', 'bases') })
    const archives = await Archives.serve()
    const flags = ['--metrics-addr=0', '--health-addr=0', '--enable-leader-election=false', '--concurrent=10']
    const env = { KUBECONFIG: cluster.kubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: archives.folder }
    const controller = await ToolProcess.start([program, ...flags], { env, ready: /Starting workers/ })
    return new Flux(clientOf(cluster), controller, archives)
  }

  get log(): readonly string[] {
    return this.#controller.printed.text.split('\n').slice(-30)
  }

  async deliver(target: Target): Promise<Delivery> {
    const delivery = new FluxDelivery(this.#kube, this.#controller, this.#archives, target)
    await delivery.begin()
    return delivery
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller[Symbol.asyncDispose]()
    await this.#archives[Symbol.asyncDispose]()
    await this.#kube.close()
  }
}

class FluxDelivery implements Delivery {
  readonly #kube: ClosableKubeClient
  readonly #controller: ToolProcess
  readonly #archives: Archives
  readonly #target: Target
  readonly #key: { readonly namespace: string; readonly name: string }
  #requestedAt = ''

  constructor(kube: ClosableKubeClient, controller: ToolProcess, archives: Archives, target: Target) {
    this.#kube = kube
    this.#controller = controller
    this.#archives = archives
    this.#target = target
    this.#key = { namespace: target.namespace, name: nameOf(target) }
  }

  async begin(): Promise<void> {
    const { name } = this.#key
    const { namespace, path = '' } = this.#target
    await this.#kube.apply(gitRepositories, this.#key, { spec: { url: this.#archives.url, interval: '10m' } })
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
    const { url, digest } = await this.#archives.add(`${repository.head}.tar.gz`, (path) => repository.archive(path))
    const { metadata } = (await this.#kube.get(gitRepositories, this.#key)) ?? {}
    const now = new Date().toISOString().replace(/\.\d+/, '')
    const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'stored artifact' }
    const observedGeneration = metadata?.generation
    const artifact = { url, digest, path: basename(url), revision: this.#revision(), lastUpdateTime: now }
    const conditions = [{ ...ready, lastTransitionTime: now, observedGeneration }]
    const status = { observedGeneration, artifact, conditions }
    await this.#kube.mergePatch(gitRepositories, this.#key, { status }, { subresource: 'status' })
  }

  #revision(): string {
    return `main@sha1:${this.#target.repository.head}`
  }
}

/** Files behind URLs. */
class Archives implements AsyncDisposable {
  readonly folder: string
  readonly #server: Server

  private constructor(folder: string, server: Server) {
    this.folder = folder
    this.#server = server
  }

  static async serve(): Promise<Archives> {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-archives-'))
    const server = createServer((request, response) => {
      const file = createReadStream(join(folder, basename(request.url ?? '')))
      file.once('error', () => response.writeHead(404).end()).pipe(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Archives(folder, server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async add(name: string, write: (path: string) => Promise<void>): Promise<{ url: string; digest: string }> {
    const path = join(this.folder, name)
    await write(path)
    const digest = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    return { url: `${this.url}/${name}`, digest: `sha256:${digest}` }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.folder, { recursive: true })
  }
}
