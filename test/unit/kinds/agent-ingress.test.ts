import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { agentIngress } from '../../../src/kinds/agent-ingress.ts'
import type { AgentIngressSpec } from '../../../src/kinds/certificates/agent-ingress-schema.ts'

const managed: AgentIngressSpec = { domain: 'agents.example.com', certificate: { type: 'Managed' } }
const start = Date.parse('2030-01-01T00:00:00Z')
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString()
const targets = ['ns2.x.ns.tunnel.example', 'ns1.x.ns.tunnel.example']

function remoteWith(management: unknown): RemoteObject {
  return {
    id: 'agin_1',
    uri: '/agent_ingresses/agin_1',
    domain: 'agents.example.com',
    ns_targets: targets,
    region_domains: ['us.agents.example.com', 'eu.agents.example.com'],
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
    certificate_management_status: management,
  }
}

const readiness = (remote: RemoteObject, spec = managed) => agentIngress.status.readiness({ spec, remote, now: start })
const condition = (type: string, remote: RemoteObject, spec = managed) =>
  readiness(remote, spec).conditions?.find((candidate) => candidate.type === type)

describe('a certificate, which no Ref names,', () => {
  test.each([
    ['counts as missing while the first one is made', { renews_at: null, provisioning_job: { started_at: at(0) } }],
    ['counts as missing while its management does not show', null],
  ])('%s', (_when, management) => {
    const found = readiness(remoteWith(management))
    expect(found).toMatchObject({ ready: false, reason: 'CertificatePending', pollMs: 5000 })
    expect(condition('CertificateReady', remoteWith(management))?.status).toBe('False')
    expect(condition('DNSReady', remoteWith(management))?.status).toBe('Unknown')
  })

  test.each([
    ['counts as in use once none is being made', { renews_at: at(60), provisioning_job: null }],
    ['counts as in use while its successor is made', { renews_at: at(0), provisioning_job: { started_at: at(0) } }],
  ])('%s', (_when, management) => {
    expect(readiness(remoteWith(management))).toMatchObject({ ready: true })
    expect(condition('CertificateReady', remoteWith(management))?.status).toBe('True')
    expect(condition('DNSReady', remoteWith(management))?.status).toBe('True')
  })
})

describe('while another certificate is made for a changed policy', () => {
  const remote = { ...remoteWith({ renews_at: null, provisioning_job: { started_at: at(0) } }), created_at: at(-100) }
  const after = (reason: string, seconds: number) => ({
    conditions: [
      { type: 'CertificateReady', status: 'True', reason, message: '', lastTransitionTime: at(seconds) },
    ] as const,
  })
  const readyAfter = (reason: string, seconds: number): boolean =>
    agentIngress.status.readiness({
      spec: managed,
      remote,
      now: start,
      status: after(reason, seconds) as unknown as NonNullable<
        Parameters<typeof agentIngress.status.readiness>[0]['status']
      >,
    }).ready

  test('the ingress stays ready where one was in use', () => {
    expect(readyAfter('CertificateIssued', -50)).toBe(true)
    expect(readyAfter('RenewalFailing', -50)).toBe(true)
  })

  test('the ingress stays ready where one was in use, even if the API’s clock is ahead of ours', () => {
    expect(readyAfter('CertificateIssued', -150)).toBe(true)
  })

  test('it does not where none was', () => {
    expect(readyAfter('CertificatePending', -50)).toBe(false)
    expect(readyAfter('CertificateNotManaged', -50)).toBe(false)
  })
})

test('a DNS error names the NS records to make, and stalls', () => {
  const job = { error_code: 'DNS_ERROR', started_at: at(-60), retries_at: at(30) }
  const remote = remoteWith({ renews_at: null, provisioning_job: job })
  const found = readiness(remote)
  expect(found).toMatchObject({ ready: false, reason: 'DNSError', stalled: true, pollMs: 30_000 })
  for (const target of targets) expect(found.message).toContain(`agents.example.com NS ${target}`)
  expect(condition('DNSReady', remote)).toMatchObject({ status: 'False', reason: 'DNSError' })
})

test('a failing renewal shows while the certificate in use still works', () => {
  const remote = remoteWith({ renews_at: at(0), provisioning_job: { error_code: 'DNS_ERROR', retries_at: at(30) } })
  expect(readiness(remote)).toMatchObject({ ready: true })
  expect(condition('CertificateReady', remote)).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
})

test('a domain of the service needs no records and says nothing about DNS', () => {
  const remote = { ...remoteWith({ renews_at: at(60), provisioning_job: null }), ns_targets: [] }
  expect(condition('DNSReady', remote)).toBeUndefined()
  expect(agentIngress.status.shown(remote, {})).not.toHaveProperty('dnsRecords')
})

test('without a policy the ingress is ready, and no certificate is waited for', () => {
  const none: AgentIngressSpec = { domain: 'agents.example.com' }
  const remote = { ...remoteWith(null), certificate_management_policy: null }
  expect(readiness(remote, none)).toMatchObject({ ready: true })
  expect(readiness(remote, none).pollMs).toBeUndefined()
  expect(condition('CertificateReady', remote, none)?.reason).toBe('CertificateNotManaged')
})

test('name servers and regions are in the status in one order, whatever the order of the response', () => {
  const status = agentIngress.status.shown(remoteWith(null), {})
  expect(status).toEqual({
    nsTargets: targets.toSorted(),
    certificatePolicy: { authority: 'letsencrypt', privateKeyType: 'rsa' },
    regionDomains: ['eu.agents.example.com', 'us.agents.example.com'],
    dnsRecords: targets.toSorted().map((value) => ({ name: 'agents.example.com', type: 'NS', value })),
  })
})
