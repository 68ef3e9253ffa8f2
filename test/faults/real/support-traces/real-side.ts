import { inject } from 'vitest'
import type { SeedSpec } from '../../../../src/emulator/admin/seed.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { RECONCILE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import { KubeProxy, type PassingRequest } from '../../../builders/kube-proxy.ts'
import { until } from '../../../cluster/support/wait.ts'
import { core, World } from '../../../cluster/support/world.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { CONFIG_MAP, SECRET } from '../../../kinds/shared/account.ts'
import { KEY } from '../../simulation/api-server.ts'
import { times } from '../../simulation/operator.ts'
import { NAMESPACE } from '../../simulation/world.ts'
import { answerOf, type Call, isApart, parsed, type Side } from './side.ts'
import { callOf, madeBy } from './simulated-side.ts'

type Fields = Readonly<Record<string, unknown>>

const TIMEOUT_MS = 60_000
/** The same as in the simulation, where they affect the requests. */
const FLAGS = [
  '--scan-pause',
  `${times.scanPauseMs}ms`,
  '--request-timeout',
  `${times.requestTimeoutMs}ms`,
  '--workers',
  '4',
  // The simulation waits for its own minute.
  '--read-lag',
  '1ms',
]

/** A real kube-apiserver behind a proxy, an emulator behind HTTP, and an operator's process between them. */
export class RealSide implements Side, AsyncDisposable {
  readonly words: readonly (readonly [string, string])[]
  readonly api: Side['api']
  readonly #world: World
  readonly #resources: AsyncDisposableStack
  readonly #answers = new Map<PassingRequest, Pick<Call, 'status' | 'answer'>>()
  #seen: PassingRequest[] = []
  #since = 0
  /** The latest time at which the operator began to reconcile. */
  #reconcilingAt = 0

  static async open(seed: SeedSpec): Promise<RealSide> {
    await using resources = new AsyncDisposableStack()
    const proxy = resources.use(await KubeProxy.start(inject('kubeconfigPath')))
    const flags = ['--kubeconfig', proxy.kubeconfigPath, ...FLAGS]
    const world = resources.use(
      await World.open({ flags, setUp: false, operator: false, emulator: { certSeconds: 5, apiKey: KEY } }),
    )
    world.emulator.admin.seed(seed)
    await world.secret('key', { apiKey: world.emulator.apiKey })
    await world.secret(SECRET.name, SECRET.values)
    await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
    const apiKeySecretRef = { name: 'key' }
    await world.apply('Account', 'default', { baseURL: world.emulator.url, apiKeySecretRef, resyncInterval: '10m' })
    const side = new RealSide(world, proxy, resources.move())
    await world.startOperator()
    side.#reconcilingAt = performance.now()
    return side
  }

  private constructor(world: World, proxy: KubeProxy, resources: AsyncDisposableStack) {
    this.#world = world
    this.#resources = resources
    this.words = [
      [world.operatorNamespace, '{operator namespace}'],
      [world.namespace, NAMESPACE],
      [world.emulator.url, '{api}'],
    ]
    this.api = {
      ask: async (method, path, body) => {
        const { status, body: answer } = await world.api.call(method, path, body)
        if (status >= 300) throw new Error(`${method} ${path}: ${status}`)
        return answer
      },
    }
    proxy.intercept((request) => {
      if (!isApart(request.path, String(request.query))) this.#seen.push(request)
      return undefined
    })
    proxy.onAnswer = (request, status, body) => {
      const answer = answerOf(request.method, body)
      this.#answers.set(request, { status, ...(answer === undefined ? {} : { answer }) })
    }
  }

  async apply(kind: string, name: string, spec: Fields): Promise<void> {
    await this.#world.apply(kind, name, spec)
  }

  async annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#world.annotate(kind, name, annotations)
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.#world.delete(kind, name)
  }

  async get(kind: string, name: string): Promise<CustomResource | undefined> {
    return (await this.#world.get(kind, name)) as CustomResource | undefined
  }

  placeOf(cr: CustomResource) {
    const descriptor = kinds.find(({ definition }) => definition.kind === cr.kind)
    const { id } = statusOf(cr)
    if (descriptor?.role !== 'managed' || id === undefined) return undefined
    return { path: descriptor.identity.collectionOf(cr.spec).path, id }
  }

  async until(what: string, subjects: readonly Manifest[], met: (crs: readonly CustomResource[]) => boolean) {
    const crs = async () => {
      const found = await Promise.all(subjects.map(({ kind, name }) => this.get(kind, name)))
      return found.filter((cr) => cr !== undefined)
    }
    const describe = async () => [await crs(), this.#world.operator.log.split('\n').slice(-20)]
    await until(what, async () => met(await crs()), { timeoutMs: TIMEOUT_MS, describe })
  }

  async look(value: string): Promise<void> {
    await this.annotate('Account', 'default', { [RECONCILE_REQUESTED_AT]: value })
    const handled = async () => (await this.#world.get('Account', 'default'))?.status?.lastHandledReconcileAt === value
    await until('the account has looked', handled, { timeoutMs: TIMEOUT_MS })
  }

  async outliveReadLag(): Promise<void> {
    // The lag is a millisecond here. A possible request of an earlier process is given as long as any.
    const isOver = (): boolean => performance.now() >= this.#reconcilingAt + times.requestTimeoutMs
    await until('no request of a process before is under way', isOver, { timeoutMs: TIMEOUT_MS })
  }

  mark(): void {
    this.#seen = []
    this.#since = this.#world.mark()
  }

  calls(): readonly Call[] {
    const kubernetes = this.#seen.map((request): Call => {
      const { method, path, query, body } = request
      const answer = this.#answers.get(request) ?? { status: null }
      return { server: 'kubernetes', method, path, query: String(query), body: parsed(body), ...answer }
    })
    return [...kubernetes, ...this.#world.journal(this.#since).map(callOf)]
  }

  async callsAtLeast(count: number): Promise<void> {
    const met = () => {
      const calls = this.calls()
      return calls.length >= count && calls.every(({ status }) => status !== null)
    }
    await until('calls', met, { timeoutMs: 3_000 }).catch(() => undefined)
  }

  async tidy(): Promise<void> {
    const { kube, namespace } = this.#world
    for (const type of [core('secrets', 'Secret'), core('configmaps', 'ConfigMap')]) {
      const { items } = await kube.list(type, { namespace })
      const owned = items.filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
      for (const { metadata } of owned) await kube.delete(type, { namespace, name: metadata.name })
    }
  }

  made() {
    return this.#world.journal().flatMap(madeBy)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync()
  }
}
