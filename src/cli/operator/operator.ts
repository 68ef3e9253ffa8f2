import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import { ApiError } from '../../api/errors.ts'
import { packageVersion } from '../../config.ts'
import { kinds } from '../../kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../../kube/client.ts'
import { loadKubeConnection } from '../../kube/load-config.ts'
import { KindsRegistry } from '../../managed/kinds-registry.ts'
import { ResourceStore, type Watches } from '../../managed/resource-store.ts'
import { HealthServer } from '../../runtime/health.ts'
import { LeaderElection } from '../../runtime/leader-election.ts'
import { Metrics } from '../../runtime/metrics.ts'
import { type AuditLog, openAuditLog } from '../../telemetry/audit.ts'
import { startTracing, type Tracing } from '../../telemetry/tracing.ts'
import { type Clock, systemClock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import { type Random, systemRandom } from '../../util/random.ts'
import { installationId } from './installation.ts'
import { notingWrites } from './noting-writes.ts'
import { type OperatorOptions, refuseUnsafeTimes } from './options.ts'
import { createReconcilers } from './reconcilers.ts'
import { USER_AGENT } from './sessions.ts'
import { allWatches, createWatches } from './watches.ts'

/**
 * Runs an operator until `signal` is aborted or leadership is lost.
 * @param clock what it takes the time from. Default: the machine's clock.
 * @returns the exit code of the process: 0 after a stop that was asked for, 1 after lost leadership.
 */
export async function runOperator(
  options: OperatorOptions,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<number> {
  refuseUnsafeTimes(options)
  const telemetry = await openTelemetry(options, clock)
  try {
    return await new Operator(options, telemetry, clock).run(signal)
  } finally {
    telemetry.audit.close()
    await telemetry.tracing?.close()
  }
}

/** What an operator tells others about itself. */
interface Telemetry {
  readonly registry: Registry
  readonly metrics: Metrics
  readonly audit: AuditLog
  /** Undefined while nobody wants traces. */
  readonly tracing: Tracing | undefined
}

async function openTelemetry(options: OperatorOptions, clock: Clock): Promise<Telemetry> {
  const { auditLog = 'off', otlpEndpoint, identity, logger } = options
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = new Metrics(registry)
  const shared = { clock, logger }
  const audit = openAuditLog({ ...shared, destination: auditLog, onFailure: metrics.auditFailed })
  const tracing = options.tracing
    ? await startTracing({ ...shared, endpoint: otlpEndpoint, version: packageVersion(), instance: identity })
    : undefined
  return { registry, metrics, audit, tracing }
}

/** Everything that one process is made of. */
class Operator {
  readonly #options: OperatorOptions
  readonly #clock: Clock
  readonly #random: Random = systemRandom
  readonly #logger: Logger
  readonly #telemetry: Telemetry
  readonly #metrics: Metrics
  readonly #kinds = new KindsRegistry(kinds)
  readonly #kube: ClosableKubeClient
  readonly #electionKube: ClosableKubeClient
  readonly #election: LeaderElection
  readonly #started = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  /** What a stop waits for before the Lease is released. */
  #drained: Promise<void> | undefined
  #leadingSince: number | undefined
  #synced = false

  constructor(options: OperatorOptions, telemetry: Telemetry, clock: Clock) {
    this.#options = options
    this.#clock = clock
    this.#telemetry = telemetry
    this.#metrics = telemetry.metrics
    this.#logger = options.logger
    this.#metrics.setLeading(options.name, false)
    this.#metrics.setBuild(packageVersion())
    const connection = loadKubeConnection({ kubeconfig: options.kubeconfig, context: options.context })
    const shared = { connection, clock: this.#clock, random: this.#random, userAgent: USER_AGENT }
    this.#electionKube = createKubeClient({ ...shared, timeoutMs: 3_000, maxRetries: 0 })
    this.#kube = createKubeClient({
      ...shared,
      writeTimeoutMs: options.requestTimeoutMs,
      beforeWrite: () => this.#assertLeader(),
      onRequest: this.#metrics.kubeRequest,
      tracer: telemetry.tracing?.tracer,
    })
    this.#election = new LeaderElection({
      client: this.#electionKube,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      namespace: options.namespace,
      name: options.name,
      identity: options.identity,
      leaseDurationMs: options.leaseDurationMs,
      renewDeadlineMs: options.renewDeadlineMs,
      retryPeriodMs: options.retryPeriodMs,
      onStartedLeading: () => this.#onStartedLeading(),
      onStoppedLeading: () => this.#onStoppedLeading(),
    })
  }

  async run(signal: AbortSignal): Promise<number> {
    const health = this.#health()
    const port = await health.listen()
    this.#logger.info({ port }, 'serving health and metrics')
    const work = this.#work(AbortSignal.any([signal, this.#stopped.signal]))
    try {
      if (this.#options.leaderElect) return await this.#lead(signal, work)
      this.#onStartedLeading()
      await work
      return 0
    } finally {
      this.#stopped.abort()
      await work
      await health.close()
      await Promise.all([this.#kube.close(), this.#electionKube.close()])
    }
  }

  /** Leads until told to stop; the Lease is released once the work in flight has ended. */
  async #lead(signal: AbortSignal, work: Promise<void>): Promise<number> {
    this.#drained = work
    const failed = new AbortController()
    // `run` reports the failure; without the work there is nothing to lead for.
    work.catch(() => failed.abort())
    return (await this.#election.run(AbortSignal.any([signal, failed.signal]))) === 'lost' ? 1 : 0
  }

  #onStartedLeading(): void {
    this.#leadingSince = this.#clock.monotonic()
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

  /** The watches start at once, so that a standby is warm; the reconcilers when this process leads. */
  async #work(signal: AbortSignal): Promise<void> {
    const { namespace, watchNamespaces, readSecretsEveryMs: intervalMs, watchSilenceMs } = this.#options
    const base = {
      client: this.#kube,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      stallMs: watchSilenceMs,
    }
    const watches = createWatches(this.#kinds, base, {
      namespaces: watchNamespaces,
      readOneByOne: intervalMs === undefined ? undefined : { intervalMs, operatorNamespace: namespace },
    })
    const reflectors = allWatches(watches)
    const store = new ResourceStore(this.#kinds, watches)
    const running = reflectors.map((reflector) => reflector.start(signal))
    try {
      await Promise.race([Promise.all(reflectors.map((reflector) => reflector.synced)), aborted(signal)])
      this.#synced = true
      await Promise.race([this.#started.promise, aborted(signal)])
      if (!signal.aborted) await this.#reconcile(watches, store, signal)
    } catch (error) {
      // The watches would go on without an end, and with them a process that does nothing.
      this.#stopped.abort()
      throw error
    } finally {
      await Promise.allSettled(running)
    }
  }

  async #reconcile(watches: Watches, store: ResourceStore, signal: AbortSignal): Promise<void> {
    const { namespace, name } = this.#options
    const installation = this.#options.installation ?? (await installationId(this.#kube, namespace, name))
    const reconcilers = createReconcilers({
      options: this.#options,
      installation,
      kinds: this.#kinds,
      watches,
      store,
      kube: notingWrites(this.#kube, watches),
      metrics: this.#metrics,
      audit: this.#telemetry.audit,
      tracer: this.#telemetry.tracing?.tracer,
      clock: this.#clock,
      random: this.#random,
      leadingSince: this.#leadingSince ?? this.#clock.monotonic(),
      beforeApiWrite: () => this.#assertLeaderForApi(),
    })
    this.#logger.info({ installation, namespace }, 'reconciling')
    await reconcilers.run(signal)
  }

  #assertLeaderForApi(): void {
    if (!this.#options.leaderElect || this.#election.isLeader()) return
    throw new ApiError('NotLeader', 'this process does not lead', { definite: true })
  }

  #health(): HealthServer {
    const [host = '127.0.0.1', port = '8080'] = splitAddress(this.#options.listen)
    return new HealthServer({
      host,
      port: Number(port),
      liveness: [],
      readiness: [{ name: 'watches', isWell: () => this.#synced }],
      registry: this.#telemetry.registry,
      logger: this.#logger,
    })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function splitAddress(listen: string): readonly string[] {
  const at = listen.lastIndexOf(':')
  return [listen.slice(0, at).replace(/^\[|\]$/g, ''), listen.slice(at + 1)]
}
