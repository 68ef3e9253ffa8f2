import { Registry } from '@prometheus-io/client'
import { packageVersion } from '../config.ts'
import { kinds } from '../kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../kube/client.ts'
import { type KubeConnection, loadKubeConnection } from '../kube/load-config.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { HealthServer } from '../runtime/health.ts'
import { Metrics } from '../runtime/metrics.ts'
import { MetricsAuth } from '../runtime/metrics-auth.ts'
import { collectProcessMetrics } from '../runtime/process-metrics.ts'
import { Turns } from '../runtime/turns.ts'
import { type AuditLog, openAuditLog } from '../telemetry/audit.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'
import { Operator } from './operator.ts'
import { type OperatorOptions, refuseUnsafeSelectors, refuseUnsafeTimes } from './options.ts'
import { USER_AGENT } from './sessions.ts'

/** Time-out of one review of a metrics reader; each check takes two, and scrapes time out after ten seconds. */
const REVIEW_TIMEOUT_MS = 3_000

/**
 * Runs an operator until `signal` is aborted or leadership is lost.
 *
 * @param clock source of time. Default: the machine's clock.
 * @returns the exit code of the process: 0 after a requested stop, 1 after lost leadership.
 */
export async function runOperator(
  options: OperatorOptions,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<number> {
  refuseUnsafeTimes(options)
  refuseUnsafeSelectors(options)
  const { logger } = options
  const connection = loadKubeConnection(options)
  const { registry, metrics, audit, tracing } = await openTelemetry(options, clock)
  const reviewer = options.metricsAuthentication ? reviewClient(connection, metrics, clock) : undefined
  const metricsAccess = reviewer && new MetricsAuth({ reviewer, clock, logger })
  try {
    const operator = new Operator({
      options,
      kinds: new KindsRegistry(kinds),
      connection,
      metrics,
      audit,
      tracer: tracing?.tracer,
      clock,
      random: systemRandom,
      turns: new Turns(),
    })
    const health = healthServer(options, operator, { registry, metricsAccess })
    const port = await health.listen()
    logger.info({ port }, 'serving health and metrics')
    void metricsAccess?.tryOut()
    try {
      return await operator.run(signal)
    } finally {
      await health.close()
      await operator.close()
    }
  } finally {
    await reviewer?.close()
    audit.close()
    await tracing?.close()
  }
}

/** What an operator reports about itself. */
interface Telemetry {
  readonly registry: Registry
  readonly metrics: Metrics
  readonly audit: AuditLog
  /** Undefined when tracing is off. */
  readonly tracing: Tracing | undefined
}

async function openTelemetry(options: OperatorOptions, clock: Clock): Promise<Telemetry> {
  const { auditLog = 'off', otlpEndpoint, identity, logger } = options
  const registry = new Registry()
  collectProcessMetrics(registry)
  const metrics = new Metrics(registry)
  const shared = { clock, logger }
  const audit = openAuditLog({ ...shared, destination: auditLog, onFailure: metrics.auditFailed })
  const tracing = options.tracing
    ? await startTracing({ ...shared, endpoint: otlpEndpoint, version: packageVersion(), instance: identity })
    : undefined
  return { registry, metrics, audit, tracing }
}

/** A separate client, so that scrapes take no capacity from the operator's work, and a standby can send reviews too. */
function reviewClient(connection: KubeConnection, metrics: Metrics, clock: Clock): ClosableKubeClient {
  return createKubeClient({
    connection,
    clock,
    random: systemRandom,
    userAgent: USER_AGENT,
    timeoutMs: REVIEW_TIMEOUT_MS,
    maxConcurrent: 4,
    onRequest: metrics.kubeRequest,
  })
}

interface Served {
  readonly registry: Registry
  /** Undefined: metrics are public. */
  readonly metricsAccess: MetricsAuth | undefined
}

function healthServer({ listen, logger }: OperatorOptions, operator: Operator, served: Served): HealthServer {
  const [host = '127.0.0.1', port = '8080'] = splitAddress(listen)
  return new HealthServer({
    host,
    port: Number(port),
    liveness: [],
    readiness: [{ name: 'watches', isWell: () => operator.hasSynced }],
    ...served,
    logger,
  })
}

function splitAddress(listen: string): readonly string[] {
  const at = listen.lastIndexOf(':')
  return [listen.slice(0, at).replace(/^\[|\]$/g, ''), listen.slice(at + 1)]
}
