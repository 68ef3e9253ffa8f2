/*
 * `culvert agent`: carries connections from the SSH gateway to targets, such as Services (docs/traffic.md).
 *
 * - `agent`: keeps a connection to the gateway; `gateway-connection` is one, from dialling to its end.
 * - `upstreams`: the connections that it carries.
 * - The decisions are pure: `forward` and `keys` read options, `backoff` says when to try again, `failure` what the end
 *   of a connection means.
 */
import { writeFile } from 'node:fs/promises'
import { Registry } from '@prometheus-io/client'
import { HealthServer } from '../runtime/health.ts'
import { collectProcessMetrics } from '../runtime/process-metrics.ts'
import { systemClock } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { systemRandom } from '../util/random.ts'
import { Agent, type AgentOptions } from './agent.ts'
import type { Target } from './forward.ts'
import { AgentMetrics } from './metrics.ts'
import { Upstreams } from './upstreams.ts'

export interface RunOptions extends AgentOptions {
  /** Where health and metrics are served; port 0 picks a free one. */
  readonly listen: Target
  /** Connections at one time. */
  readonly mostConnections: number
  /** File that gets the reason when the agent gives up, as Kubernetes' `terminationMessagePath`. */
  readonly terminationLog: string | undefined
  readonly logger: Logger
}

/**
 * Runs an agent until `stop` is aborted or it gives up, with health and metrics. Rejects when it cannot listen.
 *
 * @returns the exit code of the process: 1 if it gave up.
 */
export async function runAgent(options: RunOptions, stop: AbortSignal): Promise<number> {
  const { logger, listen, forwards, mostConnections: most } = options
  const registry = new Registry()
  collectProcessMetrics(registry)
  const metrics = new AgentMetrics(registry, forwards)
  const shared = { clock: systemClock, logger, metrics }
  const agent = new Agent(options, {
    ...shared,
    random: systemRandom,
    upstreams: new Upstreams({ ...shared, most }),
  })
  const health = new HealthServer({
    ...listen,
    liveness: [],
    readiness: [{ name: 'forwards', isWell: () => agent.isBound }],
    registry,
    logger,
  })
  logger.info({ port: await health.listen() }, 'serving health and metrics')
  try {
    const failure = await agent.run(stop)
    if (failure === undefined) return 0
    logger.error({ code: failure.code }, `gave up: ${failure.message}`)
    if (options.terminationLog !== undefined) await writeFile(options.terminationLog, failure.message)
    return 1
  } finally {
    await health.close()
  }
}
