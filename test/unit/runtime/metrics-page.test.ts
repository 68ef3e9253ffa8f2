import { Counter, Gauge, Histogram, Registry, Summary } from '@prometheus-io/client'
import { expect, test } from 'vitest'
import { Controller } from '../../../src/runtime/controller.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { done } from '../../../src/runtime/outcome.ts'
import { collectProcessMetrics } from '../../../src/runtime/process-metrics.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { documentedMetrics } from '../../builders/metrics-page.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

/** Every metric of a leading operator, with its type and label names. */
function definitions(): ReadonlyMap<string, { readonly type: string; readonly labels: readonly string[] }> {
  const registry = new Registry()
  collectProcessMetrics(registry)
  const metrics = new Metrics(registry)
  const controller = new Controller({
    reconcile: async () => done,
    clock: new FakeClock(),
    random: systemRandom,
    logger: createSilentLogger(),
  })
  metrics.watchController(controller, [])
  metrics.watchStates({ resources: () => [], accounts: () => [], budgets: () => [] })
  metrics.watchCredentials(() => [])
  metrics.watchHeldUp(() => [])
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const labels: readonly string[] =
        'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : []
      return [metric.name, { type: typeOf(metric), labels }]
    }),
  )
}

function typeOf(metric: unknown): string {
  if (metric instanceof Counter) return 'counter'
  if (metric instanceof Histogram) return 'histogram'
  if (metric instanceof Summary) return 'summary'
  return metric instanceof Gauge ? 'gauge' : 'unknown'
}

test('docs/metrics.md has every metric with its type and labels, and none that does not exist', () => {
  const page = new Map([...documentedMetrics()].map(([name, { type, labels }]) => [name, { type, labels }]))
  const sorted = (map: ReadonlyMap<string, unknown>) => [...map].sort(([left], [right]) => (left < right ? -1 : 1))
  expect(sorted(page)).toEqual(sorted(definitions()))
})

test('docs/metrics.md says what bounds the series of each metric, and what it means', () => {
  for (const [name, { series, meaning }] of documentedMetrics()) {
    expect(series.trim(), name).not.toBe('')
    expect(meaning.trim(), name).toMatch(/\.$|\)\.$/)
  }
})
