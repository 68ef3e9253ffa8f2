import { cp } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { goProgram } from '../../../controlplane/go-program.ts'
import type { ClosableKubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { goModule } from '../../chart/support/tools.ts'
import { until } from '../../cluster/support/wait.ts'
import type { ResourceCondition } from '../../cluster/support/world.ts'
import { clientOf, install } from './cluster-client.ts'
import { Sources } from './sources.ts'
import type { ToolCluster } from './tool.ts'
import { ToolProcess } from './tool-process.ts'

const MODULE = join(import.meta.dirname, '..', 'helm-controller')
const CONTROLLER = 'github.com/fluxcd/helm-controller'

const helmReleases: ResourceType = {
  group: 'helm.toolkit.fluxcd.io',
  version: 'v2',
  plural: 'helmreleases',
  kind: 'HelmRelease',
  namespaced: true,
}
const helmCharts: ResourceType = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  plural: 'helmcharts',
  kind: 'HelmChart',
  namespaced: true,
}

interface HelmRelease extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly ResourceCondition[]
  }
}

/** A release as a HelmRelease describes it. */
export interface Release {
  readonly name: string
  readonly values: object
  /** Names of releases that have to be Ready first. */
  readonly dependsOn?: readonly string[]
}

/** Flux's helm-controller. */
export class FluxHelm implements AsyncDisposable {
  readonly #namespace: string
  readonly #kube: ClosableKubeClient
  readonly #controller: ToolProcess
  readonly #sources: Sources

  private constructor(namespace: string, kube: ClosableKubeClient, controller: ToolProcess, sources: Sources) {
    this.#namespace = namespace
    this.#kube = kube
    this.#controller = controller
    this.#sources = sources
  }

  /**
   * Builds the controller first where this machine has not done so yet, which takes some minutes.
   *
   * @param namespace of all releases
   */
  static async start(cluster: ToolCluster, namespace: string): Promise<FluxHelm> {
    const program = await goProgram(MODULE, ['-ldflags=-s -w'], CONTROLLER)
    await install(cluster, { file: join(await goModule(CONTROLLER, MODULE), 'config', 'crd', 'bases') })
    const sources = await Sources.serve(cluster)
    const flags = ['--metrics-addr=0', '--health-addr=0', '--enable-leader-election=false']
    const env = { KUBECONFIG: cluster.kubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: sources.folder }
    const controller = await ToolProcess.start([program, ...flags], { env, ready: /Starting workers/ })
    return new FluxHelm(namespace, clientOf(cluster), controller, sources)
  }

  get log(): readonly string[] {
    return this.#controller.printed.text.split('\n').slice(-30)
  }

  /**
   * Applies a HelmRelease, as a commit does, of the chart with the release's name. It does not wait for Deployments,
   * whose ReplicaSets nothing creates here.
   */
  async apply({ name, values, dependsOn = [] }: Release): Promise<void> {
    const sourceRef = { kind: 'GitRepository', name: 'culvert' }
    await this.#kube.apply(helmReleases, this.#key(name), {
      spec: {
        interval: '10m',
        chart: { spec: { chart: `charts/${name}`, sourceRef } },
        dependsOn: dependsOn.map((other) => ({ name: other })),
        install: { disableWait: true },
        upgrade: { disableWait: true },
        values,
      },
    })
  }

  /** Has the chart of a release packed, as source-controller does once helm-controller has asked for it. */
  async publish(name: string, archive: string): Promise<void> {
    const key = this.#key(`${this.#namespace}-${name}`)
    await until(`HelmChart ${key.name} exists`, async () => (await this.#kube.get(helmCharts, key)) !== undefined)
    const [revision = ''] = /\d+\.\d+\.\d+/.exec(basename(archive)) ?? []
    const write = (path: string): Promise<void> => cp(archive, path)
    await this.#sources.publish(this.#kube, helmCharts, key, { revision, file: basename(archive), write })
  }

  /** The condition `Ready` of its newest generation. */
  async shown(name: string): Promise<string> {
    const found = await this.#kube.get<HelmRelease>(helmReleases, this.#key(name))
    if (found === undefined) return 'gone'
    const ready = found.status?.conditions?.find(({ type }) => type === 'Ready')
    return ready?.observedGeneration === found.metadata.generation
      ? `Ready: ${ready?.status}, ${ready?.reason}`
      : 'in progress'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller[Symbol.asyncDispose]()
    await this.#sources[Symbol.asyncDispose]()
    await this.#kube.close()
  }

  #key(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#namespace, name }
  }
}
