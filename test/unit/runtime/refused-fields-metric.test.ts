import { Registry } from '@prometheus-io/client'
import { expect, test } from 'vitest'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { sumOfMetric } from '../../cluster/support/metric.ts'

const NAME = 'culvert_kubernetes_refused_writes_total'

test('the fields of refused writes are bounded, and what exceeds the bound counts as other', async () => {
  const registry = new Registry()
  const metrics = new Metrics(registry)
  for (let index = 0; index < 1000; index++) metrics.refusedWrite('deployments', `spec.field${index}`)
  metrics.refusedWrite('deployments', 'spec.field0')
  metrics.refusedWrite('deployments', undefined)
  const text = await registry.metrics()
  expect(text.split('\n').filter((line) => line.startsWith(`${NAME}{`))).toHaveLength(51)
  expect(sumOfMetric(text, NAME, ['field="spec.field0"'])).toBe(2)
  expect(sumOfMetric(text, NAME, ['field="other"'])).toBe(951)
})
