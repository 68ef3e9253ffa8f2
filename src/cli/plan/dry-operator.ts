import type { ClosableApiClient } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { type AccountKey, accountKey } from '../../managed/account-resource.ts'
import { KeptKeys } from '../../managed/accounts/kept-key.ts'
import { KeysInUse } from '../../managed/accounts/keys-in-use.ts'
import { AccountRegistry } from '../../managed/accounts/registry.ts'
import { LiveSession, type SessionConfig } from '../../managed/accounts/session.ts'
import { resolveWanted } from '../../managed/apply/resolve-wanted.ts'
import {
  type CustomResource,
  hasNoConditions,
  internalOf,
  isDeleting,
  nameText,
  type ResourceName,
  shortName,
  statusOf,
} from '../../managed/cr.ts'
import type { Condition } from '../../managed/descriptor/common.ts'
import { fixedDifferences } from '../../managed/identity/adopt.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { objectKeys } from '../../managed/markers/object-keys.ts'
import { type Approvals, ManagedReconciler } from '../../managed/reconcile/managed-reconciler.ts'
import { accountOf, openSession } from '../../managed/references/account-choice.ts'
import type { ManagedContext } from '../../managed/run/context.ts'
import { ConflictError } from '../../managed/run/control-flow-errors.ts'
import type { Fingerprints } from '../../managed/run/fingerprints.ts'
import { IdsInFlight } from '../../managed/run/ids-in-flight.ts'
import { Memories } from '../../managed/run/memory.ts'
import { Reconciliation } from '../../managed/run/reconciliation.ts'
import { withService } from '../../managed/services/followed.ts'
import { ResourceStore } from '../../managed/store/resource-store.ts'
import { subscribeWakeups } from '../../managed/store/wakeups.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { Logger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import { isPlaceholder } from './answers.ts'
import type { DryClock } from './dry-clock.ts'
import type { DryCluster } from './dry-cluster.ts'
import { PlanError } from './scene.ts'

interface DryOperatorOptions {
  readonly kinds: KindsRegistry
  readonly cluster: DryCluster
  readonly account: ClosableApiClient
  /** How many writes the account has been sent. */
  readonly writesSent: () => number
  readonly config: SessionConfig
  /** Whether the plan is for that account; the resources of others are left alone. */
  readonly isPlanned: (account: AccountKey) => boolean
  /** The marker's installation. */
  readonly installation: string
  readonly operatorNamespace: string
  readonly fingerprints: Fingerprints
  readonly clock: DryClock
  readonly random: Random
  readonly logger: Logger
}

/** How the reconciles of one resource ended. */
interface Ended {
  readonly cr: CustomResource
  /** Why its spec is not carried out, or not yet; undefined if it is. */
  readonly lacks: Condition | undefined
}

/** Waits that are skipped in all, at most: former objects are deleted within that time, whatever held them. */
const LONGEST_AHEAD_MS = 3_600_000
/** After so many waits in a row without any effect, nothing more will happen. */
const IDLE_WAITS = 4

/** A dry run shows what follows once plans are approved. */
const APPROVES_EVERYTHING: Approvals = { spec: async () => undefined, deletion: async () => undefined }
/** A resource that is reconciled more often goes in circles. */
const MOST_RECONCILES = 200

/**
 * The operator's own reconciler over a cluster and an account that nothing is written to. Resources are reconciled one
 * by one, and again when something that they wait for has happened, until nothing happens any more.
 */
export class DryOperator {
  readonly #options: DryOperatorOptions
  readonly #store: ResourceStore
  readonly #registry: AccountRegistry
  readonly #context: ManagedContext
  readonly #reconciler: ManagedReconciler
  readonly #queue = new Map<string, ResourceName>()
  /** Monotonic time when a resource wants to be reconciled again. */
  readonly #due = new Map<string, { readonly name: ResourceName; readonly at: number }>()
  readonly #counts = new Map<string, number>()

  constructor(options: DryOperatorOptions) {
    this.#options = options
    const { kinds, cluster, clock, random, logger, installation, fingerprints, operatorNamespace } = options
    const store = new ResourceStore(kinds, cluster.watches)
    this.#store = store
    const memories = new Memories()
    this.#registry = new AccountRegistry(store, kinds, clock)
    store.setAddressLookup((account, id) => this.#registry.shownAt(account, id))
    const keptKeys = new KeptKeys(cluster, operatorNamespace)
    this.#context = {
      kinds,
      resources: store,
      accounts: this.#registry,
      keyDependents: new KeysInUse(keptKeys, store, fingerprints),
      kube: cluster,
      companions: { policy: { enabled: false, domains: [] }, watch: () => undefined },
      amendConditions: withService,
      events: { record: () => undefined },
      metrics: { drift: () => undefined },
      // Nothing that an operator sent can still be on its way, as far as a plan is concerned.
      leadership: { leadingSince: () => Number.NEGATIVE_INFINITY },
      memories,
      times: { requestTimeoutMs: 0, scanPauseMs: 0, readLagMs: 0 },
      installation,
      fingerprints,
      clock,
      random,
      logger,
      inFlight: new IdsInFlight(clock, 0),
    }
    this.#reconciler = new ManagedReconciler(this.#context, APPROVES_EVERYTHING)
    subscribeWakeups({
      kinds,
      store,
      watches: cluster.watches,
      memories,
      operatorNamespace,
      wake: { managed: (name) => this.enqueue(name), account: () => undefined },
    })
  }

  enqueue(name: ResourceName): void {
    this.#queue.set(nameText(name), name)
  }

  /**
   * Reconciles what is queued, and whatever that wakes.
   * @param progress called before each reconcile
   */
  async run(progress: (left: number) => void = () => undefined): Promise<void> {
    for (let idle = 0; idle < IDLE_WAITS; ) {
      const before = this.#options.writesSent()
      await this.#runQueue(progress)
      if (!this.#skipWait()) return
      idle = this.#options.writesSent() === before ? idle + 1 : 0
    }
  }

  /** The resource as it is now; undefined once it is gone. */
  ended(name: ResourceName): Ended | undefined {
    const cr = this.#store.get(name)
    if (cr === undefined) return undefined
    const synced = statusOf(cr).conditions?.find(({ type }) => type === 'Synced')
    return { cr, lacks: synced === undefined || synced.status === 'True' ? undefined : synced }
  }

  /**
   * Fields at the API in which the resource's object differs from its spec and which cannot be changed. The apiserver
   * refuses such an edit, but only knows of one in its own cluster.
   */
  async fixedDifferences(name: ResourceName): Promise<readonly string[]> {
    const cr = this.#store.get(name)
    const descriptor = this.#options.kinds.managedKind(name.kind)
    const { id } = cr === undefined ? {} : statusOf(cr)
    // An object that the plan itself would make has what its spec says, whatever stands for it meanwhile.
    if (cr === undefined || descriptor === undefined || id === undefined || isDeleting(cr) || isPlaceholder(id))
      return []
    const run = new Reconciliation(this.#context, descriptor, cr)
    run.enter(openSession(this.#context, cr))
    const object = run.session.cache.get(run.collection, id)?.object
    if (object === undefined) return []
    const fixed = fixedDifferences(run, await resolveWanted(run), object)
    return fixed.filter((field) => descriptor.replacement?.fields.includes(field) !== true)
  }

  /** The account of a resource; undefined if it has none. */
  accountOf(cr: CustomResource): AccountKey | undefined {
    const account = accountOf({ kinds: this.#options.kinds, resources: this.#store }, cr)
    return account && accountKey(account, cr.metadata.namespace ?? '')
  }

  async #runQueue(progress: (left: number) => void): Promise<void> {
    for (;;) {
      const [next] = this.#queue
      if (next === undefined) return
      const [key, name] = next
      this.#queue.delete(key)
      this.#due.delete(key)
      const count = (this.#counts.get(key) ?? 0) + 1
      this.#counts.set(key, count)
      if (count > MOST_RECONCILES) throw new PlanError(`${shortName(name)} does not converge: please report this`)
      progress(this.#queue.size)
      this.#openAccount(name)
      const outcome = await this.#reconciler.reconcile(name)
      this.#note(key, name, outcome)
    }
  }

  #note(key: string, name: ResourceName, outcome: Outcome): void {
    if (outcome.type === 'backoff') this.#retry(name, outcome.error)
    if (outcome.type !== 'after') return
    if (outcome.ms <= 0) this.enqueue(name)
    else this.#due.set(key, { name, at: this.#options.clock.monotonic() + outcome.ms })
  }

  /** @throws what keeps the account or the cluster from being read: a plan from part of them would be wrong. */
  #retry(name: ResourceName, error: unknown): void {
    if (error instanceof ConflictError) this.enqueue(name)
    else if (!(error instanceof ApiError && error.code === 'Unlistable')) throw error
  }

  /** Puts the clock forward to the next resource that has something left to do. @returns false if there is none. */
  #skipWait(): boolean {
    const { clock } = this.#options
    const waiting = [...this.#due.values()].filter(({ name }) => this.#hasWork(name)).sort((a, b) => a.at - b.at)
    const [first] = waiting
    if (first === undefined) return false
    const ms = first.at - clock.monotonic()
    if (clock.aheadMs + ms > LONGEST_AHEAD_MS) return false
    clock.putForward(ms + 1)
    for (const { name, at } of waiting) if (at <= clock.monotonic()) this.enqueue(name)
    return true
  }

  /** A resource at rest only waits for the service; one without conditions reports its wait once that has lasted. */
  #hasWork(name: ResourceName): boolean {
    const ended = this.ended(name)
    if (ended === undefined) return false
    return ended.lacks !== undefined || hasNoConditions(ended.cr) || (internalOf(ended.cr).superseded ?? []).length > 0
  }

  /** Every account that the plan is made for is the one that is read. */
  #openAccount(name: ResourceName): void {
    const cr = this.#store.get(name)
    const key = cr && this.accountOf(cr)
    if (key === undefined || this.#registry.get(key) !== undefined) return
    if (this.#store.account(key) === undefined || !this.#options.isPlanned(key)) return
    const { account, clock, config, fingerprints, kinds } = this.#options
    const session = new LiveSession({
      key,
      config,
      client: account,
      clock,
      fingerprints,
      keysOf: objectKeys(kinds),
      // Nothing vanishes from an account that is read once.
      knownObjects: () => Number.MAX_SAFE_INTEGER,
      isHeld: () => false,
      recheck: () => undefined,
    })
    session.unblock(session.blocked())
    this.#registry.replace(key, session)
  }
}
