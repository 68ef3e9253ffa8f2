import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import type { Fields } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Readiness, ReadinessView } from '../managed/descriptor/readiness.ts'
import { reasons } from '../managed/descriptor/reasons.ts'
import { cut } from '../util/printable.ts'
import { inCollection, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, namesOf, sorted, textOf, textsOf } from './building-blocks/remote.ts'
import {
  type AgentIngressSpec,
  agentIngressDefinition,
  NS_TARGETS_SHOWN,
  REGION_DOMAIN_LENGTH,
  REGION_DOMAINS_SHOWN,
} from './certificates/agent-ingress-schema.ts'
import { type CertificateState, certificateProgress } from './certificates/certificate-progress.ts'
import {
  heldCertificatePolicy,
  sentCertificatePolicy,
  setByCertificate,
  writtenCertificate,
} from './certificates/certificate-spec.ts'
import { certificateStatus } from './certificates/certificate-status.ts'
import { type AnsweredTarget, type DNSRecord, dnsReady, domainAnswerProblem } from './certificates/dns.ts'
import { dnsEndpoint, neededRecords } from './certificates/dns-endpoint.ts'
import { answeredDomain, targetName, uniqueDomain } from './certificates/domain-name.ts'
import { certificateReady, managedReadiness } from './certificates/readiness.ts'

/** Agent ingresses with their certificates (`management-api.md § Domains, addresses, ingress`). */
export const agentIngress: ManagedDescriptor<AgentIngressSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  // Its NS records delegate every name below the domain too.
  needs: ({ domain }) => ({
    domains: [domain, `*.${domain}`].map((each) => ({ path: 'spec.domain', domain: each })),
  }),
  definition: agentIngressDefinition,
  identity: { ...inCollection(collections.agentIngresses), uniqueNames: uniqueDomain },
  fields: {
    ...plainFields,
    createOnly: ['domain'],
    setBy: ({ domain, certificate }) => [...namesOf({ domain }), ...setByCertificate(certificate)],
    desire: ({ spec: { domain, certificate }, decides }, remote) => ({
      domain,
      certificate_management_policy:
        certificate?.type === 'Managed' ? sentCertificatePolicy({ decides }, certificate.managed, remote) : null,
    }),
    observe: (remote) => ({
      domain: textOf(remote.domain)?.toLowerCase(),
      certificate_management_policy: heldCertificatePolicy(remote),
    }),
  },
  status: {
    shown: status,
    readiness,
    answerProblem: ({ domain }, remote) => domainAnswerProblem(domain, remote, answeredTargets(remote)),
    certificate: { renewsAt: ({ renewsAt }) => textOf(renewsAt) },
  },
  manifest: {
    namedAfter: ({ domain }) => [textOf(domain)],
    specOf: (remote) =>
      given({ domain: textOf(remote.domain)?.toLowerCase(), certificate: writtenCertificate(remote) }),
  },
  companion: dnsEndpoint(({ domain }, remote) => dnsRecords(domain, remote)),
}

/**
 * The object has no Ref to its certificate, so the state follows from `certificate_management_status`: a certificate is
 * in use when no job runs, when a renewal is planned, or when one was in use before this job started.
 */
function stateOf(remote: RemoteObject, before?: Before): CertificateState {
  const progress = certificateProgress(remote)
  const { managed, job, renewsAt } = progress
  return { ...progress, issued: managed && (job === undefined || renewsAt !== undefined || wasIssued(before)) }
}

type Before = ReadinessView<AgentIngressSpec>['status']

/** Whether the previous conditions report a certificate of this object as in use. */
function wasIssued(before: Before): boolean {
  const condition = before?.conditions?.find(({ type }) => type === 'CertificateReady')
  return IN_USE.some((reason) => reason === condition?.reason)
}

const IN_USE = [reasons.CertificateIssued, reasons.RenewalFailing]

function status(remote: RemoteObject): Fields {
  const regions = sorted(textsOf(remote.region_domains).map((name) => cut(name, REGION_DOMAIN_LENGTH)))
  const targets = targetsOf(remote)
  return given({
    nsTargets: targets.length === 0 ? undefined : targets,
    regionDomains: regions.length === 0 ? undefined : regions.slice(0, REGION_DOMAINS_SHOWN),
    ...certificateStatus(remote, stateOf(remote), dnsRecords(answeredDomain(remote.domain), remote)),
  })
}

/** In a fixed order, so that a response in another order does not change the status. */
function targetsOf(remote: RemoteObject): readonly string[] {
  const names = answeredTargets(remote).flatMap(({ name }) => (name === undefined ? [] : [name]))
  return sorted(names).slice(0, NS_TARGETS_SHOWN)
}

function answeredTargets({ ns_targets }: RemoteObject): readonly AnsweredTarget[] {
  const values: readonly unknown[] = Array.isArray(ns_targets) ? ns_targets : [ns_targets]
  return values.map((value) => ({ field: 'one of ns_targets', value, name: targetName(value) }))
}

/** The records that delegate the domain; none for a domain of the service. */
function dnsRecords(name: string | undefined, remote: RemoteObject): readonly DNSRecord[] {
  return name === undefined ? [] : targetsOf(remote).map((value) => ({ name, type: 'NS', value }))
}

function readiness({ spec, remote, now, status: before }: ReadinessView<AgentIngressSpec>): Readiness {
  const state = stateOf(remote, before)
  const records = dnsRecords(spec.domain, remote)
  // Read from the object, not the spec: an adopted object may have a policy that the spec leaves out.
  const managed = heldCertificatePolicy(remote) !== null
  const shown = managed ? managedReadiness(state, neededRecords(spec, records), now) : unmanaged
  return { ...shown, conditions: [...(shown.conditions ?? []), ...dnsReady(managed, state, records)] }
}

const unmanaged: Readiness = {
  ready: true,
  reason: reasons.Available,
  message: 'the ingress is in place',
  conditions: [
    certificateReady('Unknown', reasons.CertificateNotManaged, 'spec.certificate is not set: none is managed'),
  ],
}
