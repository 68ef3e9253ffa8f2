import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

const managed = { certificate: { type: 'Managed' } }

/**
 * The service tries again 30 s after a failure, and the operator polls at that time by its own clock. With the
 * emulator's clock this far behind, it comes some ten seconds after the first poll, so later than a poll of a job
 * without an error would; then `catchUp` lets the emulator's own retry have happened.
 */
const BEHIND_S = 16

async function openBehind(): Promise<World> {
  const world = await World.open()
  world.emulator.admin.setClock(Date.now() - BEHIND_S * 1000)
  return world
}

function catchUp(world: World): void {
  world.emulator.admin.advanceClock(BEHIND_S + 60)
}

interface DomainStatus {
  readonly id: string
  readonly cnameTarget?: string
  readonly dnsRecords?: readonly { readonly name: string; readonly type: string; readonly value: string }[]
  readonly renewsAt?: string
  readonly certificateID?: string
  readonly provisioningJob?: { readonly errorCode?: string; readonly retriesAt?: string; readonly message?: string }
}

function statusOf(cr: Resource): DomainStatus {
  return cr.status as DomainStatus & Resource['status']
}

function conditionsOf(cr: Resource): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (cr.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  )
}

/** Looks at the domain since `mark`, lists aside. */
function polls(world: World, mark: number, { id }: DomainStatus): readonly JournalEntry[] {
  return world.journal(mark).filter(({ method, path }) => method === 'GET' && path === `/reserved_domains/${id}`)
}

/** The operator slept until the service's own time for the next attempt. */
function expectPolledAt(retriesAt: string | undefined, found: readonly JournalEntry[]): void {
  expect(found.length).toBeGreaterThan(0)
  for (const { time } of found) expect(Date.parse(time)).toBeGreaterThanOrEqual(Date.parse(retriesAt ?? ''))
}

test('a custom domain shows the records to create, and is Ready once they exist, without another write', async () => {
  await using world = await openBehind()
  await world.apply('ReservedDomain', 'apps', { domain: '*.apps.example.com', ...managed })
  await world.reason('ReservedDomain', 'apps', 'Ready', 'DNSError')
  const failing = await world.until(
    'ReservedDomain',
    'apps',
    'is stalled',
    (cr) => conditionOf(cr, 'Stalled') !== undefined,
  )
  const mark = world.mark()
  const status = statusOf(failing)
  const [remote] = await world.remote('reserved_domains')
  const records = [
    { name: '*.apps.example.com', type: 'CNAME', value: remote?.cname_target },
    { name: '_acme-challenge.apps.example.com', type: 'CNAME', value: remote?.acme_challenge_cname_target },
  ]
  expect(conditionsOf(failing)).toEqual({
    Ready: 'False DNSError',
    Synced: 'True InSync',
    Stalled: 'True DNSError',
    CertificateReady: 'False DNSError',
    DNSReady: 'False DNSError',
  })
  expect(status.dnsRecords).toEqual(records)
  expect(status.provisioningJob).toMatchObject({ errorCode: 'DNS_ERROR', retriesAt: expect.any(String) })
  const message = conditionOf(failing, 'Ready')?.message
  for (const { name, value } of records) expect(message).toContain(`the record ${name} CNAME ${value}`)
  expect(message).toContain(`tried again at ${status.provisioningJob?.retriesAt}`)
  const events = () => world.events('ReservedDomain', 'apps')
  await until('an Event warns', async () => (await events()).some(({ reason }) => reason === 'DNSError'), {
    describe: events,
  })
  expect(await events()).toContainEqual({ type: 'Warning', reason: 'DNSError', note: message })

  for (const record of status.dnsRecords ?? []) world.emulator.admin.putDns(record)
  catchUp(world)
  const ready = await world.ready('ReservedDomain', 'apps')
  expect(conditionsOf(ready)).toEqual({
    Ready: 'True Available',
    Synced: 'True InSync',
    CertificateReady: 'True CertificateIssued',
    DNSReady: 'True CertificateIssued',
  })
  expect(statusOf(ready)).toMatchObject({
    certificateID: expect.stringMatching(/^cert_/),
    renewsAt: expect.any(String),
  })
  expect(statusOf(ready).provisioningJob).toBeUndefined()
  expect(ready.metadata).toMatchObject({
    generation: failing.metadata.generation,
    annotations: failing.metadata.annotations,
  })
  expect(world.writes(mark)).toEqual([])
  const asked = polls(world, mark, status)
  expectPolledAt(status.provisioningJob?.retriesAt, asked)
  expect(asked).toHaveLength(1)
})

test('an internal error of the service is waited out and recovers by itself', { tags: 'nightly' }, async () => {
  await using world = await openBehind()
  world.emulator.admin.addFault({ type: 'certificate', domain: 'shop.tunnel.example', errorCode: 'INTERNAL_ERROR' })
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.tunnel.example', ...managed })
  const { message } = await world.reason('ReservedDomain', 'shop', 'Ready', 'InternalError')
  const failing = (await world.get('ReservedDomain', 'shop')) as Resource
  const mark = world.mark()
  expect(conditionsOf(failing)).toEqual({
    Ready: 'False InternalError',
    Synced: 'True InSync',
    Reconciling: 'True InternalError',
    CertificateReady: 'False InternalError',
  })
  const { provisioningJob } = statusOf(failing)
  expect(message).toContain('it will be retried')
  expect(message).toContain(`tried again at ${provisioningJob?.retriesAt}`)

  catchUp(world)
  await world.ready('ReservedDomain', 'shop')
  expect(world.writes(mark)).toEqual([])
  expectPolledAt(provisioningJob?.retriesAt, polls(world, mark, statusOf(failing)))
})

test('an agent ingress shows the NS records to create, and is Ready once they exist, without another write', {
  tags: 'nightly',
}, async () => {
  await using world = await openBehind()
  await world.apply('AgentIngress', 'agents', { domain: 'agents.example.com', ...managed })
  const failing = await world.until('AgentIngress', 'agents', 'is stalled', (cr) => {
    return conditionOf(cr, 'Stalled')?.reason === 'DNSError'
  })
  const [remote] = await world.remote('agent_ingresses')
  const targets = ((remote?.ns_targets ?? []) as readonly string[]).toSorted()
  expect(targets).toHaveLength(2)
  const records = targets.map((value) => ({ name: 'agents.example.com', type: 'NS', value }))
  expect(failing.status).toMatchObject({
    uri: `/agent_ingresses/${failing.status?.id}`,
    nsTargets: targets,
    regionDomains: expect.arrayContaining(['eu.agents.example.com']),
    dnsRecords: records,
  })
  expect(conditionsOf(failing)).toMatchObject({ Ready: 'False DNSError', DNSReady: 'False DNSError' })
  const mark = world.mark()
  for (const record of records) world.emulator.admin.putDns(record)
  catchUp(world)
  const ready = await world.ready('AgentIngress', 'agents')
  expect(conditionsOf(ready)).toEqual({
    Ready: 'True Available',
    Synced: 'True InSync',
    CertificateReady: 'True CertificateIssued',
    DNSReady: 'True CertificateIssued',
  })
  expect(statusOf(ready).renewsAt).toEqual(expect.any(String))
  expect(world.writes(mark)).toEqual([])
})

test('a domain of the service is pending at first, and Ready with its certificate', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.tunnel.example', ...managed })
  const { message } = await world.reason('ReservedDomain', 'shop', 'Ready', 'CertificatePending')
  expect(message).toBe('a certificate is being provisioned')
  const pending = (await world.get('ReservedDomain', 'shop')) as Resource
  expect(conditionsOf(pending)).toEqual({
    Ready: 'False CertificatePending',
    Synced: 'True InSync',
    Reconciling: 'True CertificatePending',
    CertificateReady: 'False CertificatePending',
  })
  const ready = await world.ready('ReservedDomain', 'shop')
  expect(conditionsOf(ready)).toEqual({
    Ready: 'True Available',
    Synced: 'True InSync',
    CertificateReady: 'True CertificateIssued',
  })
  expect(statusOf(ready).dnsRecords).toBeUndefined()
  expect(polls(world, 0, statusOf(ready))).toHaveLength(1)
  expect(world.writes().map(({ method }) => method)).toEqual(['POST'])
})

test('an edge can listen on a domain while its certificate is still missing', async () => {
  await using world = await World.open()
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...managed })
  const hostports = [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 443 }]
  await world.apply('Edge', 'front', { protocol: 'TLS', hostports })
  await world.ready('Edge', 'front')
  const domain = (await world.get('ReservedDomain', 'shop')) as Resource
  expect(conditionOf(domain, 'Ready')?.status).toBe('False')
})

test('a renewal that fails is shown long before the certificate expires, while the domain stays Ready', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const { admin } = world.emulator
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com' })
  const { dnsRecords = [] } = statusOf(await world.ready('ReservedDomain', 'shop'))
  for (const record of dnsRecords) admin.putDns(record)
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...managed })
  const issued = await world.until('ReservedDomain', 'shop', 'has a certificate', (cr) => {
    return conditionOf(cr, 'CertificateReady')?.reason === 'CertificateIssued'
  })
  const { renewsAt = '', certificateID } = statusOf(issued)

  admin.deleteDns()
  admin.setClock(Date.parse(renewsAt) + 60_000)
  await world.resync()
  const { status, message } = await world.reason('ReservedDomain', 'shop', 'CertificateReady', 'RenewalFailing')
  const failing = (await world.get('ReservedDomain', 'shop')) as Resource
  expect(status).toBe('False')
  expect(message).toContain('the certificate in use still works, but its renewal fails')
  expect(message).toContain(`make the record shop.example.com CNAME ${statusOf(failing).cnameTarget}`)
  expect(conditionsOf(failing)).toMatchObject({ Ready: 'True Available', DNSReady: 'False DNSError' })
  expect(statusOf(failing)).toMatchObject({ certificateID, provisioningJob: { errorCode: 'DNS_ERROR' } })
  // Valid for 90 days, renewed after 60 (`api-decisions.md § Certificate provisioning in the emulator`).
  expect(admin.now()).toBeLessThan(Date.parse(renewsAt) + 30 * 24 * 3600 * 1000)
  const events = () => world.events('ReservedDomain', 'shop')
  const warnings = async () => (await events()).filter(({ type }) => type === 'Warning').map(({ reason }) => reason)
  await until('Events warn', async () => (await warnings()).length >= 2, { describe: events })
  expect((await warnings()).toSorted()).toEqual(['DNSError', 'RenewalFailing'])

  for (const record of dnsRecords) admin.putDns(record)
  admin.advanceClock(3600)
  await world.resync()
  const renewed = await world.until('ReservedDomain', 'shop', 'is renewed', (cr) => {
    return conditionOf(cr, 'CertificateReady')?.reason === 'CertificateIssued'
  })
  expect(statusOf(renewed).certificateID).not.toBe(certificateID)
})
