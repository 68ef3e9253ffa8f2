import { expect, inject, test } from 'vitest'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

test('an operator is alive immediately, and ready once its watches are synced', async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ operator: false })
  const held = proxy.intercept(({ method, path }) => {
    return method === 'GET' && path.endsWith('/edges') ? { type: 'hold', when: 'before' } : undefined
  })
  const operator = await world.startOperator(['--kubeconfig', proxy.kubeconfigPath], 'serving')
  await held.hits(1)
  expect(await operator.ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })
  expect(await operator.ask('/readyz')).toEqual({ status: 503, text: 'failing: watches\n' })
  held.remove()
  await operator.reconciling()
  expect(await operator.ask('/readyz')).toEqual({ status: 200, text: 'ok\n' })
  expect((await operator.ask('/other')).status).toBe(404)
})

/** Names that dashboards for controllers know, with labels by which they look for them. */
const KNOWN = [
  ['controller_runtime_reconcile_total', 'controller="Backend"', 'result="success"'],
  ['controller_runtime_reconcile_time_seconds_bucket', 'controller="Backend"', 'le="+Inf"'],
  ['controller_runtime_reconcile_time_seconds_count', 'controller="Backend"'],
  ['controller_runtime_max_concurrent_reconciles', 'controller="Backend"'],
  ['workqueue_adds_total', 'name="'],
  ['workqueue_queue_duration_seconds_count', 'name="'],
  ['workqueue_work_duration_seconds_count', 'name="'],
  ['rest_client_requests_total', 'code="200"', 'method="PATCH"'],
  ['rest_client_request_duration_seconds_count', 'verb="'],
  ['process_cpu_seconds_total'],
  ['process_resident_memory_bytes'],
  ['culvert_api_requests_total', 'collection="backends/tunnel_group"', 'method="POST"', 'status="201"'],
  ['culvert_api_request_duration_seconds_count', 'method="POST"'],
  ['culvert_drift_total', 'kind="Backend"', 'field="description"'],
] as const

/** Names that exist although nothing is to be counted at rest. */
const AT_REST = [
  ['workqueue_depth', 'name="'],
  ['workqueue_unfinished_work_seconds', 'name="'],
  ['workqueue_longest_running_processor_seconds', 'name="'],
  ['workqueue_retries_total', 'name="'],
  ['controller_runtime_active_workers', 'controller="Backend"'],
  ['controller_runtime_reconcile_errors_total', 'controller="Backend"'],
  ['culvert_orphans', 'account="'],
  ['leader_election_master_status', 'name="culvert"'],
] as const

test('the usual controller metrics have values once work was done', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
  const { status } = await world.ready('Backend', 'web')
  await world.api.patch(`/backends/tunnel_group/${status?.id}`, { id: status?.id, description: 'drifted' })
  await world.resync()
  const metric = (name: string, ...labels: readonly string[]) => world.operator.metric(name, ...labels)
  await until('the drift was repaired', async () => (await metric('culvert_drift_total')) > 0)
  await world.ready('Backend', 'web')
  for (const [name, ...labels] of KNOWN) expect(await metric(name, ...labels), name).toBeGreaterThan(0)
  await until('nothing is left to do', async () => (await metric('workqueue_depth')) === 0)
  const lines = (await world.operator.metrics()).split('\n')
  for (const [name, ...labels] of AT_REST) {
    const found = lines.filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
    expect(found, name).not.toEqual([])
  }
  expect(await metric('controller_runtime_reconcile_errors_total', 'controller="Backend"')).toBe(0)
})
