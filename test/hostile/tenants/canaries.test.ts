import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { OtlpReceiver } from '../../builders/otlp-receiver.ts'
import { applyAll, applyNeeds, casesTitled, subjectsOf } from '../../cluster/support/cases.ts'
import { traces } from '../../cluster/support/traces.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, World } from '../../cluster/support/world.ts'
import { SECRET } from '../../kinds/shared/account.ts'
import { canary, findings, formsOf, secretValues } from '../support/canaries.ts'
import { RecordingProxy } from '../support/recording-proxy.ts'

/**
 * Breaks the operator from within on SIGUSR2: for a second every fingerprint fails, in the middle of the work with
 * secrets; then an uncaught error with all of these as its causes ends the process.
 */
const CRASH = `
  import crypto from 'node:crypto'
  import { syncBuiltinESMExports } from 'node:module'
  process.on('SIGUSR2', () => {
    const causes = []
    crypto.createHmac = (...given) => {
      const cause = new Error('broken')
      causes.push(cause)
      throw cause
    }
    syncBuiltinESMExports()
    setTimeout(() => { throw new AggregateError(causes, 'crashed') }, 3000)
  })`

/** No agent runs here. */
const GATEWAY = 'gateway.example.com:22'
/** A Service of type LoadBalancer, whose policy is missing. */
const SERVICE = 'canary-service'
const services = core('services', 'Service')

/** Makes every process that this one starts load `code` first, until the test ends. */
function preload(code: string): void {
  const { NODE_OPTIONS } = process.env
  process.env.NODE_OPTIONS = `${NODE_OPTIONS ?? ''} --import=data:text/javascript,${encodeURIComponent(code)}`
  onTestFinished(() => {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = NODE_OPTIONS
  })
}

test('no key, token or input of any kind appears outside Secrets and its account’s API', {
  timeout: 400_000,
}, async () => {
  preload(CRASH)
  await using receiver = await OtlpReceiver.start()
  const other = await startEmulator({ listen: '127.0.0.1:0', certSeconds: 1 })
  onTestFinished(() => other.close())
  await using proxy = await RecordingProxy.start(other.url)
  const file = join(tmpdir(), `culvert-audit-${randomUUID()}`)
  onTestFinished(() => rm(file, { force: true }))
  const flags = ['--otlp-endpoint', receiver.url, '--audit-log', file, '--allow-api-host', new URL(proxy.url).host]
  const sshGateway = { address: GATEWAY, hostKeys: [sshKeys.ed25519.split(' ').slice(0, 2).join(' ')] }
  const agents = ['--tunnels', '--agent-image', 'culvert:test', '--allow-ssh-gateway', GATEWAY, '--services']
  await using world = await World.open({ flags: [...flags, ...agents], account: { sshGateway } })

  // A resource of every kind with every field, and canaries for the values that it reads from Secrets.
  const cases = casesTitled('full')
  const inputs = Object.fromEntries(
    ['apiKey', 'accessKeyID', 'secretAccessKey'].map((key) => [key, canary(key)] as const),
  )
  await applyNeeds(world, cases, ['canary'])
  await world.secret(SECRET.name, { ...SECRET.values, ...inputs })
  const subjects = subjectsOf(cases, 'canary')
  await applyAll(world, subjects)
  const ready = Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  const monitor = (secret: string) => ({
    type: 'Monitor',
    monitor: { apiKeySecretRef: { name: secret, key: 'apiKey' } },
  })
  await world.apply('EventDestination', 'monitor', monitor(SECRET.name))
  const auth = {
    type: 'AccessKey',
    accessKey: {
      accessKeyIDSecretRef: { name: SECRET.name, key: 'accessKeyID' },
      secretAccessKeySecretRef: { name: SECRET.name, key: 'secretAccessKey' },
    },
  }
  const streamARN = 'arn:aws:kinesis:eu-central-1:123456789012:stream/a'
  await world.apply('EventDestination', 'kinesis', { type: 'Kinesis', kinesis: { streamARN, auth } })
  for (const name of ['monitor', 'kinesis']) await world.ready('EventDestination', name, 120_000)
  await ready
  await world.apply('Backend', 'tunnelled', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'canary' } } })
  await world.apply('Tunnel', 'canary', { backendRef: { name: 'tunnelled' }, service: { name: 'shop', port: 80 } })
  await world.reason('Tunnel', 'canary', 'Connected', 'NotConnected')
  await world.kube.create(
    services,
    { namespace: world.namespace, name: SERVICE },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: SERVICE, annotations: { 'culvert.dev/ip-policies': 'canary-missing' } },
      spec: { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', ports: [{ name: 'http', port: 80 }] },
    },
  )
  await world.reason('Tunnel', `${SERVICE}-80`, 'Connected', 'NotConnected')
  const target = { type: 'ID', id: 'ts_none' }
  await world.apply('TunnelSessionCommand', 'stop', { action: 'Stop', target })

  // Another tenant's account, at another API that records every request.
  await world.secret('other-credentials', { apiKey: other.apiKey })
  await world.secret('other-inputs', { apiKey: canary('other') })
  await world.apply('Account', 'other', { baseURL: proxy.url, apiKeySecretRef: { name: 'other-credentials' } })
  const accountRef = { name: 'other' }
  await world.apply('EventDestination', 'other', { ...monitor('other-inputs'), accountRef })
  await world.apply('APIKey', 'other', { accountRef })
  for (const kind of ['EventDestination', 'APIKey']) await world.ready(kind, 'other', 60_000)

  // Tokens are lost, altered and rotated; refusals are reported; a Secret contains a value that no header can carry.
  const refused = canary('refused')
  await world.secret('refused', { apiKey: refused })
  const refusals = [
    { name: 'refused', spec: monitor('refused'), sent: [refused] },
    {
      name: 'refused-too',
      spec: { type: 'Kinesis', kinesis: { streamARN, auth } },
      sent: [inputs.accessKeyID, inputs.secretAccessKey],
    },
  ]
  for (const { name, spec, sent } of refusals) {
    const said = [...sent, world.emulator.apiKey].join(' ')
    const body = { error_code: 'ERR_1', status_code: 400, msg: said, details: { said } }
    const match = { method: 'POST', path: '/event_destinations', every: true }
    const fault = world.emulator.admin.addFault({ match, act: { type: 'status', status: 400, body } })
    await world.apply('EventDestination', name, spec)
    await world.reason('EventDestination', name, 'Ready', 'Rejected')
    world.emulator.admin.deleteFault(fault.id)
  }
  for (const { metadata } of await world.list('APIKey')) {
    if (metadata.name !== 'other')
      await world.annotate('APIKey', metadata.name, { 'culvert.dev/rotate-requested-at': 'now' })
  }
  const former = await secretValues(world, [world.namespace, world.operatorNamespace])
  await world.resync()
  for (const { kind, name } of subjects) await world.ready(kind, name, 120_000)
  const metrics = await world.operator.metrics()
  await world.setKey(canary('key-that-no-header-carries\n'))
  await world.annotate('Account', 'default', { 'culvert.dev/reconcile-requested-at': 'broken' })
  await world.until('Account', 'default', 'was looked at', (cr) => cr.status?.lastHandledReconcileAt === 'broken')
  const broken = await secretValues(world, [world.namespace])
  await world.setKey(world.emulator.apiKey)
  await world.resync()

  // It crashes in the middle of its work.
  process.kill(world.operator.pid, 'SIGUSR2')
  await world.secret(SECRET.name, { ...SECRET.values, ...inputs, apiKey: canary('last') })
  expect(await world.operator.exited()).not.toBe(0)
  expect(world.operator.log).toContain('AggregateError')

  const values = new Map([
    ...former,
    ...broken,
    ...(await secretValues(world, [world.namespace, world.operatorNamespace])),
  ])
  const crashed = world.operator.log
  await world.startOperator()
  await world.resync()
  const found = await traces(world, [world.namespace, world.operatorNamespace])
  const places = {
    ...found,
    'log of the operator that crashed, with its output': crashed,
    'metrics before': metrics,
    traces: await until('traces came in', () => receiver.batches.map((batch) => JSON.stringify(batch)).join('\n')),
    'audit records': await readFile(file, 'utf8'),
  }
  // Every kind exists, and everything is checked.
  for (const { definition } of kinds) {
    if (definition.scope !== 'Namespaced' || definition.kind === 'TunnelSession') continue
    expect(await world.list(definition.kind), definition.kind).not.toEqual([])
  }
  expect(Object.entries(places).filter(([, text]) => text.length === 0)).toEqual([])
  expect(values.size).toBeGreaterThanOrEqual(15)
  expect([...values.values()]).toContainEqual(expect.stringMatching(`^${SERVICE}-80-tunnel-key-1/`))
  expect(findings(values, places)).toEqual([])

  // Each API received the values of its own account, and none of the other's.
  const isOthers = (value: string, name: string): boolean => name.startsWith('other') || value === other.apiKey
  const others = new Map([...values].filter(([value, name]) => isOthers(value, name)))
  const own = new Map([...values].filter(([value, name]) => !isOthers(value, name)))
  const traffic = proxy.seen()
  expect(findings(new Map([[other.apiKey, 'key']]), { traffic })).toHaveLength(1)
  expect(findings(others, { traffic })).toContainEqual(expect.stringMatching(/^other-inputs\//))
  expect(own.size).toBeGreaterThanOrEqual(10)
  expect(findings(own, { traffic })).toEqual([])
  // Nor do objects carry the name of a Service of which they are no part.
  const name = new Map([[SERVICE, 'name of the Service']])
  expect(findings(name, { journal: JSON.stringify(world.journal()) })).toHaveLength(1)
  expect(findings(name, { traffic })).toEqual([])
  const journal = JSON.stringify(world.journal()) + JSON.stringify(world.emulator.admin.snapshot())
  expect(findings(others, { journal })).toEqual([])
})

test('the search finds a value in every encoding', () => {
  const value = Buffer.from(canary('x')).toString('latin1')
  const plain = Buffer.from(value, 'latin1').toString('utf8')
  const bytes = Buffer.from(plain)
  const texts = {
    plain,
    'in JSON': JSON.stringify({ msg: plain }),
    'in JSON in JSON': JSON.stringify(JSON.stringify({ msg: plain })),
    hexadecimal: bytes.toString('hex'),
    'in a query': new URLSearchParams({ q: encodeURIComponent(plain) }).get('q') ?? '',
    base64: bytes.toString('base64'),
    'base64 of a header': Buffer.from(`Bearer ${plain}, and more`).toString('base64'),
    'base64 of a user': Buffer.from(`me:${plain}`).toString('base64'),
    'base64url in the middle': Buffer.from(`a${plain}b`).toString('base64url'),
  }
  expect(findings(new Map([[value, 'it']]), texts)).toHaveLength(Object.keys(texts).length)
  expect(formsOf(value).every((form) => form.length >= 12)).toBe(true)
})
