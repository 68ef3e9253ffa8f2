// @module-tag nightly
import { STATUS_CODES } from 'node:http'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Front, HostileAPI } from '../../builders/hostile-api.ts'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { samplesOf } from '../../cluster/support/metric.ts'
import { until } from '../../cluster/support/wait.ts'
import { typeOf, World } from '../../cluster/support/world.ts'

/** Number of hostile answers of the API, all different: one to the first create of each resource. */
const ANSWERS = 1_000
/** More than the statuses with names, and fewer than a server can invent. */
const STATUSES = Object.keys(STATUS_CODES).length + 1

let hostile: HostileAPI
let world: World
let front: Front
const statuses = new Set<number>()

beforeAll(async () => {
  hostile = await HostileAPI.start()
  world = await World.open({ flags: ['--allow-api-host', hostile.host], setUp: false })
  front = hostile.front('api', {
    target: world.emulator.url,
    affects: ({ method }) => method !== 'GET',
    harm: ({ harmed }, response) => {
      // All from 300 on: lower ones count as success, or are not final.
      const status = 300 + (harmed % 700)
      statuses.add(status)
      const body = { error_code: `CODE_${harmed}`, msg: `message ${harmed}`, status_code: 10_000 + harmed }
      response.writeHead(status, { 'content-type': 'application/json', 'operation-id': `op_${harmed}` })
      response.end(JSON.stringify(body))
    },
  })
  await world.setKey(world.emulator.apiKey)
  await world.apply('Account', 'default', {
    baseURL: front.baseURL,
    apiKeySecretRef: { name: 'credentials' },
    rateLimit: { requestsPerMinute: 60_000, burst: 1_000 },
  })
  await world.ready('Account', 'default')
}, 120_000)

afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await hostile[Symbol.asyncDispose]()
})

test('an API that answers with 1,000 statuses and codes does not multiply time series', {
  timeout: 300_000,
}, async () => {
  const names = Array.from({ length: ANSWERS }, (_, index) => `b-${index}`).values()
  const work = async () => {
    for (const name of names) await world.apply('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })
  }
  await Promise.all(Array.from({ length: 8 }, work))
  await until(`it has answered ${ANSWERS} creates`, async () => front.harmed >= ANSWERS, { timeoutMs: 240_000 })
  expect(statuses.size).toBe(700)
  const metrics = await world.operator.metrics()
  const posts = samplesOf(metrics, 'culvert_api_requests_total', ['method="POST"'])
  expect(posts.reduce((sum, value) => sum + value, 0)).toBeGreaterThanOrEqual(ANSWERS)
  expect(posts.length).toBeLessThanOrEqual(STATUSES)
  const other = samplesOf(metrics, 'culvert_api_requests_total', ['method="POST"', 'status="other"'])
  expect(other).toHaveLength(1)
  expect(metrics).not.toMatch(/CODE_\d|message \d|op_\d/)
  // Each reason is one of Culvert's own, so there are only a few series.
  expect(samplesOf(metrics, 'culvert_resources', ['kind="Backend"']).length).toBeLessThan(20)
})

test('a tenant who may write statuses does not multiply time series either', async () => {
  front.hostile = false
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using made = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath] })
  const names = Array.from({ length: 50 }, (_, index) => `b-${index}`)
  for (const name of names) await made.apply('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })
  for (const name of names) await made.ready('Backend', name)
  // A status that is corrected would be gone before it is read.
  const held = proxy.intercept(({ path }) => (path.includes('/status') ? { type: 'hold', when: 'before' } : undefined))
  for (const [index, name] of names.entries()) {
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const condition = { type: 'Ready', status: 'False', reason: `MadeUp${index}`, message: 'x', lastTransitionTime }
    const key = { namespace: made.namespace, name }
    await made.kube.mergePatch(
      typeOf('Backend'),
      key,
      { status: { conditions: [condition] } },
      { subresource: 'status' },
    )
  }
  const ready = () => made.operator.metric('culvert_resources', 'kind="Backend"', 'ready="True"')
  await until('the operator has seen them', async () => (await ready()) === 0)
  const metrics = await made.operator.metrics()
  expect(metrics).not.toContain('MadeUp')
  expect(samplesOf(metrics, 'culvert_resources', ['kind="Backend"', 'reason="Other"'])).toEqual([names.length])
  held.remove()
})
