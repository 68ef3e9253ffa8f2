import { collectDefaultMetrics, Gauge, type Registry } from '@prometheus-io/client'

/**
 * Metrics of the process and of Node, but for those whose names `promtool check metrics` refuses: gauges called
 * `…_total`, each the sum of another gauge, and the utilization of the event loop, whose names contain their type.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const metric of registry.getMetricsAsArray()) {
    const isMisnamed = (metric instanceof Gauge && metric.name.endsWith('_total')) || TYPE.test(metric.name)
    if (isMisnamed) registry.removeSingleMetric(metric.name)
  }
}

const TYPE = /_(summary|histogram)$/
