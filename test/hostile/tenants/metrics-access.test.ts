import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { AuditLog } from '../../cluster/support/audit-log.ts'
import { OperatorAccount } from '../../cluster/support/operator-account.ts'
import { OperatorProcess } from '../../cluster/support/operator-process.ts'
import { until } from '../../cluster/support/wait.ts'
import { World } from '../../cluster/support/world.ts'
import { ClusterGrant, Reader } from '../support/metrics-reader.ts'

const FLAG = '--metrics-authentication'
/** A line of every answer with metrics. */
const SERIES = 'culvert_build_info{'

let proxy: KubeProxy
let world: World
let reader: Reader
let stranger: Reader
let grants: readonly ClusterGrant[]
let good: string
/** Every token sent: none may be in the log. */
const shown: string[] = []

beforeAll(async () => {
  proxy = await KubeProxy.start(inject('kubeconfigPath'))
  world = await World.open({ operator: false, flags: [FLAG, '--kubeconfig', proxy.kubeconfigPath] })
  reader = await Reader.create(world, 'prometheus')
  stranger = await Reader.create(world, 'stranger')
  grants = [await ClusterGrant.ofOperator(world), await ClusterGrant.ofReader(world, reader.name)]
  await world.startOperator()
  good = await reader.token()
  // The apiserver follows roles by watches.
  await until('the reader may read', async () => (await scrape(`Bearer ${good}`)).status === 200)
})

afterAll(async () => {
  expect(shown.filter((token) => token.length > 20 && world.operator.log.includes(token))).toEqual([])
  for (const grant of grants) await grant[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

interface Answer {
  readonly status: number
  readonly text: string
}

/** A request from the Pod network: path and headers are sent unchanged. */
async function scrape(
  authorization: string | undefined,
  { path = '/metrics', method = 'GET', operator = world.operator } = {},
): Promise<Answer> {
  if (authorization !== undefined) shown.push(authorization.replace(/^\w+ /, ''))
  const { hostname, port } = new URL(await operator.healthURL())
  const headers = authorization === undefined ? {} : { authorization }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    outgoing.on('error', reject).end()
  })
}

const closed: readonly (readonly [what: string, status: number, header: () => Promise<string | undefined>])[] = [
  ['without a token', 401, async () => undefined],
  ['with an empty header', 401, async () => ''],
  ['with an empty token', 401, async () => 'Bearer '],
  ['with a made-up token', 401, async () => 'Bearer made-up'],
  ['with a token as a password', 401, async () => `Basic ${Buffer.from(`x:${good}`).toString('base64')}`],
  ['with a token of another scheme', 401, async () => `Token ${good}`],
  ['with two tokens', 401, async () => `Bearer ${good} ${good}`],
  ['with a token whose end is cut off', 401, async () => `Bearer ${good.slice(0, -8)}`],
  ['with a token whose claims were changed', 401, async () => `Bearer ${withoutRights(good)}`],
  ['with a token that nobody signed', 401, async () => `Bearer ${unsigned(good)}`],
  ['with the longest token that Node takes', 401, async () => `Bearer ${'a'.repeat(12_200)}`],
  ['with the token of somebody without rights', 403, async () => `Bearer ${await stranger.token()}`],
  ['with a token for another audience', 401, async () => `Bearer ${await reader.token(['vault'])}`],
  ['with a token that has expired', 401, async () => `Bearer ${await reader.signed(-60)}`],
]

test.each(closed)('metrics are closed to a client %s', async (_what, status, header) => {
  const { status: answered, text } = await scrape(await header())
  expect([answered, text.includes(SERIES)]).toEqual([status, false])
})

test('metrics are open to any token with the right, however it was issued', async () => {
  for (const token of [good, await reader.token(), await reader.signed(600)]) {
    const { status, text } = await scrape(`Bearer ${token}`)
    expect([status, text.includes(SERIES)]).toEqual([200, true])
  }
  expect((await scrape(`bearer ${good}`)).status).toBe(200)
  expect((await scrape(`Bearer ${good}`, { method: 'HEAD' })).status).toBe(200)
})

test.each([
  '/metrics?x',
  '/metrics/',
  '//metrics',
  '/METRICS',
  '/%6detrics',
  '/healthz/../metrics',
  '/readyz?/metrics',
])('no other spelling of the path bypasses it: %s', async (path) => {
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    expect((await scrape(undefined, { path, method })).text).not.toContain(SERIES)
  }
})

test('repeated requests cost the apiserver one token review and one access review in ten seconds', async () => {
  const token = await reader.token()
  const audit = AuditLog.ofSuite()
  const mark = await audit.mark()
  const began = performance.now()
  for (let each = 0; each < 100; each++) expect((await scrape(`Bearer ${token}`)).status).toBe(200)
  const rounds = 1 + Math.ceil((performance.now() - began) / 10_000)
  const asked = (await audit.entries(mark)).map(({ resource }) => resource)
  for (const reviews of ['tokenreviews', 'subjectaccessreviews']) {
    const count = asked.filter((resource) => resource === reviews).length
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThanOrEqual(rounds)
  }
})

test('health stays open: probes bring no token', async () => {
  for (const path of ['/healthz', '/readyz']) expect((await scrape(undefined, { path })).status).toBe(200)
})

test('a withdrawn right and a deleted ServiceAccount take effect within seconds', async () => {
  const brief = await Reader.create(world, 'brief')
  const gone = await Reader.create(world, 'gone')
  const grant = await ClusterGrant.ofReader(world, brief.name)
  await using _kept = await ClusterGrant.ofReader(world, gone.name)
  const [briefs, gones] = [`Bearer ${await brief.token()}`, `Bearer ${await gone.token()}`]
  for (const header of [briefs, gones]) await until('it may read', async () => (await scrape(header)).status === 200)
  await grant[Symbol.asyncDispose]()
  await gone.delete()
  await until('the right is gone', async () => (await scrape(briefs)).status === 403)
  await until('the ServiceAccount is gone', async () => (await scrape(gones)).status === 401)
})

test('without an answer from the apiserver nobody is admitted, and health still answers', async () => {
  const reviews = proxy.intercept(({ path }) => {
    return path.includes('/tokenreviews') ? { type: 'answer', status: 500, reason: 'InternalError' } : undefined
  })
  try {
    await until('what was known is forgotten', async () => (await scrape(`Bearer ${good}`)).status === 503)
    expect((await scrape(`Bearer ${await reader.token()}`)).status).toBe(503)
    expect((await scrape(undefined, { path: '/readyz' })).status).toBe(200)
  } finally {
    reviews.remove()
  }
  await until('it is asked again', async () => (await scrape(`Bearer ${good}`)).status === 200)
  const rights = proxy.intercept(({ path }) => {
    return path.includes('/subjectaccessreviews') ? { type: 'drop', when: 'before' } : undefined
  })
  expect((await scrape(`Bearer ${await reader.token()}`)).status).toBe(503)
  rights.remove()
})

describe('a flood of invented tokens', () => {
  test('costs the apiserver little and locks out nobody who was admitted before', { tags: 'nightly' }, async () => {
    await until('the reader is let in', async () => (await scrape(`Bearer ${good}`)).status === 200)
    const audit = AuditLog.ofSuite()
    const mark = await audit.mark()
    const began = performance.now()
    const flood = Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => (await scrape(`Bearer flood-${index}`)).status),
    )
    const meanwhile: number[] = []
    // Longer than a review is cached, so that the reader's token must be reviewed again.
    let isOver = false
    void flood.then(() => (isOver = true))
    do meanwhile.push((await scrape(`Bearer ${good}`)).status)
    while (!isOver)
    const statuses = await flood
    const seconds = (performance.now() - began) / 1000
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([])
    expect(new Set(meanwhile)).toEqual(new Set([200]))
    const reviews = (await audit.entries(mark)).filter(({ resource }) => resource === 'tokenreviews')
    expect(reviews.length).toBeLessThan(25 + 25 * seconds)
    expect((await scrape(undefined, { path: '/readyz' })).status).toBe(200)
  })
})

test('an operator without the right to review tokens admits nobody and names the right', async () => {
  const { kubeconfig, kube, operatorNamespace: namespace, emulator } = world
  await using account = await OperatorAccount.create({
    ...{ kubeconfig, kube, namespace, name: 'unable' },
    watched: [world.namespace],
  })
  const operator = await OperatorProcess.start({
    kubeconfig: account.kubeconfigFor(kubeconfig),
    namespace,
    flags: [FLAG, '--watch-namespace', world.namespace, '--allow-api-host', new URL(emulator.url).host],
  })
  try {
    await until('the log names the remedy', () =>
      /"Forbidden".*subjectaccessreviews.*auth-delegator/.test(operator.log),
    )
    expect((await scrape(`Bearer ${good}`, { operator })).status).toBe(503)
    expect((await scrape(undefined, { operator, path: '/readyz' })).status).toBe(200)
  } finally {
    await operator.kill()
  }
})

/** Another name in the claims, with the original signature. */
function withoutRights(token: string): string {
  const [header, claims = '', signature] = token.split('.')
  const changed = Buffer.from(claims, 'base64url').toString().replaceAll(`:${reader.name}"`, ':admin"')
  return [header, Buffer.from(changed).toString('base64url'), signature].join('.')
}

function unsigned(token: string): string {
  const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  return [header, token.split('.')[1], ''].join('.')
}
