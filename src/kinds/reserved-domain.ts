import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import { reasons } from '../managed/reasons.ts'
import type { Fields, ManagedDescriptor, Readiness, ReadinessView } from '../managed/types/descriptor.ts'
import { type CertificateState, certificateProgress, certificateReady, managedReadiness } from './certificate.ts'
import {
  type AnsweredTarget,
  CHALLENGE,
  challengeName,
  type DNSRecord,
  dnsReady,
  domainAnswerProblem,
} from './certificate-dns.ts'
import { heldCertificatePolicy, sentCertificatePolicy } from './certificate-spec.ts'
import { certificateStatus } from './certificate-status.ts'
import { plain } from './defaults.ts'
import { dnsEndpoint, neededRecords } from './dns-endpoint.ts'
import { answeredDomain, targetName, uniqueDomain } from './domain-name.ts'
import { foreignIdsOf } from './endpoint-configuration.ts'
import { given, namesOf, refId, refURI, textOf } from './remote.ts'
import { type ReservedDomainSpec, reservedDomainDefinition } from './reserved-domain-schema.ts'
import { chosen } from './union-member.ts'

/** Reserved domains with their certificates (`management-api.md § Domains, addresses, ingress`). Usable as soon as one exists. */
export const reservedDomain: ManagedDescriptor<ReservedDomainSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition: reservedDomainDefinition,
  collections: [collections.reservedDomains],
  collectionOf: () => collections.reservedDomains,
  claims: ({ domain }) => ({ domains: [{ path: 'spec.domain', domain }] }),
  foreignIds: ({ certificate, httpEndpointConfigurationRef, httpsEndpointConfigurationRef }) =>
    foreignIdsOf({
      'certificate.uploaded': certificate?.uploaded,
      httpEndpointConfigurationRef,
      httpsEndpointConfigurationRef,
    }),
  createOnly: ['domain', 'region'],
  updateOnly: ['http_endpoint_configuration_id', 'https_endpoint_configuration_id'],
  setBy,
  desire: ({ spec }) => ({
    domain: spec.domain,
    region: spec.region,
    ...desiredCertificate(spec),
    http_endpoint_configuration_id: spec.httpEndpointConfigurationRef?.id ?? null,
    https_endpoint_configuration_id: spec.httpsEndpointConfigurationRef?.id ?? null,
  }),
  observe: (remote) => ({
    domain: textOf(remote.domain)?.toLowerCase(),
    region: textOf(remote.region),
    certificate_id: refId(remote.certificate) ?? null,
    certificate_management_policy: heldCertificatePolicy(remote),
    http_endpoint_configuration_id: refId(remote.http_endpoint_configuration) ?? null,
    https_endpoint_configuration_id: refId(remote.https_endpoint_configuration) ?? null,
  }),
  uniqueNames: uniqueDomain,
  answerProblem: ({ domain }, remote) => domainAnswerProblem(domain, remote, targetsOf(remote)),
  status,
  renewsAt: ({ renewsAt }) => textOf(renewsAt),
  readiness,
  companion: dnsEndpoint(({ domain }, remote) => dnsRecords(domain, remote)),
}

function setBy(spec: ReservedDomainSpec): readonly string[] {
  const { certificate } = spec
  return namesOf({
    domain: spec.domain,
    region: spec.region,
    certificate_id: certificate,
    certificate_management_policy: certificate,
    http_endpoint_configuration_id: spec.httpEndpointConfigurationRef,
    https_endpoint_configuration_id: spec.httpsEndpointConfigurationRef,
  })
}

/**
 * Never both at once (`management-api.md § Endpoints`, special rule 2). Under a policy the certificate is the service's to choose;
 * with neither, both are cleared.
 */
function desiredCertificate({ certificate }: ReservedDomainSpec): Fields {
  if (certificate === undefined) return { certificate_id: null, certificate_management_policy: null }
  switch (certificate.type) {
    case 'Managed':
      return { certificate_management_policy: sentCertificatePolicy(certificate.managed) }
    case 'Uploaded': {
      const { id } = chosen(certificate.uploaded, 'spec.certificate.uploaded')
      return { certificate_id: id, certificate_management_policy: null }
    }
  }
}

/** The Ref names the certificate in use, uploaded or automatic. */
function stateOf(remote: RemoteObject): CertificateState {
  return { ...certificateProgress(remote), issued: refId(remote.certificate) !== undefined }
}

function status(remote: RemoteObject): Fields {
  const [cname, challenge] = targetsOf(remote)
  return given({
    cnameTarget: cname.name,
    acmeChallengeCNAMETarget: challenge.name,
    certificateID: refId(remote.certificate),
    certificateURI: refURI(remote.certificate),
    ...certificateStatus(remote, stateOf(remote), dnsRecords(answeredDomain(remote.domain), remote)),
  })
}

/** Target of the domain, and of its challenge. */
function targetsOf({
  cname_target,
  acme_challenge_cname_target,
}: RemoteObject): readonly [AnsweredTarget, AnsweredTarget] {
  return [
    { field: 'cname_target', value: cname_target, name: targetName(cname_target) },
    {
      field: 'acme_challenge_cname_target',
      value: acme_challenge_cname_target,
      name: targetName(acme_challenge_cname_target, CHALLENGE),
    },
  ]
}

/** The records that the user has to make for `domain`; none for a domain of the service. */
function dnsRecords(domain: string | undefined, remote: RemoteObject): readonly DNSRecord[] {
  if (domain === undefined) return []
  const names = [domain, challengeName(domain)]
  return targetsOf(remote).flatMap(({ name: value }, index) => {
    return value === undefined ? [] : [{ name: names[index] ?? domain, type: 'CNAME', value }]
  })
}

function readiness({ spec, remote, now }: ReadinessView<ReservedDomainSpec>): Readiness {
  const state = stateOf(remote)
  const records = dnsRecords(spec.domain, remote)
  // As the object has it: of an adopted one the spec may leave it out.
  const managed = heldCertificatePolicy(remote) !== null
  const shown = managed
    ? managedReadiness(state, neededRecords(spec, records), now)
    : unmanaged(refId(remote.certificate))
  return { ...shown, conditions: [...(shown.conditions ?? []), ...dnsReady(managed, state, records)] }
}

function unmanaged(certificateID: string | undefined): Readiness {
  const message = 'the domain is reserved'
  const certificate =
    certificateID === undefined
      ? certificateReady(
          'Unknown',
          reasons.CertificateNotManaged,
          'no certificate is managed or chosen: see spec.certificate',
        )
      : certificateReady('True', reasons.CertificateIssued, `the uploaded certificate ${certificateID} is in use`)
  return { ready: true, reason: reasons.Available, message, conditions: [certificate] }
}
