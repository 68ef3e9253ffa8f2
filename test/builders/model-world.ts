import type { Collection } from '../../src/api/types.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject, ResourceType } from '../../src/kube/types.ts'
import type { AccountResource } from '../../src/managed/accounts/account-resource.ts'
import { type CustomResource, statusOf } from '../../src/managed/cr.ts'
import { parseAttempt } from '../../src/managed/identity/attempt.ts'
import { parseMarker } from '../../src/managed/identity/marker.ts'
import { secretType } from '../../src/managed/inputs/inputs.ts'
import { KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { CREATE_ATTEMPT } from '../../src/managed/names.ts'
import { mergePatch } from '../../src/managed/status/merge-patch.ts'
import type { Random } from '../../src/util/random.ts'
import { FakeClock } from './fake-clock.ts'
import type { SentWrite } from './model-account.ts'
import { ModelAccount } from './model-account.ts'
import { type ApiFault, ModelAccountClient } from './model-account-client.ts'
import { ModelKube } from './model-kube.ts'
import { type KubeFault, ModelKubeClient } from './model-kube-client.ts'
import { OPERATOR_NAMESPACE, startModelOperator, times } from './model-operator.ts'
import { ModelProcess } from './model-process.ts'
import { seededRandom } from './seeded-random.ts'
import type { LogLine } from './silent-logger.ts'

type Fields = Readonly<Record<string, unknown>>

const NAMESPACE = 'shop'
const ACCOUNT = { namespace: NAMESPACE, name: 'default' }
const KINDS: ReadonlySet<string> = new Set([
  'Account',
  'ClusterAccount',
  'IPPolicy',
  'IPPolicyRule',
  'Backend',
  'Edge',
  'CertificateAuthority',
  'BotUser',
  'APIKey',
  'TunnelCredential',
  'SSHCertificateAuthority',
  'SSHUserCertificate',
  'ReservedDomain',
  'ReservedAddress',
  'AgentIngress',
])
const registry = new KindsRegistry(kinds.filter(({ definition }) => KINDS.has(definition.kind)))

/** A cluster and an account, both models, with an operator that can be killed and restarted, and a clock of its own. */
export class ModelWorld {
  readonly clock = new FakeClock()
  readonly kube = new ModelKube()
  readonly account = new ModelAccount()
  /** API keys and their accounts. */
  readonly keys = new Map([['key-1', this.account]])
  /** Accounts that any key opens, by address. Other addresses lead to `keys`. */
  readonly addresses = new Map<string, ModelAccount>()
  /** Ids of API keys that the API currently refuses. */
  readonly refusedKeys = new Set<string>()
  readonly apiFaults: ApiFault[] = []
  readonly kubeFaults: KubeFault[] = []
  /** Faults of the writes to the Secrets in which keys of accounts are kept. */
  readonly keptKeyFaults: KubeFault[] = []
  /** Every write that reached a server, and every Event. */
  readonly writes: string[] = []
  /** Every GET at the API. */
  readonly reads: string[] = []
  readonly events: string[] = []
  /** Violations of rules that hold at every moment. */
  readonly violations: string[] = []
  /** Runs when the next POST arrives at the API. */
  duringPost: (() => void) | undefined
  readonly #posted = new Set<string>()
  readonly #logs: LogLine[][] = []
  readonly #random: Random
  #process: ModelProcess
  #stop = new AbortController()

  private constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.#process = new ModelProcess(this.clock)
  }

  static start(seed = 1): ModelWorld {
    const world = new ModelWorld(seed)
    world.kube.create(
      { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
      { name: NAMESPACE },
      {},
    )
    world.kube.create(secretType, { namespace: NAMESPACE, name: 'key' }, { data: { apiKey: btoa('key-1') } })
    world.kube.create(registry.accountType('Account'), ACCOUNT, {
      spec: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' }, resyncInterval: '60s' },
    })
    world.startOperator()
    return world
  }

  /** Errors that no reconcile anticipated. */
  get bugs(): readonly LogLine[] {
    return this.#logs.flat().filter(({ level }) => level === 'error')
  }

  /** Everything that the operator logged. */
  get log(): string {
    return JSON.stringify(this.#logs.flat())
  }

  startOperator(): void {
    const { clock, kube } = this
    this.#process = new ModelProcess(clock)
    this.#stop = new AbortController()
    const process = this.#process
    const { lines } = startModelOperator(
      {
        kinds: registry,
        clock,
        random: this.#random,
        onEvent: (about, reason) => {
          if (process.alive) this.events.push(`${about.kind}/${about.metadata.name} ${reason}`)
        },
        kube: new ModelKubeClient({
          kube,
          process,
          clock,
          lagMs: 20,
          // Stories leave the account's Secrets alone.
          nextFault: ({ kind }, { namespace }) => {
            if (kind === 'Secret' && namespace === OPERATOR_NAMESPACE) return this.keptKeyFaults.shift()
            const isOutput = kind === 'Secret' && namespace === NAMESPACE
            return isOutput || registry.managedKind(kind) !== undefined ? this.kubeFaults.shift() : undefined
          },
          onWrite: (label) => this.writes.push(label),
        }),
        openApi: ({ apiKey, baseURL }) =>
          new ModelAccountClient({
            account: () => this.addresses.get(baseURL) ?? this.keys.get(apiKey) ?? this.#openedBy(apiKey),
            onRead: (path) => this.reads.push(path),
            process,
            clock,
            requestTimeoutMs: times.requestTimeoutMs,
            nextFault: () => this.apiFaults.shift(),
            onWrite: (write) => this.#onApiWrite(write),
          }),
      },
      this.#stop.signal,
    )
    this.#logs.push(lines)
  }

  /** Ends the operator like `kill -9`. */
  kill(): void {
    this.#process.kill()
    this.#stop.abort()
  }

  /** Advances time until `holds`, at most `ms`. @throws Error if it does not hold by then */
  async until(what: string, holds: () => boolean, ms = 3_600_000): Promise<void> {
    const end = this.clock.monotonic() + ms
    while (!holds()) {
      if (this.clock.monotonic() > end) throw new Error(`${what} did not come to hold`)
      await this.clock.advance(100)
    }
  }

  get(kind: string, name: string): CustomResource | undefined {
    return this.kube.get<CustomResource>(typeOf(kind), { namespace: NAMESPACE, name })
  }

  all(): readonly CustomResource[] {
    return registry.managed.flatMap((descriptor) => this.kube.list<CustomResource>(resourceTypeOf(descriptor)).items)
  }

  /** The Account of these resources. */
  get accountResource(): AccountResource | undefined {
    return this.kube.get<AccountResource>(registry.accountType('Account'), ACCOUNT)
  }

  patchAccount(patch: Fields): void {
    this.kube.mergePatch(registry.accountType('Account'), ACCOUNT, patch)
  }

  deleteAccount(): void {
    this.kube.delete(registry.accountType('Account'), ACCOUNT)
  }

  /**
   * Creates the Account again with another address, as a restore or a GitOps tool may: with its annotations, but without
   * the status, unless it is `kept`.
   */
  moveAccount(baseURL: string, kept: 'status kept' | 'status lost'): void {
    const type = registry.accountType('Account')
    const former = this.accountResource
    if (former === undefined) throw new Error('there is no Account')
    const { spec, status, metadata } = former
    this.patchAccount({ metadata: { finalizers: [] } })
    this.deleteAccount()
    this.kube.create(type, ACCOUNT, {
      metadata: { annotations: metadata.annotations ?? {} },
      spec: { ...spec, baseURL },
      ...(kept === 'status kept' ? { status } : {}),
    })
  }

  /** Puts another API key into the Secret. */
  changeKey(apiKey: string): void {
    this.kube.mergePatch(secretType, { namespace: NAMESPACE, name: 'key' }, { data: { apiKey: btoa(apiKey) } })
  }

  /** Like `kubectl apply`: creates the resource or gives it another spec; one that is being deleted is left alone. */
  apply(kind: string, name: string, spec: Fields, metadata: Fields = {}): void {
    const key = { namespace: NAMESPACE, name }
    const before = this.get(kind, name)
    if (before === undefined) this.kube.create(typeOf(kind), key, { spec, metadata })
    else if (before.metadata.deletionTimestamp === undefined) {
      this.kube.mergePatch(typeOf(kind), key, { spec: mergePatch({ ...before.spec }, spec) ?? {} })
    }
  }

  patch(kind: string, name: string, patch: Fields): void {
    if (this.get(kind, name) !== undefined) this.kube.mergePatch(typeOf(kind), { namespace: NAMESPACE, name }, patch)
  }

  wipeStatus(kind: string, name: string): void {
    this.kube.mergePatch(typeOf(kind), { namespace: NAMESPACE, name }, { status: null }, { subresource: 'status' })
  }

  delete(kind: string, name: string): void {
    this.kube.delete(typeOf(kind), { namespace: NAMESPACE, name })
  }

  /** Restores the resource from a backup: the same name, spec and annotations with another uid, without its status. */
  restore(kind: string, name: string): void {
    const before = this.get(kind, name)
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return
    const { annotations = {}, finalizers = [] } = before.metadata
    this.patch(kind, name, { metadata: { finalizers: [] } })
    this.delete(kind, name)
    this.apply(kind, name, before.spec as Fields, { annotations, finalizers })
  }

  /** The remote object named in a resource's status. */
  remote(cr: CustomResource) {
    const collection = registry.managedKind(cr.kind)?.identity.collectionOf(cr.spec)
    const { id } = statusOf(cr)
    return id === undefined || collection === undefined ? undefined : this.account.get(collection.path, id)
  }

  /** The account of a key's token, if it has the key and does not refuse it. */
  #openedBy(token: string): ModelAccount | undefined {
    const id = this.account.tokens.get(token)
    const opens = id !== undefined && this.account.get('api_keys', id) !== undefined && !this.refusedKeys.has(id)
    return opens ? this.account : undefined
  }

  /** Whether the resource owns a Secret. */
  #reserves({ metadata: { uid } }: CustomResource): boolean {
    const { items } = this.kube.list<KubeObject>(secretType)
    return items.some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false)
  }

  #onApiWrite({ method, collection, body }: SentWrite): void {
    this.writes.push(`${method} ${collection.path}`)
    if (method !== 'POST') return
    this.duringPost?.()
    this.duringPost = undefined
    const marker = parseMarker(body.metadata ?? body.name)
    if (marker === undefined || collection.path === 'ip_policy_rules') return
    const cr = this.get(marker.kind, marker.name)
    if (cr !== undefined && isTold(collection) && !this.#reserves(cr)) {
      this.violations.push(`POST without a Secret: ${marker.kind}/${marker.name}`)
    }
    const attempt = parseAttempt(cr?.metadata.annotations?.[CREATE_ATTEMPT])
    const post = `${marker.kind}/${marker.name} ${marker.nonce} attempt ${attempt?.number}`
    if (attempt?.uid !== marker.uid || attempt.nonce !== marker.nonce || cr?.metadata.uid !== marker.uid) {
      this.violations.push(`POST without a durable attempt: ${post}`)
    }
    if (!cr?.metadata.finalizers?.includes('culvert.dev/remote'))
      this.violations.push(`POST without finalizer: ${post}`)
    if (this.#posted.has(post)) this.violations.push(`a second POST: ${post}`)
    this.#posted.add(post)
  }
}

/** Whether the API shows a field of these objects only once. */
function isTold({ oneTimeFields = [] }: Collection): boolean {
  return oneTimeFields.length > 0
}

function typeOf(kind: string): ResourceType {
  const descriptor = registry.managedKind(kind)
  if (descriptor === undefined) throw new Error(`the world has no ${kind}`)
  return resourceTypeOf(descriptor)
}
