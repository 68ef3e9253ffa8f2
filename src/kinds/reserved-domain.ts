import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import { reasons } from '../managed/reasons.ts'
import type { Fields, KindCondition, ManagedDescriptor, Readiness, ReadinessView } from '../managed/types/descriptor.ts'
import {
  type CertificateState,
  certificateReady,
  certificateState,
  type DNSRecord,
  managedReadiness,
} from './certificate.ts'
import { plain } from './defaults.ts'
import { given, objectOf, refId, refURI, textOf } from './remote.ts'
import { type ReservedDomainSpec, reservedDomainDefinition } from './reserved-domain-schema.ts'

/** Reserved domains with their certificates (`management-api.md § Domains, addresses, ingress`). Usable as soon as one exists. */
export const reservedDomain: ManagedDescriptor<ReservedDomainSpec> = {
  ...plain,
  role: 'managed',
  definition: reservedDomainDefinition,
  collections: [collections.reservedDomains],
  collectionOf: () => collections.reservedDomains,
  createOnly: ['domain', 'region'],
  updateOnly: ['http_endpoint_configuration_id', 'https_endpoint_configuration_id'],
  desire: ({ spec }) => ({
    domain: spec.domain,
    region: spec.region,
    ...desiredCertificate(spec),
    http_endpoint_configuration_id: spec.httpEndpointConfigurationID ?? null,
    https_endpoint_configuration_id: spec.httpsEndpointConfigurationID ?? null,
  }),
  observe: (remote) => ({
    domain: textOf(remote.domain)?.toLowerCase(),
    region: textOf(remote.region),
    certificate_id: refId(remote.certificate) ?? null,
    certificate_management_policy: heldPolicy(remote),
    http_endpoint_configuration_id: refId(remote.http_endpoint_configuration) ?? null,
    https_endpoint_configuration_id: refId(remote.https_endpoint_configuration) ?? null,
  }),
  status,
  renewsAt: ({ renewsAt }) => textOf(renewsAt),
  readiness,
}

/**
 * Never both at once (`management-api.md § Endpoints`, special rule 2). Under a policy the certificate is the service's to choose;
 * with neither, both are cleared.
 */
function desiredCertificate({ certificateID, certificateManagementPolicy: policy }: ReservedDomainSpec): Fields {
  if (policy === undefined) return { certificate_id: certificateID ?? null, certificate_management_policy: null }
  const { authority = 'LetsEncrypt', privateKeyType = 'RSA' } = policy
  return {
    certificate_management_policy: {
      authority: authority.toLowerCase(),
      private_key_type: privateKeyType.toLowerCase(),
    },
  }
}

function heldPolicy(remote: RemoteObject): Fields | null {
  const policy = objectOf(remote.certificate_management_policy)
  if (policy === undefined) return null
  return {
    authority: (textOf(policy.authority) ?? 'letsencrypt').toLowerCase(),
    private_key_type: (textOf(policy.private_key_type) ?? 'rsa').toLowerCase(),
  }
}

function status(remote: RemoteObject): Fields {
  const { job, renewsAt } = certificateState(remote)
  const records = dnsRecords(remote)
  return given({
    cnameTarget: textOf(remote.cname_target),
    acmeChallengeCNAMETarget: textOf(remote.acme_challenge_cname_target),
    dnsRecords: records.length === 0 ? undefined : records,
    certificateID: refId(remote.certificate),
    certificateURI: refURI(remote.certificate),
    renewsAt,
    provisioningJob: job && given({ ...job }),
  })
}

/** The records that the user has to make; none for a domain of the service. */
function dnsRecords(remote: RemoteObject): readonly DNSRecord[] {
  const domain = textOf(remote.domain) ?? ''
  const challenge = `_acme-challenge.${domain.replace(/^\*\./, '')}`
  const targets: readonly (readonly [string, string | undefined])[] = [
    [domain, textOf(remote.cname_target)],
    [challenge, textOf(remote.acme_challenge_cname_target)],
  ]
  return targets.flatMap(([name, value]) => (value === undefined ? [] : [{ name, type: 'CNAME', value }]))
}

function readiness({ spec, remote, now }: ReadinessView<ReservedDomainSpec>): Readiness {
  const state = certificateState(remote)
  const records = dnsRecords(remote)
  const managed = spec.certificateManagementPolicy !== undefined
  const shown = managed ? managedReadiness(state, records, now) : unmanaged(spec)
  const dns = records.length === 0 ? [] : [dnsReady(managed, state, records)]
  return { ...shown, conditions: [...(shown.conditions ?? []), ...dns] }
}

function unmanaged({ certificateID }: ReservedDomainSpec): Readiness {
  const message = 'the domain is reserved'
  const certificate =
    certificateID === undefined
      ? certificateReady('Unknown', reasons.CertificateNotManaged, 'neither certificateID nor a policy is set')
      : certificateReady('True', reasons.CertificateIssued, `the uploaded certificate ${certificateID} is in use`)
  return { ready: true, reason: reasons.Available, message, conditions: [certificate] }
}

/** Only the service looks at the records, and only while it issues a certificate. */
function dnsReady(managed: boolean, { issued, job }: CertificateState, records: readonly DNSRecord[]): KindCondition {
  const list = records.map(({ name, value }) => `${name} CNAME ${value}`).join(', ')
  const condition = (status: KindCondition['status'], reason: string, message: string): KindCondition => {
    return { type: 'DNSReady', status, reason, message: `${message}: ${list}` }
  }
  if (!managed)
    return condition('Unknown', reasons.CertificateNotManaged, 'not looked at without a managed certificate')
  if (job?.errorCode === 'DNS_ERROR') return condition('False', reasons.DNSError, 'missing or wrong')
  if (issued) return condition('True', reasons.CertificateIssued, 'in place when the certificate was issued')
  return condition('Unknown', reasons.CertificatePending, 'being looked at')
}
