import { collectDefaultMetrics, Gauge, type Registry } from '@prometheus-io/client'

/**
 * Metrics of the process and of Node, but for those whose names `promtool check metrics` refuses: gauges called
 * `…_total`, each the sum of another gauge, and the utilization of the event loop, whose names contain their type.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: NEVER_MS })
  for (const metric of registry.getMetricsAsArray()) {
    const isMisnamed = (metric instanceof Gauge && metric.name.endsWith('_total')) || TYPE.test(metric.name)
    if (isMisnamed) registry.removeSingleMetric(metric.name)
  }
}

/** The longest delay of a timer: nothing shows what the library would measure ten times a second. */
const NEVER_MS = 2 ** 31 - 1
const TYPE = /_(summary|histogram)$/
