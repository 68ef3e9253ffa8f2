import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { AuditLog } from './support/audit-log.ts'
import { traces } from './support/traces.ts'
import { until } from './support/wait.ts'
import { conditionOf, core, World } from './support/world.ts'

const monitor = {
  type: 'Monitor',
  monitor: { apiKeySecretRef: { name: 'monitoring', key: 'apiKey' }, service: 'shop' },
}
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

function texts(entries: readonly JournalEntry[]): readonly string[] {
  return entries.map(({ method, path }) => `${method} ${path}`)
}

/** Everything that the emulator holds, as text. */
function held(world: World): string {
  return JSON.stringify(world.emulator.admin.snapshot())
}

test('a changed Secret is sent once, and keys that a destination does not read are not sent', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await world.secret('monitoring', { apiKey: 'first-key', other: 'a' })
  await world.apply('EventDestination', 'events', monitor)
  const { status } = await world.ready('EventDestination', 'events')
  expect(held(world)).toContain('first-key')

  const mark = world.mark()
  await world.secret('monitoring', { apiKey: 'second-key', other: 'a' })
  await until('the new value is at the API', () => held(world).includes('second-key'))
  const sent = [`PATCH /event_destinations/${status?.id}`]
  await world.resync()
  await world.secret('monitoring', { apiKey: 'second-key', other: 'b' })
  await world.annotate('EventDestination', 'events', { 'culvert.dev/reconcile-requested-at': 'now' })
  await world.until('EventDestination', 'events', 'was looked at', (cr) => cr.status?.lastHandledReconcileAt === 'now')
  await world.resync()
  expect(texts(world.writes(mark))).toEqual(sent)

  // Nor does a restart forget what was sent.
  await world.operator.kill()
  await world.startOperator()
  await world.resync()
  expect(texts(world.writes(mark))).toEqual(sent)

  await world.operator.kill()
  await world.secret('monitoring', { apiKey: 'third-key', other: 'b' })
  await world.startOperator()
  await until('a change made meanwhile is at the API', () => held(world).includes('third-key'))
  await world.resync()
  expect(texts(world.writes(mark))).toEqual([...sent, ...sent])
})

test('a destination waits for its Secret, then for the key in it, and is created when both exist', async () => {
  await using world = await World.open()
  await world.apply('EventDestination', 'events', monitor)
  const missing = await world.reason('EventDestination', 'events', 'Ready', 'SecretMissing')
  expect(missing.message).toContain('spec.monitor.apiKeySecretRef')
  expect(missing.message).toContain('monitoring')
  await world.secret('monitoring', { misspelt: 'key' })
  await world.resync()
  await world.reason('EventDestination', 'events', 'Ready', 'SecretMissing')
  expect(world.writes()).toEqual([])
  await world.secret('monitoring', { apiKey: 'key' })
  await world.ready('EventDestination', 'events')

  // What was made stays at work without it.
  await world.kube.delete(core('secrets', 'Secret'), { namespace: world.namespace, name: 'monitoring' })
  await world.reason('EventDestination', 'events', 'Synced', 'SecretMissing')
  expect(conditionOf(await world.get('EventDestination', 'events'), 'Ready')?.status).toBe('True')
  await world.secret('monitoring', { apiKey: 'key' })
  await world.ready('EventDestination', 'events')
  expect(world.writes()).toHaveLength(1)
})

test('another key of the same account takes over without a pause, and only its fingerprint is stored', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const names = ['one', 'two', 'three']
  for (const name of names) await world.apply('Backend', name, tunnels)
  const before = await Promise.all(names.map((name) => world.ready('Backend', name)))
  const account = await world.ready('Account', 'default')
  const { body } = await world.api.post('/api_keys', {})
  const audit = AuditLog.ofSuite()
  const [mark, auditMark] = [world.mark(), await audit.mark()]
  await world.setKey(String(body.token))
  const changed = await world.until('Account', 'default', 'has another fingerprint', ({ status }) => {
    return !isDeepStrictEqual(status?.internal, account.status?.internal)
  })
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect(world.journal(mark).at(-1)?.keyId).toBe(body.id)
  expect(changed.status?.conditions).toEqual(account.status?.conditions)
  const namespaces = [world.namespace, world.operatorNamespace]
  const writes = (await audit.operatorWrites(namespaces, auditMark)).map(({ resource, subresource, namespace }) => {
    return `${resource}${subresource === undefined ? '' : `/${subresource}`} in ${namespace}`
  })
  // The second status is the answer to the request for a pass.
  expect(writes).toEqual([
    `secrets in ${world.operatorNamespace}`,
    `accounts/status in ${world.namespace}`,
    `accounts/status in ${world.namespace}`,
  ])
  const after = await Promise.all(names.map((name) => world.get('Backend', name)))
  expect(after.map((cr) => cr?.metadata.resourceVersion)).toEqual(before.map((cr) => cr.metadata.resourceVersion))
  await world.apply('Backend', 'one', { ...tunnels, description: 'with the new key' })
  await world.ready('Backend', 'one')
  expect(world.writes(mark)).toMatchObject([{ keyId: body.id }])
})

test('secret values appear only in Secrets and at the API, whatever fails', async () => {
  await using world = await World.open()
  const { body } = await world.api.post('/api_keys', {})
  const values = {
    monitorKey: 'canary-monitor-5f1d7c',
    accessKeyID: 'canary-access-8a02be',
    secretAccessKey: 'canary-cloud-31c9d4',
    wrongKey: 'canary-wrong-77aa01',
    brokenKey: 'canary-broken-90cc13',
    accountKey: String(body.token),
  }
  const accessKey = {
    accessKeyIDSecretRef: { name: 'inputs', key: 'accessKeyID' },
    secretAccessKeySecretRef: { name: 'inputs', key: 'secretAccessKey' },
  }
  await world.setKey(values.accountKey)
  const { monitorKey, accessKeyID, secretAccessKey } = values
  await world.secret('inputs', { apiKey: monitorKey, accessKeyID, secretAccessKey })
  await world.apply('EventDestination', 'monitor', {
    type: 'Monitor',
    monitor: { apiKeySecretRef: { name: 'inputs', key: 'apiKey' } },
  })
  const firehose = {
    deliveryStreamARN: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a',
    auth: { type: 'AccessKey', accessKey },
  }
  await world.apply('EventDestination', 'cloud', { type: 'Firehose', firehose })
  await world.ready('EventDestination', 'monitor')
  await world.ready('EventDestination', 'cloud')

  // An API that repeats what it was sent.
  const monitorAgain = { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'inputs', key: 'apiKey' } } }
  for (const [name, spec, said] of [
    ['refused', monitorAgain, [monitorKey, values.accountKey]],
    ['refused-too', { type: 'Firehose', firehose }, [accessKeyID, secretAccessKey, values.accountKey]],
  ] as const) {
    const msg = `refused: ${said.join(' ')}`
    const fault = world.emulator.admin.addFault({
      match: { method: 'POST', path: '/event_destinations', every: true },
      act: { type: 'status', status: 400, body: { error_code: 'ERR_1', status_code: 400, msg, details: { msg } } },
    })
    await world.apply('EventDestination', name, spec)
    await world.reason('EventDestination', name, 'Ready', 'Rejected')
    await world.delete('EventDestination', name)
    await world.gone('EventDestination', name)
    world.emulator.admin.deleteFault(fault.id)
  }

  // Keys that the API does not know, and that no header can carry.
  await world.setKey(values.wrongKey)
  await world.reason('Account', 'default', 'Ready', 'Unauthorized')
  await world.setKey(`${values.brokenKey}\nx: y`)
  await world.annotate('Account', 'default', { 'culvert.dev/reconcile-requested-at': 'broken' })
  await world.until('Account', 'default', 'was looked at', (cr) => cr.status?.lastHandledReconcileAt === 'broken')
  await world.emulator.admin.addFault({ match: { every: true }, act: { type: 'drop' } })
  await world.setKey(values.accountKey)
  await world.reason('Account', 'default', 'Ready', 'Unreachable')

  const places = await traces(world, [world.namespace, world.operatorNamespace])
  for (const [name, value] of Object.entries(values)) {
    const forms = [value, Buffer.from(value).toString('base64'), encodeURIComponent(value)]
    for (const [place, text] of Object.entries(places)) {
      expect(
        forms.filter((form) => text.includes(form)),
        `${name} in ${place}`,
      ).toEqual([])
    }
  }
  // They are where they belong.
  const secrets = async (namespace: string) =>
    JSON.stringify((await world.kube.list<KubeObject>(core('secrets', 'Secret'), { namespace })).items)
  const encoded = (value: string): string => Buffer.from(value).toString('base64')
  expect(await secrets(world.namespace)).toContain(encoded(monitorKey))
  expect(await secrets(world.operatorNamespace)).toContain(encoded(values.accountKey))
  expect(held(world)).toContain(monitorKey)
})
