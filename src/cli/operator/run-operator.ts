import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import { packageVersion } from '../../config.ts'
import { kinds } from '../../kinds/index.ts'
import { loadKubeConnection } from '../../kube/load-config.ts'
import { KindsRegistry } from '../../managed/kinds-registry.ts'
import { HealthServer } from '../../runtime/health.ts'
import { Metrics } from '../../runtime/metrics.ts'
import { type AuditLog, openAuditLog } from '../../telemetry/audit.ts'
import { startTracing, type Tracing } from '../../telemetry/tracing.ts'
import { type Clock, systemClock } from '../../util/clock.ts'
import { systemRandom } from '../../util/random.ts'
import { Operator } from './operator.ts'
import { type OperatorOptions, refuseUnsafeTimes } from './options.ts'

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
  const { registry, metrics, audit, tracing } = await openTelemetry(options, clock)
  const { kubeconfig, context, logger } = options
  try {
    const operator = new Operator({
      options,
      kinds: new KindsRegistry(kinds),
      connection: loadKubeConnection({ kubeconfig, context }),
      metrics,
      audit,
      tracer: tracing?.tracer,
      clock,
      random: systemRandom,
    })
    const health = healthServer(options, operator, registry)
    const port = await health.listen()
    logger.info({ port }, 'serving health and metrics')
    try {
      return await operator.run(signal)
    } finally {
      await health.close()
      await operator.close()
    }
  } finally {
    audit.close()
    await tracing?.close()
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

function healthServer({ listen, logger }: OperatorOptions, operator: Operator, registry: Registry): HealthServer {
  const [host = '127.0.0.1', port = '8080'] = splitAddress(listen)
  return new HealthServer({
    host,
    port: Number(port),
    liveness: [],
    readiness: [{ name: 'watches', isWell: () => operator.hasSynced }],
    registry,
    logger,
  })
}

function splitAddress(listen: string): readonly string[] {
  const at = listen.lastIndexOf(':')
  return [listen.slice(0, at).replace(/^\[|\]$/g, ''), listen.slice(at + 1)]
}
