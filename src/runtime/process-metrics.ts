import { collectDefaultMetrics, Gauge, type Registry } from '@prometheus-io/client'

/**
 * Metrics of the process and of Node. The gauges that the library calls `…_total` are left out: the name is that of
 * counters, and each is the sum of another gauge.
 */
export function collectProcessMetrics(registry: Registry): void {
  // The utilization of the event loop is also a histogram. By default its summary is kept five times, for windows that
  // overlap, and each scrape sorts all five: several milliseconds in one turn.
  collectDefaultMetrics({ register: registry, eventLoopUtilizationAgeBuckets: 1 })
  for (const metric of registry.getMetricsAsArray()) {
    if (metric instanceof Gauge && metric.name.endsWith('_total')) registry.removeSingleMetric(metric.name)
  }
}
