import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import type { ManagedCertificate } from '../../../src/kinds/certificates/certificate-spec.ts'
import type { ReservedDomainSpec } from '../../../src/kinds/certificates/reserved-domain-schema.ts'
import { reservedDomain } from '../../../src/kinds/reserved-domain.ts'
import { intendedModules, modulesAtRest } from '../../../src/managed/plan/modules.ts'
import { planUpdate } from '../../../src/managed/plan/plan.ts'
import { anySpecOf } from '../../builders/kinds/any-spec.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const managed: ReservedDomainSpec = { domain: '*.apps.example.com', certificate: { type: 'Managed' } }
const start = Date.parse('2030-01-01T00:00:00Z')
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString()

interface Job {
  readonly error_code?: string
  readonly msg?: string
  readonly started_at?: string
  readonly retries_at?: string
}

function remoteWith(job: Job | null, certificate: unknown = null): RemoteObject {
  return {
    id: 'rd_1',
    domain: '*.apps.example.com',
    cname_target: 'x.cname.tunnel.example',
    acme_challenge_cname_target: 'y.acme.tunnel.example',
    certificate,
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
    certificate_management_status: { renews_at: null, provisioning_job: job },
  }
}

const readiness = (remote: RemoteObject, now = start, spec = managed) =>
  reservedDomain.status.readiness({ spec, remote, now })
const condition = (type: string, remote: RemoteObject, spec = managed) =>
  readiness(remote, start, spec).conditions?.find((candidate) => candidate.type === type)
const certificate = { id: 'cert_1', uri: '/tls_certificates/cert_1' }

describe('while a certificate is provisioned', () => {
  test('the domain is not ready, and looks are first 5 s and in the end 60 s apart', () => {
    const remote = remoteWith({ started_at: at(0) })
    expect(readiness(remote)).toMatchObject({ ready: false, reason: 'CertificatePending', pollMs: 5000 })
    const waits = [0, 60, 120, 600, 6000].map((seconds) => readiness(remote, start + seconds * 1000).pollMs)
    expect(waits).toEqual([5000, 6000, 12_000, 60_000, 60_000])
  })

  test('each wait is from 1 s to 10 min, whatever the times are', () => {
    const time = fc.oneof(fc.constant(undefined), fc.integer({ min: -1e9, max: 1e9 }).map(at), fc.constant('soon'))
    const job = fc.record({
      error_code: fc.constantFrom('DNS_ERROR', 'INTERNAL_ERROR', 'NEW'),
      started_at: time,
      retries_at: time,
    })
    fc.assert(
      fc.property(job, (fields) => {
        const { pollMs = 0 } = readiness(remoteWith(JSON.parse(JSON.stringify(fields))))
        expect(pollMs).toBeGreaterThanOrEqual(1000)
        expect(pollMs).toBeLessThanOrEqual(600_000)
      }),
    )
  })
})

test('a DNS error names the records to make and when it is tried again, and stalls', () => {
  const remote = remoteWith({ error_code: 'DNS_ERROR', msg: 'no CNAME', started_at: at(-60), retries_at: at(30) })
  const found = readiness(remote)
  expect(found).toMatchObject({ ready: false, reason: 'DNSError', stalled: true, pollMs: 30_000 })
  expect(found.message).toContain('*.apps.example.com CNAME x.cname.tunnel.example')
  expect(found.message).toContain('_acme-challenge.apps.example.com CNAME y.acme.tunnel.example')
  expect(found.message).toContain(at(30))
  expect(condition('DNSReady', remote)).toMatchObject({ status: 'False', reason: 'DNSError' })
})

test('a DNS error asks nobody to create the records that a DNSEndpoint is to make', () => {
  const remote = remoteWith({ error_code: 'DNS_ERROR', msg: 'no CNAME', started_at: at(-60), retries_at: at(30) })
  const { message } = readiness(remote, start, { ...managed, dns: { endpoint: true } })
  expect(message).toContain('spec.dns.endpoint publishes the record *.apps.example.com CNAME x.cname.tunnel.example')
  expect(message).toContain('DNSEndpointReady')
  expect(message).not.toContain('create the record')
})

test('an internal error says that could not issue the certificate, and does not stall', () => {
  const found = readiness(remoteWith({ error_code: 'INTERNAL_ERROR', retries_at: at(45) }))
  expect(found).toMatchObject({ ready: false, reason: 'InternalError', stalled: false, pollMs: 45_000 })
  expect(found.message).toContain('the next attempt is at')
})

test('with a certificate the domain is ready and nothing is polled', () => {
  const found = readiness(remoteWith(null, certificate))
  expect(found).toMatchObject({ ready: true })
  expect(found.pollMs).toBeUndefined()
  expect(condition('CertificateReady', remoteWith(null, certificate))).toMatchObject({ status: 'True' })
})

test('a failing renewal shows while the certificate in use still works', () => {
  const remote = remoteWith({ error_code: 'DNS_ERROR', retries_at: at(30) }, certificate)
  expect(readiness(remote)).toMatchObject({ ready: true, message: expect.stringContaining('renewal fails') })
  expect(condition('CertificateReady', remote)).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
})

test('a domain of the service needs no records and says nothing about DNS', () => {
  const remote = { ...remoteWith(null, certificate), cname_target: null, acme_challenge_cname_target: null }
  expect(condition('DNSReady', remote)).toBeUndefined()
  expect(reservedDomain.status.shown(remote, {})).not.toHaveProperty('dnsRecords')
})

test('without a policy the domain is ready, and says whether a certificate was uploaded', () => {
  const none: ReservedDomainSpec = { domain: 'a.example.com' }
  const remote = { ...remoteWith(null), certificate_management_policy: null }
  expect(readiness(remote, start, none)).toMatchObject({ ready: true })
  expect(condition('CertificateReady', remote, none)).toMatchObject({
    status: 'Unknown',
    reason: 'CertificateNotManaged',
  })
  expect(condition('CertificateReady', { ...remote, certificate: { id: 'cert_9' } }, none)?.status).toBe('True')
})

describe('an update', () => {
  const issued: RemoteObject = { ...remoteWith(null, certificate), domain: 'a.example.com' }
  const unmanaged: RemoteObject = {
    ...issued,
    certificate_management_policy: null,
    certificate_management_status: null,
  }
  const uploaded = (id: string): ReservedDomainSpec => ({
    domain: 'a.example.com',
    certificate: { type: 'Uploaded', uploaded: { id } },
  })
  const none: ReservedDomainSpec = { domain: 'a.example.com' }
  const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }
  const ours = (...appliedModules: string[]) => ({ internal: { appliedModules } })
  const update = (spec: ReservedDomainSpec, remote: RemoteObject, status = ours()) =>
    planUpdate(reservedDomain, desiredOf({ spec, status }), remote, { markedMetadata: undefined, inputsChanged: false })

  test('ends the management alone where the policy has left the spec: the certificate works', () => {
    expect(update(none, issued)?.body).toEqual({ certificate_management_policy: null })
    expect(update(none, unmanaged)).toBeUndefined()
  })

  test('takes off a certificate that the spec has named, and no other', () => {
    expect(update(none, unmanaged, ours('uploadedCertificate'))?.body).toEqual({ certificate_id: null })
    expect(update(uploaded('cert_1'), unmanaged)).toBeUndefined()
  })

  test('takes the certificate of a policy for no certificate_id', () => {
    expect(update(uploaded('cert_1'), issued)).toMatchObject({
      body: { certificate_id: 'cert_1', certificate_management_policy: null },
      alternatives: [{ certificate_id: 'cert_1' }],
    })
  })

  test('clears what the spec has named when a policy takes its place', () => {
    const named = update(managed, unmanaged, ours('uploadedCertificate'))
    expect(named?.body).toEqual({ certificate_id: null, certificate_management_policy: policy })
    expect(named?.alternatives).toEqual([{ certificate_management_policy: policy }])
    // A certificate that may be left from a policy is cleared only if the API requires it.
    const left = update(managed, unmanaged)
    expect(left?.body).toEqual({ certificate_management_policy: policy })
    expect(left?.alternatives).toEqual([{ certificate_id: null, certificate_management_policy: policy }])
    expect(update(managed, { ...unmanaged, certificate: null })?.alternatives).toEqual([])
  })

  test('leaves endpoint configurations alone that the spec has not named', () => {
    const both = {
      ...issued,
      http_endpoint_configuration: { id: 'ec_1' },
      https_endpoint_configuration: { id: 'ec_2' },
    }
    expect(update(managed, both)).toBeUndefined()
    expect(update(managed, both, ours('httpEndpointConfiguration'))?.body).toEqual({
      http_endpoint_configuration_id: null,
    })
    const named = { ...managed, httpsEndpointConfigurationRef: { id: 'ec_3' } }
    expect(update(named, both)?.body).toEqual({ https_endpoint_configuration_id: 'ec_3' })
    const kept = intendedModules(reservedDomain.modules, named, {})
    expect(modulesAtRest(reservedDomain.modules, both, kept)).toEqual({
      appliedModules: ['httpsEndpointConfiguration'],
    })
    expect(modulesAtRest(reservedDomain.modules, issued, kept)).toEqual({ appliedModules: [] })
    expect(modulesAtRest(reservedDomain.modules, both, intendedModules(reservedDomain.modules, managed, {}))).toEqual(
      {},
    )
  })

  test('of an adopted domain leaves the type of the key alone that the spec does not name', () => {
    const held = { ...issued, certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' } }
    const plain: ReservedDomainSpec = { domain: 'a.example.com', certificate: { type: 'Managed' } }
    const set = reservedDomain.fields.setBy(plain)
    const desired = { ...desiredOf({ spec: plain }), decides: (field: string) => set.includes(field) }
    const context = { markedMetadata: undefined, inputsChanged: false }
    expect(planUpdate(reservedDomain, desired, held, context)).toBeUndefined()
    expect(update(plain, held)?.body).toEqual({ certificate_management_policy: policy })
  })
})

test('certificate and policy are never sent together, even if a spec has both', () => {
  const type = fc.constantFrom('Managed' as const, 'Uploaded' as const)
  const spec = anySpecOf(reservedDomain)
  const both = fc.tuple(spec, type).map(([found, chosen]) => {
    const members = { managed: { privateKeyType: 'ECDSA' as const }, uploaded: { id: 'cert_1' } }
    return { ...found, certificate: { type: chosen, ...members } }
  })
  fc.assert(
    fc.property(fc.oneof(spec, both), (each) => {
      const { certificate_id, certificate_management_policy } = reservedDomain.fields.desire(
        desiredOf({ spec: each }),
        undefined,
      )
      expect(certificate_id != null && certificate_management_policy != null).toBe(false)
    }),
  )
})

test('a policy has RSA keys and the one authority there is unless it says otherwise, and is no other for having them named', () => {
  const full = { authority: 'letsencrypt', private_key_type: 'rsa' }
  const sent = (managed?: ManagedCertificate): unknown => {
    const certificate = { type: 'Managed' as const, ...(managed && { managed }) }
    const desired = desiredOf({ spec: { domain: 'a.example.com', certificate } })
    return reservedDomain.fields.desire(desired, undefined).certificate_management_policy
  }
  expect(sent()).toEqual(full)
  expect(sent({})).toEqual(full)
  expect(sent({ privateKeyType: 'ECDSA' })).toEqual({ ...full, private_key_type: 'ecdsa' })
  for (const shown of [{}, full, { authority: 'letsencrypt', private_key_type: null }]) {
    const remote = { id: 'rd_1', certificate_management_policy: shown }
    expect(reservedDomain.fields.observe(remote).certificate_management_policy).toEqual(full)
  }
})

test('the policy in effect is in the status, in the words of the API', () => {
  expect(reservedDomain.status.shown(remoteWith(null), {})).toMatchObject({
    certificatePolicy: { authority: 'letsencrypt', privateKeyType: 'rsa' },
  })
  expect(reservedDomain.status.shown({ id: 'rd_1', certificate_management_policy: null }, {})).not.toHaveProperty(
    'certificatePolicy',
  )
})

test('the records to make are in the status', () => {
  expect(reservedDomain.status.shown(remoteWith(null), {})).toMatchObject({
    dnsRecords: [
      { name: '*.apps.example.com', type: 'CNAME', value: 'x.cname.tunnel.example' },
      { name: '_acme-challenge.apps.example.com', type: 'CNAME', value: 'y.acme.tunnel.example' },
    ],
  })
})
