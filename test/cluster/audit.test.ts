import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeReasons } from '../../src/telemetry/write-origin.ts'
import { caPem, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { type AuditRecord, markedUid, readAuditRecords, requestOf } from './support/audit-records.ts'
import { secrets, tokenOf } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { type Resource, World, type WorldOptions } from './support/world.ts'

const timeout = 300_000

/** A world whose operator writes audit records into a file. */
async function openWorld(options: WorldOptions = {}): Promise<{ world: World; file: string }> {
  const file = join(tmpdir(), `culvert-audit-${randomUUID()}`)
  onTestFinished(() => rm(file, { force: true }))
  return { file, world: await World.open({ ...options, flags: ['--audit-log', file, ...(options.flags ?? [])] }) }
}

/** What was recorded since `count` records, as `reason METHOD collection`. */
async function told(file: string, count: number): Promise<readonly string[]> {
  return (await readAuditRecords(file)).slice(count).map(({ reason, method, collection }) => {
    return `${reason} ${method} ${collection}`
  })
}

/** Every write in the journal but those that somebody else made, against the records. */
async function expectOneRecordEach(world: World, file: string, others: ReadonlySet<string>): Promise<void> {
  const records = await readAuditRecords(file)
  const writes = world.writes().filter(({ operationId }) => !others.has(operationId))
  const known = records.filter(({ operationId }) => operationId !== undefined)
  expect(known.map(({ operationId }) => operationId).sort()).toEqual(
    writes
      .filter(({ status, fault }) => status !== null && fault === null)
      .map(({ operationId }) => operationId)
      .sort(),
  )
  expect(records.map(requestOf).sort()).toEqual(writes.map(({ method, path }) => `${method} ${path}`).sort())
  const owners = new Map<string, string>()
  for (const write of writes) {
    const record = known.find(({ operationId }) => operationId === write.operationId)
    if (record === undefined) continue
    expect(record.status).toBe(write.status)
    if (write.method !== 'POST' || record.command !== undefined) {
      if (owners.has(record.objectId ?? '')) expect(record.resource.uid).toBe(owners.get(record.objectId ?? ''))
      continue
    }
    const uid = markedUid(write)
    if (uid !== undefined) expect(record.resource.uid).toBe(uid)
    expect(record.objectId).toBe(write.responseId ?? undefined)
    if (write.responseId !== null) owners.set(write.responseId, record.resource.uid)
  }
  const reasons: readonly string[] = Object.values(writeReasons)
  for (const record of records) {
    expect(reasons).toContain(record.reason)
    expect(record).toMatchObject({ audit: true, account: `Account/${world.namespace}/default` })
    expect(record.resource.namespace).toBe(world.namespace)
  }
}

test('each write to the account has one audit record with its resource and reason: lifecycle, drift, rotation, replacement, adoption, command, deletion', {
  timeout,
}, async () => {
  const { world, file } = await openWorld()
  await using _ = world
  const others = new Set<string>()
  const tokens: string[] = []
  let count = 0
  /** The reasons since the last phase, each once. */
  const phase = async (): Promise<readonly string[]> => {
    const lines = await told(file, count)
    count += lines.length
    return [...new Set(lines)].sort()
  }
  const byHand = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await world.api.call(method, path, body)
    others.add(answer.headers.get('operation-id') ?? '')
    return answer.body
  }

  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.apply('IPRestriction', 'api', { type: 'API', enforcement: 'Warn', ipPolicyRefs: [{ name: 'office' }] })
  const policy = await world.ready('IPPolicy', 'office')
  const restriction = await world.ready('IPRestriction', 'api')
  await world.apply('IPPolicy', 'office', {
    description: 'all of it',
    rules: [{ cidr: '10.0.0.0/16', action: 'Allow' }],
  })
  await world.ready('IPPolicy', 'office')
  expect(await phase()).toEqual([
    'spec DELETE ip_policy_rules',
    'spec PATCH ip_policies',
    'spec POST ip_policies',
    'spec POST ip_policy_rules',
    'spec POST ip_restrictions',
  ])

  await byHand('PATCH', `/ip_policies/${policy.status?.id}`, { description: 'by hand' })
  await byHand('DELETE', `/ip_restrictions/${restriction.status?.id}`)
  await world.resync()
  await world.until('IPRestriction', 'api', 'is made again', ({ status }) => {
    return status?.id !== undefined && status.id !== restriction.status?.id
  })
  await world.ready('IPRestriction', 'api')
  await until('the description is put back', async () => {
    return (await world.remote('ip_policies')).some(({ description }) => description === 'all of it')
  })
  expect(await phase()).toEqual(['drift PATCH ip_policies', 'drift POST ip_restrictions'])

  await world.apply('APIKey', 'ci', { rotation: { interval: '720h', overlap: '0s' } })
  const key = await world.ready('APIKey', 'ci')
  tokens.push(await tokenOf(world, key))
  expect(await phase()).toEqual(['spec POST api_keys'])
  await world.annotate('APIKey', 'ci', { 'culvert.dev/rotate-requested-at': 'now' })
  const rotated = await world.until('APIKey', 'ci', 'is rotated', ({ status }) => {
    return status !== undefined && status.id !== key.status?.id && status.internal?.superseded === undefined
  })
  tokens.push(await tokenOf(world, rotated))
  expect(await phase()).toEqual(['rotation POST api_keys', 'superseded DELETE api_keys'])
  await world.kube.mergePatch(secrets, { namespace: world.namespace, name: 'ci' }, { stringData: { token: 'altered' } })
  const reissued = await world.until('APIKey', 'ci', 'is reissued', ({ status }) => {
    return status !== undefined && status.id !== rotated.status?.id && status.internal?.superseded === undefined
  })
  tokens.push(await tokenOf(world, reissued))
  expect(await phase()).toEqual(['reissue POST api_keys', 'superseded DELETE api_keys'])

  await world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  const authority = await world.ready('CertificateAuthority', 'staff')
  await world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  await world.until('CertificateAuthority', 'staff', 'is replaced', ({ status }) => {
    return status !== undefined && status.id !== authority.status?.id && status.internal?.superseded === undefined
  })
  expect(await phase()).toEqual([
    'replacement POST certificate_authorities',
    'spec POST certificate_authorities',
    'superseded DELETE certificate_authorities',
  ])

  const { id } = await byHand('POST', '/reserved_addrs', { description: 'by hand' })
  const adopting = { externalID: String(id), managementPolicy: 'Manage' }
  await world.apply('ReservedAddress', 'old', { ...adopting, description: 'ours' })
  await world.ready('ReservedAddress', 'old')
  expect(await phase()).toEqual(['adoption PATCH reserved_addrs'])

  const { token } = await byHand('POST', '/credentials', {})
  tokens.push(String(token))
  const { sessionId } = world.emulator.admin.connectAgent({ token: String(token) })
  await world.apply('TunnelSessionCommand', 'stop', { action: 'Stop', target: { type: 'ID', id: sessionId } })
  await world.until('TunnelSessionCommand', 'stop', 'is over', ({ status }) => status?.finishedAt !== undefined)
  expect(await phase()).toEqual(['command POST tunnel_sessions'])

  const gone = [
    ['IPRestriction', 'api'],
    ['IPPolicy', 'office'],
    ['APIKey', 'ci'],
    ['CertificateAuthority', 'staff'],
    ['ReservedAddress', 'old'],
  ] as const
  for (const [kind, name] of gone) await world.delete(kind, name)
  for (const [kind, name] of gone) await world.gone(kind, name)
  expect(await phase()).toEqual([
    'deletion DELETE api_keys',
    'deletion DELETE certificate_authorities',
    'deletion DELETE ip_policies',
    'deletion DELETE ip_restrictions',
  ])

  await expectOneRecordEach(world, file, others)
  const text = await readFile(file, 'utf8')
  for (const secret of [...tokens, world.emulator.apiKey]) expect(text).not.toContain(secret)
})

test('a refused write, a lost answer and a write that never arrived have outcomes of their own', {
  tags: 'nightly',
  timeout,
}, async () => {
  const { world, file } = await openWorld()
  await using _ = world
  const { admin } = world.emulator
  const last = async (met: (record: AuditRecord) => boolean): Promise<AuditRecord> => {
    return await until('it is recorded', async () => (await readAuditRecords(file)).find(met))
  }

  admin.addFault({ match: { method: 'POST', path: '/bot_users' }, act: { type: 'status', status: 400 } })
  await world.apply('BotUser', 'refused', { displayName: 'ci' })
  expect(await last(({ resource }) => resource.name === 'refused')).toMatchObject({
    reason: 'spec',
    method: 'POST',
    collection: 'bot_users',
    fields: ['active', 'name'],
    outcome: 'refused',
    status: 400,
    error: 'Invalid',
  })

  admin.addFault({ match: { method: 'POST', path: '/ip_policies' }, act: { type: 'drop' } })
  await world.apply('IPPolicy', 'retried', { allowEmpty: true })
  await world.ready('IPPolicy', 'retried', 60_000)
  const tries = (await readAuditRecords(file)).filter(({ resource }) => resource.name === 'retried')
  expect(tries.map(({ reason, outcome }) => `${reason} ${outcome}`)).toEqual(['spec unknown', 'recovery done'])
  const policy: Resource | undefined = await world.get('IPPolicy', 'retried')
  expect(tries.map(({ objectId }) => objectId)).toEqual([undefined, policy?.status?.id])

  admin.addFault({ match: { method: 'DELETE', path: '/ip_policies/*' }, act: { type: 'commit-then-drop' } })
  await world.delete('IPPolicy', 'retried')
  await world.gone('IPPolicy', 'retried')
  const ends = (await readAuditRecords(file)).filter(({ resource, method }) => {
    return resource.name === 'retried' && method === 'DELETE'
  })
  expect(ends[0]).toMatchObject({ reason: 'deletion', outcome: 'unknown', objectId: policy?.status?.id })
})
