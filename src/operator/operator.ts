import type { Tracer } from '@opentelemetry/api'
import type { OpenDispatcher } from '../api/dispatcher.ts'
import { ApiError } from '../api/errors.ts'
import { packageVersion } from '../config.ts'
import { type ClosableKubeClient, createKubeClient } from '../kube/client.ts'
import type { KubeConnection } from '../kube/load-config.ts'
import { keptSalt } from '../managed/inputs/salt.ts'
import type { KindsRegistry } from '../managed/kinds-registry.ts'
import { Fingerprints } from '../managed/run/fingerprints.ts'
import { SessionStore } from '../managed/sessions/session-store.ts'
import { ResourceStore } from '../managed/store/resource-store.ts'
import { LeaderElection } from '../runtime/leader-election.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Turns } from '../runtime/turns.ts'
import type { AuditLog } from '../telemetry/audit.ts'
import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'
import type { ReconcilersOptions } from './controller-parts.ts'
import { installationId } from './installation.ts'
import type { OperatorOptions } from './options.ts'
import { createReconcilers } from './reconcilers.ts'
import { Relist } from './relist.ts'
import { USER_AGENT } from './sessions.ts'
import type { Watches } from './watches.ts'
import { allWatches, createWatches, refreshWatches } from './watches.ts'
import { explainingRefusals, notingWrites } from './wrapped-clients.ts'

/** The parts of one operator, its only access to the outside world. */
export interface OperatorParts {
  readonly options: OperatorOptions
  readonly kinds: KindsRegistry
  readonly connection: KubeConnection
  /** Opens the connections to APIs. Default: real sockets. */
  readonly openDispatcher?: OpenDispatcher
  readonly metrics: Metrics
  readonly audit: AuditLog
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly random: Random
  /** Lets the event loop go on between reconciles. Default: none, for simulations. */
  readonly turns?: Turns
  /** Salt of all fingerprints. Default: the one stored in the operator's namespace. */
  readonly salt?: Buffer
}

/** Everything in one operator process except health, metrics and other telemetry. */
export class Operator {
  readonly #parts: OperatorParts
  readonly #options: OperatorOptions
  readonly #clock: Clock
  readonly #metrics: Metrics
  readonly #kube: ClosableKubeClient
  readonly #electionKube: ClosableKubeClient
  readonly #election: LeaderElection
  readonly #started = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  /** What a stop waits for before the Lease is released. */
  #drained: Promise<void> | undefined
  #leadingSince: number | undefined
  #claimedAt: number | undefined
  #synced = false

  constructor(parts: OperatorParts) {
    const { options, connection, metrics, tracer, clock, random } = parts
    this.#parts = parts
    this.#options = options
    this.#clock = clock
    this.#metrics = metrics
    this.#metrics.setLeading(options.name, false)
    this.#metrics.setBuild(packageVersion())
    const shared = { connection, clock, random, userAgent: USER_AGENT }
    this.#electionKube = createKubeClient({ ...shared, timeoutMs: 3_000, maxRetries: 0 })
    this.#kube = createKubeClient({
      ...shared,
      writeTimeoutMs: options.requestTimeoutMs,
      beforeWrite: () => this.#assertLeader(),
      onRequest: this.#metrics.kubeRequest,
      tracer,
    })
    this.#election = new LeaderElection({
      client: explainingRefusals(this.#electionKube, metrics.refusedWrite),
      clock,
      random,
      logger: options.logger,
      namespace: options.namespace,
      name: options.name,
      identity: options.identity,
      leaseDurationMs: options.leaseDurationMs,
      renewDeadlineMs: options.renewDeadlineMs,
      retryPeriodMs: options.retryPeriodMs,
      onStartedLeading: (claimedAt) => this.#onStartedLeading(claimedAt),
      onStoppedLeading: () => this.#onStoppedLeading(),
    })
  }

  /** Whether the watches have delivered all existing objects. */
  get hasSynced(): boolean {
    return this.#synced
  }

  /**
   * Runs until `signal` is aborted or leadership is lost.
   *
   * @returns the exit code of the process.
   */
  async run(signal: AbortSignal): Promise<number> {
    const work = this.#work(AbortSignal.any([signal, this.#stopped.signal]))
    try {
      if (this.#options.leaderElect) return await this.#lead(signal, work)
      this.#onStartedLeading()
      await work
      return 0
    } finally {
      this.#stopped.abort()
      await work
    }
  }

  /** Closes its connections to the API server after `run`. */
  async close(): Promise<void> {
    await Promise.all([this.#kube.close(), this.#electionKube.close()])
  }

  /** Leads until asked to stop; the Lease is released once the work in flight has ended. */
  async #lead(signal: AbortSignal, work: Promise<void>): Promise<number> {
    this.#drained = work
    const failed = new AbortController()
    // `run` reports the failure; without the work there is no reason to lead.
    work.catch(() => failed.abort())
    return (await this.#election.run(AbortSignal.any([signal, failed.signal]))) === 'lost' ? 1 : 0
  }

  /**
   * @param claimedAt undefined without an election: nobody else wrote anything, and the watches have seen everything
   * that this process did not write.
   */
  #onStartedLeading(claimedAt?: number): void {
    this.#leadingSince = this.#clock.monotonic()
    this.#claimedAt = claimedAt
    this.#metrics.setLeading(this.#options.name, true)
    this.#started.resolve()
  }

  async #onStoppedLeading(): Promise<void> {
    this.#metrics.setLeading(this.#options.name, false)
    this.#stopped.abort()
    await this.#drained
  }

  #assertLeader(): void {
    if (this.#options.leaderElect) this.#election.assertLeader()
  }

  /**
   * The watches start early, so that a standby is warm; the reconcilers start when this process leads, on lists of its
   * term.
   */
  async #work(signal: AbortSignal): Promise<void> {
    const {
      namespace,
      watchNamespaces,
      tunnels,
      services,
      readSecretsEveryMs: intervalMs,
      watchSilenceMs,
      logger,
    } = this.#options
    const { kinds, clock, random, turns } = this.#parts
    const onReset = (since: number): void => relist.request(since)
    const base = { client: this.#kube, clock, random, turns, logger, stallMs: watchSilenceMs, onReset }
    const watches = createWatches(kinds, base, {
      namespaces: watchNamespaces,
      tunnels: tunnels !== undefined,
      services: services !== undefined,
      readOneByOne: intervalMs === undefined ? undefined : { intervalMs, operatorNamespace: namespace },
    })
    const relist = new Relist({ clock, signal, refresh: (since) => refreshWatches(watches, since, clock) })
    const reflectors = allWatches(watches)
    const store = new ResourceStore(kinds, watches)
    store.recordInto(watches.composed)
    const sessions = new SessionStore(kinds, watches, store)
    // If the Lease is free, the first lists already belong to the term.
    if (this.#options.leaderElect) await Promise.race([this.#election.attempted, aborted(signal)])
    const running = reflectors.map((reflector) => reflector.start(signal))
    try {
      await Promise.race([Promise.all(reflectors.map((reflector) => reflector.synced)), aborted(signal)])
      this.#synced = true
      await Promise.race([this.#started.promise, aborted(signal)])
      await Promise.race([this.#refresh(watches), aborted(signal)])
      if (!signal.aborted) await this.#reconcile({ watches, store, sessions }, signal)
    } catch (error) {
      // Otherwise the watches would keep running forever, in a process that does nothing.
      this.#stopped.abort()
      throw error
    } finally {
      await Promise.allSettled(running)
    }
  }

  /**
   * Nothing is sent based on what was seen before this process led: a watch may have been silent while another process
   * acted on changes that it missed (docs/decisions/0016-lists-of-the-term.md).
   */
  async #refresh(watches: Watches): Promise<void> {
    if (this.#claimedAt === undefined) return
    const { logger } = this.#options
    logger.info({}, 'listing the types that were not listed since this process became the leader')
    await refreshWatches(watches, this.#claimedAt, this.#clock)
  }

  async #reconcile(
    seen: Pick<ReconcilersOptions, 'watches' | 'store' | 'sessions'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name, logger } = this.#options
    const kube = explainingRefusals(this.#kube, this.#metrics.refusedWrite)
    const installation = this.#options.installation ?? (await installationId(kube, namespace, name))
    const { random, salt = await keptSalt({ kube, namespace, random }) } = this.#parts
    const reconcilers = createReconcilers({
      ...this.#parts,
      installation,
      fingerprints: new Fingerprints(salt),
      ...seen,
      kube: notingWrites(kube, seen.watches),
      leadingSince: this.#leadingSince ?? this.#clock.monotonic(),
      beforeApiWrite: () => this.#assertLeaderForApi(),
    })
    logger.info({ installation, namespace }, 'reconciling')
    await reconcilers.run(signal)
  }

  #assertLeaderForApi(): void {
    if (!this.#options.leaderElect || this.#election.isLeader()) return
    throw new ApiError('NotLeader', 'this process does not lead', { definite: true })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
