import { expect, test } from 'vitest'
import { OtlpReceiver, type ReceivedSpan } from '../builders/otlp-receiver.ts'
import { tokenOf } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

const timeout = 120_000
const INTERNAL = 1
const CLIENT = 3

/** Whether the span is of a reconcile of that resource. */
function isOf(span: ReceivedSpan, kind: string, name: string): boolean {
  return span.name === `reconcile ${kind}` && span.attributes['culvert.resource.name'] === name
}

function childrenOf(spans: readonly ReceivedSpan[], { spanId, traceId }: ReceivedSpan): readonly ReceivedSpan[] {
  return spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId)
}

test('a reconcile is one trace: its API calls and Kubernetes writes are children of its span', {
  timeout,
}, async () => {
  await using receiver = await OtlpReceiver.start()
  await using world = await World.open({ flags: ['--otlp-endpoint', receiver.url] })
  await world.apply('APIKey', 'ci', { description: 'for the tests' })
  const cr = await world.ready('APIKey', 'ci')
  const token = await tokenOf(world, cr)
  await world.operator.stop()

  const { spans } = receiver
  const [root] = spans.filter((span) => {
    return isOf(span, 'APIKey', 'ci') && childrenOf(spans, span).some(({ name }) => name === 'POST /api_keys')
  })
  if (root === undefined) throw new Error(`no reconcile made the key: ${spans.map(({ name }) => name).join(', ')}`)
  expect(root.parentSpanId ?? '').toBe('')
  expect(root).toMatchObject({
    kind: INTERNAL,
    attributes: {
      'culvert.resource.kind': 'APIKey',
      'culvert.resource.name': 'ci',
      'culvert.resource.uid': cr.metadata.uid,
      'k8s.namespace.name': world.namespace,
      'culvert.ready.reason': 'Available',
    },
    resource: { 'service.name': 'culvert' },
  })
  const children = childrenOf(spans, root)
  const [post] = children.filter(({ name }) => name === 'POST /api_keys')
  const sent = world.writes().find(({ path }) => path === '/api_keys')
  expect(post).toMatchObject({
    kind: CLIENT,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'url.template': '/api_keys',
      'server.address': '127.0.0.1',
      'culvert.api.collection': 'api_keys',
      'culvert.api.operation_id': sent?.operationId,
      'culvert.write.reason': 'spec',
    },
  })
  const [status] = children.filter(({ name }) => name === 'patch apikeys/status')
  expect(status).toMatchObject({ kind: CLIENT, attributes: { 'http.response.status_code': 200 } })
  expect(children.map(({ name }) => name)).toContain('patch secrets')
  // All of one trace hangs together, and nothing of another resource is in it.
  const members = spans.filter(({ traceId }) => traceId === root.traceId)
  expect(members).toHaveLength(children.length + 1)
  expect(spans.filter(({ parentSpanId }) => (parentSpanId ?? '') === '').map(({ name }) => name)).toSatisfy(
    (names: readonly string[]) => names.every((name) => /^(reconcile|mirror) \w+$/.test(name)),
  )
  const text = receiver.batches.map(({ body }) => body).join('\n')
  for (const secret of [token, world.emulator.apiKey, 'for the tests']) expect(text).not.toContain(secret)
})

test('a refusal is an error with its code, and a reconcile without work is not exported', {
  timeout,
}, async () => {
  await using receiver = await OtlpReceiver.start()
  await using world = await World.open({ flags: ['--otlp-endpoint', receiver.url] })
  const body = { error_code: 'ERR_1', status_code: 400, msg: 'not so', details: {} }
  world.emulator.admin.addFault({
    match: { method: 'POST', path: '/ip_policies', every: true },
    act: { type: 'status', status: 400, body },
  })
  await world.apply('IPPolicy', 'refused', { allowEmpty: true })
  await world.reason('IPPolicy', 'refused', 'Synced', 'Rejected')
  await world.apply('BotUser', 'ci', { displayName: 'ci' })
  await world.ready('BotUser', 'ci')
  const before = await world.operator.metric('controller_runtime_reconcile_total', 'controller="BotUser"')
  await world.annotate('BotUser', 'ci', { 'example.com/note': 'of no concern' })
  await until('it is looked at once more', async () => {
    return (await world.operator.metric('controller_runtime_reconcile_total', 'controller="BotUser"')) > before
  })
  await world.operator.stop()
  const { spans } = receiver
  const refused = spans.find((span) => isOf(span, 'IPPolicy', 'refused') && span.status.code === 2)
  expect(refused?.attributes).toMatchObject({ 'culvert.reconcile.outcome': 'terminal' })
  expect(spans.find(({ name }) => name === 'POST /ip_policies')).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': '400', 'http.response.status_code': 400 },
  })
  const looks = spans.filter((span) => isOf(span, 'BotUser', 'ci'))
  expect(looks.length).toBeGreaterThan(0)
  for (const look of looks) expect(childrenOf(spans, look)).not.toEqual([])
})

test('a receiver that refuses or is missing has no effect, and is reported once', {
  tags: 'nightly',
  timeout,
}, async () => {
  await using receiver = await OtlpReceiver.start()
  receiver.status = 400
  await using world = await World.open({ flags: ['--otlp-endpoint', receiver.url] })
  await world.apply('BotUser', 'ci', { displayName: 'ci' })
  await world.ready('BotUser', 'ci')
  await until('a batch was refused', () => receiver.batches.length > 0)
  await world.apply('BotUser', 'ci', { displayName: 'other' })
  await world.ready('BotUser', 'ci')
  await until('another batch was refused', () => receiver.batches.length > 1)
  expect(await world.operator.stop()).toBe(0)
  const lines = world.operator.log.split('\n').filter((line) => line.includes('spans were not delivered'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, error: '400', times: 1 })

  const gone = receiver.url
  await receiver[Symbol.asyncDispose]()
  await world.startOperator(['--otlp-endpoint', gone])
  await world.apply('BotUser', 'ci', { displayName: 'third' })
  await world.ready('BotUser', 'ci')
  expect(await world.operator.stop()).toBe(0)
})
