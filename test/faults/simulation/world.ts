import { rootSchema } from '../../../scripts/crds/crd.ts'
import { type Choices, DECIDED, drawnBy, withAlternative } from '../../../src/emulator/choices/choices.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { configMapType, namespaceType, secretType } from '../../../src/kube/core-types.ts'
import { pods } from '../../../src/kube/streams.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../src/kube/types.ts'
import type { AccountResource } from '../../../src/managed/account-resource.ts'
import { type CustomResource, statusOf } from '../../../src/managed/cr.ts'
import { KindsRegistry, resourceTypeOf } from '../../../src/managed/kinds-registry.ts'
import { serviceType } from '../../../src/managed/services/service.ts'
import { holderAmong } from '../../../src/managed/store/holder.ts'
import type { TunnelPolicy } from '../../../src/managed/tunnels/policy.ts'
import { workloadTypes } from '../../../src/managed/tunnels/tunnel-resource.ts'
import { events } from '../../../src/runtime/events.ts'
import { type Lease, leases } from '../../../src/runtime/lease-lock.ts'
import type { Random } from '../../../src/util/random.ts'
import { openAccess } from '../../builders/access.ts'
import { ModelKube } from '../../builders/model-kube.ts'
import { seededRandom } from '../../builders/seeded-random.ts'
import { CONFIG_MAP, SECRET } from '../../kinds/shared/account.ts'
import { CONTRARY_SEED } from '../support/size.ts'
import { ApiServer, KEY } from './api-server.ts'
import type { Sighting, Trouble } from './faults.ts'
import { KubeServer, type ServedType } from './kube-server.ts'
import { Network } from './network.ts'
import { type Division, OPERATOR_NAMESPACE, SimulatedOperator } from './operator.ts'
import { SimulatedProcess } from './process.ts'
import { VirtualTime } from './virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

export const NAMESPACE = 'shop'
const ACCOUNT = { namespace: NAMESPACE, name: 'default' }
/** Wall time at the beginning of every simulation. */
const BEGIN = Date.UTC(2026, 0, 1)
/** A container that has ended restarts after this time. */
const RESTART_MS = 1_000

export interface WorldOptions {
  readonly seed?: number
  /** Kinds that the operator serves besides Account. Default: all. Fewer are faster. */
  readonly kinds?: ReadonlySet<string>
  /** Replicas that take part in leader election. Default: one that leads without. */
  readonly replicas?: number
  /** Operators that divide accounts between them, one replica of each. Default: one operator that has all. */
  readonly divisions?: readonly Division[]
  /** Labels of the account. Default: none. */
  readonly accountLabels?: Readonly<Record<string, string>>
  /** Another cluster that manages the same account in the same time. Default: none, and the account is empty. */
  readonly beside?: SimulatedWorld
  /** Installation id of its operators. Default: the same in all worlds. */
  readonly installation?: string
  /**
   * Whether the account is a ClusterAccount that every namespace may use, including for adoption. Default: an Account
   * of the namespace.
   */
  readonly isShared?: boolean
  /**
   * The API's choices where the contract leaves them open. Default: as decided, or drawn by the laboratory for each
   * world.
   */
  readonly choices?: Choices
  /** Further fields of the account's spec. */
  readonly accountSpec?: Fields
  /** What the agents of Tunnels are. Default: there are none. */
  readonly tunnels?: TunnelPolicy
  /** Whether Services of type LoadBalancer are served. Default: false. */
  readonly services?: boolean
}

const builtIn: readonly ServedType[] = [
  ...[secretType, configMapType, namespaceType, events, leases],
  ...[...workloadTypes, pods, serviceType],
].map((type) => ({ type }))
/** Types of other operators whose objects exist beside resources. */
const companions: readonly ServedType[] = kinds.flatMap((descriptor) => {
  return descriptor.role === 'managed' && descriptor.companion !== undefined
    ? [{ type: descriptor.companion.type }]
    : []
})
/** Every type of which objects exist. */
export const servedTypes: readonly ServedType[] = [
  ...builtIn,
  ...companions,
  ...kinds.map((descriptor) => ({ type: resourceTypeOf(descriptor), schema: rootSchema(descriptor.definition) })),
]

/**
 * An alternative for every choice, drawn by a seed, but for those with which stories end in another way. A bot that
 * lost its marker and whose resource etcd has lost keeps its name, and only people can tell whose it is: if names of
 * bots can be taken, another resource waits for them. A disabled module that must refer to something keeps it from
 * being deleted.
 */
export function mixOf(seed: string): Choices {
  const named = withAlternative(drawnBy(seed), { name: 'unique-names', value: 'domains' })
  return withAlternative(named, { name: 'module-contents', value: 'optional' })
}

/** Creates consecutive worlds over one emulator. */
export class Laboratory {
  readonly #api: ApiServer
  readonly #contrary: string | undefined
  readonly #worlds: SimulatedWorld[] = []
  #opened = 0

  private constructor(api: ApiServer, contrary: string | undefined) {
    this.#api = api
    this.#contrary = contrary
  }

  /** @param contrary draws the choices of each world's API. Default: `CONTRARY_SEED`; without, they are as decided */
  static async open(contrary: string | undefined = CONTRARY_SEED): Promise<Laboratory> {
    const clock = new SimulatedProcess('before', new VirtualTime(), BEGIN)
    return new Laboratory(await ApiServer.open({ clock, random: seededRandom(0) }), contrary)
  }

  /**
   * A cluster with an account, and an operator that is starting. Ends all earlier worlds except the one in `beside`.
   */
  world(options: WorldOptions = {}): SimulatedWorld {
    if (options.beside === undefined) for (const ended of this.#worlds.splice(0)) ended.end()
    this.#opened++
    const drawn = this.#contrary === undefined ? DECIDED : mixOf(`${this.#contrary}.${options.seed ?? this.#opened}`)
    const world = new SimulatedWorld(this.#api, { choices: drawn, ...options })
    this.#worlds.push(world)
    return world
  }
}

/**
 * Kubernetes and an account at the API, with operators between them, with time and randomness of its own: the same seed
 * and the same faults lead to the same requests.
 */
export class SimulatedWorld {
  readonly time: VirtualTime
  readonly kinds: KindsRegistry
  readonly kube: ModelKube
  readonly server: KubeServer
  readonly api: ApiServer
  readonly network: Network
  /** Every operator ever started. */
  readonly operators: SimulatedOperator[] = []
  /** The operators' token for Kubernetes. */
  kubeToken = 'token-1'
  /** The clock of the servers. */
  readonly #servers: SimulatedProcess
  readonly #random: Random
  readonly #replicas: number
  readonly #divisions: readonly Division[]
  readonly #installation: string | undefined
  readonly #tunnels: TunnelPolicy | undefined
  readonly #services: boolean
  /** Whether the account is a ClusterAccount. */
  readonly isShared: boolean
  #isUp: boolean = true
  /** Names of operators that are not restarted. */
  readonly #without = new Set<string>()
  /** How far the operators' machine has stepped its wall clock. Milliseconds. */
  #stepped = 0

  constructor(api: ApiServer, options: WorldOptions) {
    const {
      seed = 1,
      kinds: wanted,
      replicas = 0,
      beside,
      installation,
      isShared = false,
      accountSpec,
      choices,
      tunnels,
      services = false,
      divisions = [],
      accountLabels = {},
    } = options
    const time = beside?.time ?? new VirtualTime()
    this.time = time
    this.#installation = installation
    this.#tunnels = tunnels
    this.#services = services
    this.isShared = isShared
    this.#random = seededRandom(seed)
    this.#servers = beside === undefined ? new SimulatedProcess('servers', time, BEGIN) : beside.#servers
    this.api = api
    if (beside === undefined) api.reset({ clock: this.#servers, random: seededRandom(seed + 1) }, choices)
    const now = (): string => new Date(this.#servers.now()).toISOString().replace(/\.\d+Z$/, 'Z')
    this.kube = new ModelKube(now, beside === undefined ? 'uid' : 'uid-beside')
    this.server = new KubeServer(this.kube, time, servedTypes)
    this.network = new Network(time, { kubernetes: this.server, api })
    this.kinds = new KindsRegistry(
      kinds.filter(({ role, definition }) => role === 'account' || (wanted?.has(definition.kind) ?? true)),
    )
    this.#replicas = replicas
    this.#divisions = divisions
    for (const name of ['kube-system', OPERATOR_NAMESPACE, NAMESPACE]) this.makeNamespace(name)
    this.putSecret('key', { apiKey: KEY }, this.keyNamespace)
    this.#putInputs(NAMESPACE)
    this.server.create(this.accountType, this.accountKey, {
      metadata: { labels: accountLabels },
      spec: {
        baseURL: 'https://api.example.com',
        apiKeySecretRef: { name: 'key' },
        resyncInterval: '60s',
        ...(isShared ? { access: openAccess('Adopt') } : {}),
        ...accountSpec,
      },
    })
    this.#restart()
  }

  /** The faults of requests from now on. */
  set trouble(trouble: Trouble) {
    this.network.trouble = trouble
  }

  calm(): void {
    this.network.trouble = { request: () => undefined }
  }

  /** @param division as which it runs. Default: one that has all accounts */
  startOperator(division?: Division): SimulatedOperator {
    const { network, time, kinds: registry } = this
    const name = `${division?.name ?? 'operator'}-${this.operators.length}`
    const process = new SimulatedProcess(name, time, BEGIN + this.#stepped)
    const leaderElect = this.#replicas > 0 || division !== undefined
    const random = this.#random
    const token = (): string => this.kubeToken
    const installation = this.#installation
    const operator = new SimulatedOperator({
      kinds: registry,
      process,
      network,
      random,
      leaderElect,
      token,
      tunnels: this.#tunnels,
      services: this.#services,
      division,
      ...(installation === undefined ? {} : { installation }),
    })
    this.operators.push(operator)
    return operator
  }

  /** Like a kubelet: restarts a process that has ended a second later, unless the world should stay without. */
  #restart(): void {
    for (const division of this.#missing) this.startOperator(division)
  }

  /** Steps the wall clock of the operators' machine, or of the servers'. */
  stepWall(whose: 'operators' | 'servers', ms: number): void {
    if (whose === 'servers') this.#servers.stepWall(ms)
    else {
      this.#stepped += ms
      for (const { process } of this.operators) process.stepWall(ms)
    }
  }

  /** Kills every operator, and starts none until `up`. */
  down(): void {
    this.#isUp = false
    for (const { process } of this.operators) process.kill()
  }

  /** Kills every operator and ends the world. */
  end(): void {
    this.down()
    for (const operator of this.operators) void operator.forget()
  }

  /** Kills an operator of that name, and starts none of it until `up`. */
  downDivision(name: string): void {
    this.#without.add(name)
    for (const operator of this.operators) if (operator.name === name) operator.process.kill()
  }

  /** Processes that end from now on are not restarted until `up`. */
  startNone(): void {
    this.#isUp = false
  }

  up(): void {
    this.#isUp = true
    this.#without.clear()
    this.#restart()
  }

  /** Advances time; operators that have ended are restarted. */
  async advance(ms: number): Promise<void> {
    await this.until(() => false, ms)
  }

  /** Advances time until `holds`, at most `ms`. Returns whether it holds. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    const end = this.time.now + ms
    for (;;) {
      const anyOver = (): boolean => this.#isUp && this.#missing.length > 0
      const stopped = await this.time.until(() => holds() || anyOver(), Math.max(0, end - this.time.now))
      if (holds()) return true
      if (!stopped) {
        await this.time.advance(Math.max(0, end - this.time.now))
        return holds()
      }
      await this.time.advance(Math.min(RESTART_MS, Math.max(0, end - this.time.now)))
      if (this.#isUp) this.#restart()
      if (this.time.now >= end) return holds()
    }
  }

  /** Operators that should run and do not. */
  get #missing(): readonly (Division | undefined)[] {
    const running = this.operators.filter(({ isOver }) => !isOver)
    if (this.#divisions.length > 0) {
      return this.#divisions.filter(({ name }) => {
        return !this.#without.has(name) && running.every((operator) => operator.name !== name)
      })
    }
    return Array<undefined>(Math.max(0, Math.max(1, this.#replicas) - running.length)).fill(undefined)
  }

  get(kind: string, name: string, namespace: string = NAMESPACE): CustomResource | undefined {
    return this.kube.get<CustomResource>(this.typeOf(kind), { namespace, name })
  }

  /** Every resource of a kind with objects at the API. */
  all(): readonly CustomResource[] {
    return this.kinds.managed.flatMap((descriptor) => {
      return this.kube.list<CustomResource>(resourceTypeOf(descriptor)).items
    })
  }

  /**
   * Like `kubectl apply`: creates the resource, or gives it exactly this spec.
   * @param metadata of a new resource
   */
  apply(kind: string, name: string, spec: Fields, metadata: Fields = {}): void {
    const key = { namespace: NAMESPACE, name }
    if (this.get(kind, name) === undefined) this.server.create(this.typeOf(kind), key, { spec, metadata })
    else this.server.replaceSpec(this.typeOf(kind), key, spec)
  }

  annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): void {
    if (this.get(kind, name) === undefined) return
    this.server.patch(this.typeOf(kind), { namespace: NAMESPACE, name }, { metadata: { annotations } })
  }

  delete(kind: string, name: string, namespace: string = NAMESPACE): void {
    this.kube.delete(this.typeOf(kind), { namespace, name })
  }

  /** Creates a namespace with everything that specs read. */
  makeTenant(name: string): void {
    this.makeNamespace(name)
    this.#putInputs(name)
  }

  #putInputs(namespace: string): void {
    this.putSecret(SECRET.name, SECRET.values, namespace)
    this.server.create(configMapType, { namespace, name: CONFIG_MAP.name }, { data: CONFIG_MAP.values })
  }

  makeNamespace(name: string): void {
    this.kube.create(namespaceType, { name }, { metadata: { labels: { 'kubernetes.io/metadata.name': name } } })
  }

  /** Begins the deletion of a namespace, which keeps what is in it. */
  deleteNamespace(name: string): void {
    this.server.patch(namespaceType, { name }, { metadata: { finalizers: ['kubernetes'] } })
    this.kube.delete(namespaceType, { name })
  }

  putSecret(name: string, values: Readonly<Record<string, string>>, namespace: string = NAMESPACE): void {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    const key = { namespace, name }
    if (this.kube.get(secretType, key) === undefined) this.server.create(secretType, key, { data, type: 'Opaque' })
    else this.server.patch(secretType, key, { data })
  }

  deleteSecret(name: string): void {
    this.kube.delete(secretType, { namespace: NAMESPACE, name })
  }

  secrets(): readonly KubeObject[] {
    return this.kube.list(secretType).items
  }

  /** The holder of the Lease. */
  get leader(): string | undefined {
    return this.leaderOf('culvert')
  }

  /** The holder of the Lease of the operator with that name. */
  leaderOf(name: string): string | undefined {
    const key = { namespace: OPERATOR_NAMESPACE, name }
    return this.kube.get<Lease>(leases, key)?.spec?.holderIdentity
  }

  get account(): AccountResource | undefined {
    return this.kube.get<AccountResource>(this.accountType, this.accountKey)
  }

  /** Gives the account these labels beside those that it has. */
  labelAccount(labels: Readonly<Record<string, string>>): void {
    this.server.patch(this.accountType, this.accountKey, { metadata: { labels } })
  }

  /** Patches the spec of the account. */
  editAccount(spec: Fields): void {
    this.server.patch(this.accountType, this.accountKey, { spec })
  }

  get accountType(): ResourceType {
    return this.kinds.accountType(this.isShared ? 'ClusterAccount' : 'Account')
  }

  get accountKey(): ObjectKey {
    return this.isShared ? { name: ACCOUNT.name } : ACCOUNT
  }

  /** The namespace of the account's Secrets. */
  get keyNamespace(): string {
    return this.isShared ? OPERATOR_NAMESPACE : NAMESPACE
  }

  /** Whether no other resource whose status names the same object goes before this one. */
  owns(cr: CustomResource): boolean {
    const { id } = statusOf(cr)
    const claimants = this.all().filter((other) => statusOf(other).id === id)
    return holderAmong(claimants)?.metadata.uid === cr.metadata.uid
  }

  /** Where the API stores the object of a resource; undefined before there is one. */
  placeOf(cr: CustomResource): { readonly path: string; readonly id: string } | undefined {
    const { id } = statusOf(cr)
    const collection = this.kinds.managedKind(cr.kind)?.identity.collectionOf(cr.spec)
    return id === undefined || collection === undefined ? undefined : { path: collection.path, id }
  }

  typeOf(kind: string): ResourceType {
    const descriptor = this.kinds.all.find(({ definition }) => definition.kind === kind)
    if (descriptor === undefined) throw new Error(`the world has no ${kind}`)
    return resourceTypeOf(descriptor)
  }
}

/** Whether the request changes something lasting: Leases and Events do not count. */
export function isWrite({ method, path }: Sighting): boolean {
  return method !== 'GET' && !/\/(leases|events)(\/|$)/.test(path)
}
