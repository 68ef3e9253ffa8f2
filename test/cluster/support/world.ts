import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import type { EmulatorOptions } from '../../../src/emulator/emulator-options.ts'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../../../src/kube/client.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import type { InternalStatus } from '../../../src/managed/descriptor/internal.ts'
import { resourceTypeOf } from '../../../src/managed/kinds-registry.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'
import { OperatorAccount } from './operator-account.ts'
import { HOME_SUFFIX } from './operator-policy.ts'
import { OperatorProcess, type OperatorProcessOptions } from './operator-process.ts'
import { until } from './wait.ts'

const API_VERSION = 'culvert.dev/v1alpha1'

/** A CR as tests read it. */
export interface Resource extends KubeObject {
  readonly spec: Record<string, unknown>
  readonly status?: {
    readonly id?: string
    readonly conditions?: readonly ResourceCondition[]
    readonly observedGeneration?: number
    readonly internal?: InternalStatus
    readonly [field: string]: unknown
  }
}

export interface ResourceCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
}

export interface WorldOptions {
  readonly emulator?: EmulatorOptions
  /** Further operator flags. */
  readonly flags?: readonly string[]
  /** Whether the operator may use plain http for every allowed host. Default true; false: only for the emulator. */
  readonly allowHTTP?: boolean
  /** Whether the operator takes a Lease. Default false. */
  readonly leaderElect?: boolean
  /** Default: the suite's cluster. */
  readonly kubeconfig?: string
  /** `spec.resyncInterval` of the Account. Default 10m: tests request resyncs or set it shorter. */
  readonly resyncInterval?: string
  /** Further fields of the Account's spec. */
  readonly account?: Record<string, unknown>
  /** Whether the operator is started at once. Default true. */
  readonly operator?: boolean
  /** Name of the namespace. Default: a new one. */
  readonly namespace?: string
  /** Whether to create the Account and its key. Default true; false for a world whose objects come from elsewhere. */
  readonly setUp?: boolean
  /** How many milliseconds the operator's wall clock is ahead of the machine's. Default 0. */
  readonly clockOffsetMs?: () => number
  /**
   * What the operator watches: the world's namespace (default), or all, as ClusterAccounts need, which requires a
   * separate cluster.
   */
  readonly watch?: 'namespace' | 'cluster'
  /**
   * The scope of the operator's rights. Default: what it watches. Deleting a namespace deletes the Roles in it first:
   * then only an operator with rights in the whole cluster can remove its resources' finalizers.
   */
  readonly rights?: 'namespace' | 'cluster'
  /** Flags of the operator's Node. Default: none. */
  readonly nodeFlags?: readonly string[]
  /** Whether the operator has rights for DNSEndpoints. Default: if `flags` enable them. */
  readonly dnsRights?: boolean
  /** A world in another cluster with which this one shares the account, with namespaces of the same names. */
  readonly beside?: World
}

/**
 * A namespace with an Account named `default`, its emulator, and a real operator process that watches only this
 * namespace: tests of any number of files run side by side in one cluster.
 *
 * @example
 * await using world = await World.open()
 * await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
 * const policy = await world.ready('IPPolicy', 'office')
 */
export class World implements AsyncDisposable {
  readonly namespace: string
  /** The operator's own namespace. */
  readonly operatorNamespace: string
  readonly kubeconfig: string
  readonly kube: ClosableKubeClient
  readonly emulator: Emulator
  /** Calls the emulator as another client with the account's own key. */
  readonly api: EmulatorClient
  readonly #options: WorldOptions
  readonly #operators: OperatorProcess[] = []
  #account: OperatorAccount | undefined

  private constructor(options: WorldOptions, emulator: Emulator) {
    this.#options = options
    this.namespace = options.namespace ?? options.beside?.namespace ?? `t-${randomBytes(5).toString('hex')}`
    this.operatorNamespace = `${this.namespace}${HOME_SUFFIX}`
    this.kubeconfig = options.kubeconfig ?? inject('kubeconfigPath')
    this.emulator = emulator
    this.api = EmulatorClient.of(emulator)
    this.kube = createKubeClient({
      connection: loadKubeConnection({ kubeconfig: this.kubeconfig }),
      clock: systemClock,
      random: systemRandom,
      userAgent: 'culvert-test',
    })
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const emulator =
      options.beside?.emulator ?? (await startEmulator({ listen: '127.0.0.1:0', certSeconds: 1, ...options.emulator }))
    const world = new World(options, emulator)
    await world.createNamespace(world.namespace)
    await world.createNamespace(world.operatorNamespace)
    world.#account = await world.#createAccount()
    if (options.setUp ?? true) await world.#setUp()
    if (options.operator ?? true) await world.startOperator()
    return world
  }

  async #setUp(): Promise<void> {
    const { resyncInterval = '10m', account } = this.#options
    await this.setKey(this.emulator.apiKey)
    const apiKeySecretRef = { name: 'credentials' }
    await this.apply('Account', 'default', { baseURL: this.emulator.url, apiKeySecretRef, resyncInterval, ...account })
  }

  /** The most recently started one. */
  get operator(): OperatorProcess {
    const operator = this.#operators.at(-1)
    if (operator === undefined) throw new Error('the operator was not started')
    return operator
  }

  /** Starts an operator (again, or another); `flags` follow those of the world. */
  async startOperator(
    flags: readonly string[] = [],
    until: OperatorProcessOptions['until'] = 'reconciling',
  ): Promise<OperatorProcess> {
    const all = [...(this.#options.flags ?? []), ...flags]
    const { allowHTTP = true } = this.#options
    const { origin, host } = new URL(this.emulator.url)
    const ssh = this.emulator.gateway?.ssh
    const operator = await OperatorProcess.start({
      allowHTTP,
      kubeconfig: this.kubeconfig,
      namespace: this.operatorNamespace,
      leaderElect: this.#options.leaderElect ?? false,
      until,
      ...(this.#options.clockOffsetMs === undefined ? {} : { clockOffsetMs: this.#options.clockOffsetMs() }),
      nodeFlags: this.#options.nodeFlags ?? [],
      flags: [
        '--allow-api-host',
        allowHTTP ? host : origin,
        ...(this.#options.watch === 'cluster' ? [] : ['--watch-namespace', this.namespace]),
        ...(ssh === undefined ? [] : ['--allow-ssh-gateway', `${ssh.host}:${ssh.port}`]),
        ...all,
        ...this.asOperator(all),
      ],
    })
    this.#operators.push(operator)
    return operator
  }

  /** Starts another replica; resolves once it waits for the Lease with all caches warm, or has it. */
  async startStandby(flags: readonly string[] = []): Promise<OperatorProcess> {
    const operator = await this.startOperator(flags, 'serving')
    await until('the standby is warm', async () => (await operator.ask('/readyz')).status === 200)
    return operator
  }

  /**
   * Flags that give a process the operator's rights instead of the administrator's, through the connection that `flags`
   * choose.
   */
  asOperator(flags: readonly string[] = []): readonly string[] {
    const at = flags.lastIndexOf('--kubeconfig')
    const kubeconfig = at < 0 ? this.kubeconfig : (flags[at + 1] ?? '')
    return ['--kubeconfig', this.#account?.kubeconfigFor(kubeconfig) ?? kubeconfig]
  }

  #createAccount(): Promise<OperatorAccount> {
    const { rights, watch = 'namespace', flags = [] } = this.#options
    return OperatorAccount.create({
      kubeconfig: this.kubeconfig,
      kube: this.kube,
      namespace: this.operatorNamespace,
      watched: (rights ?? watch) === 'cluster' ? undefined : [this.namespace],
      watchSecrets: !flags.includes('--no-watch-secrets'),
      tunnels: flags.includes('--tunnels'),
      services: flags.includes('--services'),
      dnsEndpoints: this.#options.dnsRights ?? flags.includes('--dns-endpoints'),
    })
  }

  async createNamespace(name: string): Promise<void> {
    await this.kube.apply(
      core('namespaces', 'Namespace', false),
      { name },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    )
  }

  /** Puts an API key into the Secret of the Account. */
  async setKey(key: string): Promise<void> {
    await this.secret('credentials', { apiKey: key })
  }

  async secret(name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    const metadata = { name, namespace: this.namespace }
    const key = { namespace: this.namespace, name }
    await this.kube.apply(core('secrets', 'Secret'), key, { apiVersion: 'v1', kind: 'Secret', metadata, data })
  }

  /** Applies a ConfigMap. */
  async configMap(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { name, namespace: this.namespace }
    const key = { namespace: this.namespace, name }
    await this.kube.apply(core('configmaps', 'ConfigMap'), key, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  }

  /** Applies a CR like `kubectl apply --server-side`. `metadata` may contain labels and annotations. */
  async apply(
    kind: string,
    name: string,
    spec: Record<string, unknown>,
    metadata: Record<string, unknown> = {},
  ): Promise<Resource> {
    return this.kube.apply<Resource>(
      typeOf(kind),
      { namespace: this.namespace, name },
      { apiVersion: API_VERSION, kind, metadata: { name, namespace: this.namespace, ...metadata }, spec },
      { force: true },
    )
  }

  async get(kind: string, name: string): Promise<Resource | undefined> {
    return this.kube.get<Resource>(typeOf(kind), { namespace: this.namespace, name })
  }

  async list(kind: string): Promise<readonly Resource[]> {
    return (await this.kube.list<Resource>(typeOf(kind), { namespace: this.namespace })).items
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.kube.delete(typeOf(kind), { namespace: this.namespace, name })
  }

  async annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.kube.mergePatch(typeOf(kind), { namespace: this.namespace, name }, { metadata: { annotations } })
  }

  /** Removes the status of CRs while the operator is down, as a restore from a backup does; then starts it again. */
  async loseStatus(names: readonly { readonly kind: string; readonly name: string }[]): Promise<void> {
    await this.operator.kill()
    for (const { kind, name } of names) {
      const key = { namespace: this.namespace, name }
      await this.kube.mergePatch(typeOf(kind), key, { status: null }, { subresource: 'status' })
    }
    await this.startOperator()
  }

  /** Waits until the CR is Ready and Synced at its current generation. */
  async ready(kind: string, name: string, timeoutMs?: number): Promise<Resource> {
    const met = (cr: Resource): boolean => {
      return ['Ready', 'Synced'].every((type) => {
        const condition = conditionOf(cr, type)
        return condition?.status === 'True' && condition.observedGeneration === cr.metadata.generation
      })
    }
    return this.until(kind, name, 'is Ready', met, timeoutMs)
  }

  /** Waits until a condition of the CR has this reason. */
  async reason(
    kind: string,
    name: string,
    type: string,
    reason: string,
    timeoutMs?: number,
  ): Promise<ResourceCondition> {
    const met = (cr: Resource): boolean => conditionOf(cr, type)?.reason === reason
    const cr = await this.until(kind, name, `has ${type} with reason ${reason}`, met, timeoutMs)
    return conditionOf(cr, type) as ResourceCondition
  }

  async until(
    kind: string,
    name: string,
    what: string,
    met: (cr: Resource) => boolean,
    timeoutMs?: number,
  ): Promise<Resource> {
    const look = async (): Promise<Resource | undefined> => {
      const cr = await this.get(kind, name)
      return cr !== undefined && met(cr) ? cr : undefined
    }
    const describe = async () => ({ cr: await this.get(kind, name), log: this.#log() })
    return until(`${kind}/${name} ${what}`, look, { describe, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  }

  /** Waits until the CR no longer exists. */
  async gone(kind: string, name: string, timeoutMs?: number): Promise<void> {
    const look = async (): Promise<true | undefined> => ((await this.get(kind, name)) === undefined ? true : undefined)
    const describe = async () => ({ cr: await this.get(kind, name), log: this.#log() })
    await until(`${kind}/${name} is gone`, look, { describe, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  }

  #log(): readonly string[] | undefined {
    return this.#operators.at(-1)?.log.split('\n').slice(-30)
  }

  /** Requests recorded by the emulator with a number above `since`. */
  journal(since = 0): readonly JournalEntry[] {
    return this.emulator.admin.journal(since)
  }

  /** Number of the latest request; pass it to `journal` to see only later ones. */
  mark(): number {
    return this.journal().at(-1)?.seq ?? 0
  }

  /** Writes among the requests since `mark`. */
  writes(since = 0): readonly JournalEntry[] {
    return this.journal(since).filter(({ method }) => method !== 'GET')
  }

  /** The account's objects of a collection (`edges/tcp`), newest first, following pages. */
  remote(path: string): Promise<readonly Record<string, unknown>[]> {
    return this.api.list(`/${path}`)
  }

  /** Resyncs the account now, without waiting for its interval. */
  async resync(): Promise<void> {
    const value = randomBytes(6).toString('hex')
    await this.annotate('Account', 'default', { 'culvert.dev/reconcile-requested-at': value })
    const handled = (cr: Resource): boolean => cr.status?.lastHandledReconcileAt === value
    await this.until('Account', 'default', 'was looked at', handled)
  }

  /** Events about a CR, oldest first. */
  async events(kind: string, name: string): Promise<readonly { reason: string; note: string; type: string }[]> {
    const type: ResourceType = {
      group: 'events.k8s.io',
      version: 'v1',
      plural: 'events',
      kind: 'Event',
      namespaced: true,
    }
    const { items } = await this.kube.list<KubeObject>(type, { namespace: this.namespace })
    return items
      .map(
        (item) =>
          item as KubeObject & {
            regarding: { kind: string; name: string }
            reason: string
            note: string
            type: string
          },
      )
      .filter(({ regarding }) => regarding.kind === kind && regarding.name === name)
      .map(({ reason, note, type: severity }) => ({ reason, note, type: severity }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#operators.map((operator) => operator.kill()))
    await this.#release()
    await this.#account?.[Symbol.asyncDispose]()
    await this.kube.close()
    if (this.#options.beside === undefined) await this.emulator.close()
  }

  /**
   * Removes the namespaces, and finalizers first: without an operator they would stay forever. In a cluster that ends
   * with the suite they stay, since emptying them costs it as much as a test.
   */
  async #release(): Promise<void> {
    if (this.#options.kubeconfig === undefined && inject('isThrowaway')) return
    for (const { definition } of kinds) {
      if (definition.scope !== 'Namespaced') continue
      for (const { metadata } of await this.list(definition.kind)) {
        const key = { namespace: this.namespace, name: metadata.name }
        await this.kube
          .mergePatch(typeOf(definition.kind), key, { metadata: { finalizers: null } })
          .catch(() => undefined)
      }
    }
    for (const name of [this.namespace, this.operatorNamespace]) {
      await this.kube.delete(core('namespaces', 'Namespace', false), { name })
    }
  }
}

export function conditionOf(cr: Resource | undefined, type: string): ResourceCondition | undefined {
  return cr?.status?.conditions?.find((condition) => condition.type === type)
}

/** The resource type of a kind of Culvert. */
export function typeOf(kind: string): ResourceType {
  const descriptor = kinds.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  return resourceTypeOf(descriptor)
}

/** The resource type of a kind in Kubernetes' core group. */
export function core(plural: string, kind: string, namespaced = true): ResourceType {
  return { group: '', version: 'v1', plural, kind, namespaced }
}
