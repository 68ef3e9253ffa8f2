import { Registry } from '@prometheus-io/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Controller } from '../../../src/runtime/controller.ts'
import { HealthServer } from '../../../src/runtime/health.ts'
import { type CredentialState, Metrics } from '../../../src/runtime/metrics.ts'
import { done, type Outcome } from '../../../src/runtime/outcome.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

let registry: Registry
let metrics: Metrics
let well: boolean
let server: HealthServer
let url: string

beforeEach(async () => {
  registry = new Registry()
  metrics = new Metrics(registry)
  well = true
  server = new HealthServer({
    host: '127.0.0.1',
    port: 0,
    liveness: [{ name: 'event-loop', isWell: () => true }],
    readiness: [
      { name: 'caches', isWell: () => well },
      { name: 'schemas', isWell: () => true },
    ],
    registry,
    logger: createSilentLogger(),
  })
  url = `http://127.0.0.1:${await server.listen()}`
})

afterEach(() => server.close())

async function samples(): Promise<string[]> {
  const response = await fetch(`${url}/metrics`)
  expect(response.headers.get('content-type')).toContain('text/plain')
  const text = await response.text()
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

describe('the health server', () => {
  test('says ok while all is well, and names what is not', async () => {
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.text()]).toEqual([200, 'ok\n'])
    well = false
    const unready = await fetch(`${url}/readyz?verbose`)
    expect([unready.status, await unready.text()]).toEqual([503, 'failing: caches\n'])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('answers nothing else', async () => {
    expect((await fetch(`${url}/`)).status).toBe(404)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  })

  test('refuses an address that is taken', async () => {
    const port = Number(new URL(url).port)
    const second = new HealthServer({
      host: '127.0.0.1',
      port,
      liveness: [],
      readiness: [],
      registry,
      logger: createSilentLogger(),
    })
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('metrics', () => {
  test('of the controller and its queue carry the names that dashboards know', async () => {
    const clock = new FakeClock()
    const outcomes: Outcome[] = [
      done,
      { type: 'terminal', error: new Error('no') },
      { type: 'after', ms: 1e6, reason: '' },
    ]
    const controller = new Controller({
      reconcile: () => Promise.resolve(outcomes.shift() ?? done),
      clock,
      random: systemRandom,
      logger: createSilentLogger(),
      observer: metrics.controller,
      queueObserver: metrics.queue,
      workers: 3,
    })
    metrics.watchController(controller, ['Edge'])
    const stop = new AbortController()
    const ended = controller.run(stop.signal)
    for (const name of ['a', 'b', 'c']) controller.enqueue({ kind: 'Edge', namespace: 'shop', name })
    await clock.advance(0)
    expect(await samples()).toEqual(
      expect.arrayContaining([
        'controller_runtime_reconcile_total{controller="Edge",result="success"} 1',
        'controller_runtime_reconcile_total{controller="Edge",result="error"} 1',
        'controller_runtime_reconcile_total{controller="Edge",result="requeue_after"} 1',
        'controller_runtime_terminal_reconcile_errors_total{controller="Edge"} 1',
        'controller_runtime_reconcile_time_seconds_count{controller="Edge"} 3',
        'controller_runtime_max_concurrent_reconciles{controller="Edge"} 3',
        'controller_runtime_active_workers{controller="Edge"} 0',
        'workqueue_depth{name="culvert"} 0',
        'workqueue_delayed{name="culvert"} 2',
        'workqueue_adds_total{name="culvert"} 3',
        'workqueue_queue_duration_seconds_count{name="culvert"} 3',
        'workqueue_work_duration_seconds_count{name="culvert"} 3',
        'workqueue_unfinished_work_seconds{name="culvert"} 0',
        'workqueue_longest_running_processor_seconds{name="culvert"} 0',
      ]),
    )
    stop.abort()
    await ended
  })

  test('of both APIs, drift, orphans and certificates are exposed, and removed with what they are about', async () => {
    metrics.kubeRequest({ verb: 'patch', resource: 'edges', code: '200', seconds: 0.1 })
    metrics.apiRequest({ collection: 'edges/tls', method: 'POST', status: '201', seconds: 0.2 })
    metrics.rateLimitWait('edit', 1.5)
    metrics.driftFound('Edge', ['description', 'backend'])
    metrics.setOrphans('shop/default', 2)
    metrics.setLeading('culvert', true)
    const nothing = { renewsAt: undefined, expiresAt: undefined, failing: undefined }
    const one = { ...nothing, namespace: 'shop', name: 'one' }
    let states: readonly CredentialState[] = [
      { ...one, kind: 'ReservedDomain', renewsAt: 1_800_000_000_000 },
      { ...one, kind: 'SSHUserCertificate', renewsAt: 1_700_000_000_000, expiresAt: 1_900_000_000_000, failing: true },
      { ...one, kind: 'APIKey', failing: false },
    ]
    metrics.watchCredentials(() => states)
    const of = (kind: string): string => `{kind="${kind}",namespace="shop",name="one"}`
    expect(await samples()).toEqual(
      expect.arrayContaining([
        'rest_client_requests_total{code="200",method="PATCH",verb="patch",resource="edges"} 1',
        'culvert_api_requests_total{collection="edges/tls",method="POST",status="201"} 1',
        'culvert_api_request_duration_seconds_count{collection="edges/tls",method="POST"} 1',
        'culvert_rate_limit_wait_seconds_sum{priority="edit"} 1.5',
        'culvert_drift_total{kind="Edge",field="description"} 1',
        'culvert_drift_total{kind="Edge",field="backend"} 1',
        'culvert_orphans{account="shop/default"} 2',
        'leader_election_master_status{name="culvert"} 1',
        `culvert_certificate_renewal_timestamp_seconds${of('ReservedDomain')} 1800000000`,
        `culvert_certificate_renewal_timestamp_seconds${of('SSHUserCertificate')} 1700000000`,
        `culvert_certificate_expiry_timestamp_seconds${of('SSHUserCertificate')} 1900000000`,
        `culvert_renewal_failing${of('SSHUserCertificate')} 1`,
        `culvert_renewal_failing${of('APIKey')} 0`,
      ]),
    )
    expect((await samples()).filter((line) => /^culvert_(certificate|renewal)_/.test(line))).toHaveLength(5)
    states = []
    metrics.forgetAccount('shop/default')
    expect((await samples()).filter((line) => /renewal|expiry|orphans/.test(line))).toEqual([])
  })
})
