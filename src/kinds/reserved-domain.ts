import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import type { Fields } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Desired } from '../managed/descriptor/desired.ts'
import type { KindCondition, Readiness, ReadinessView } from '../managed/descriptor/readiness.ts'
import { reasons } from '../managed/descriptor/reasons.ts'
import { inCollection, noReferences, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, ID_LENGTH, namesOf, refId, refURI, textOf, URI_LENGTH, wholeText } from './building-blocks/remote.ts'
import {
  chosen,
  foreignIdsOf,
  isOurs,
  wantedConfiguration,
  writtenConfiguration,
} from './building-blocks/spec-fields.ts'
import { type CertificateState, certificateProgress } from './certificates/certificate-progress.ts'
import {
  heldCertificatePolicy,
  sentCertificatePolicy,
  setByCertificate,
  writtenCertificate,
} from './certificates/certificate-spec.ts'
import { certificateStatus } from './certificates/certificate-status.ts'
import {
  type AnsweredTarget,
  CHALLENGE,
  challengeName,
  type DNSRecord,
  dnsReady,
  domainAnswerProblem,
} from './certificates/dns.ts'
import { dnsEndpoint, neededRecords } from './certificates/dns-endpoint.ts'
import { answeredDomain, targetName, uniqueDomain } from './certificates/domain-name.ts'
import { certificateReady, managedReadiness } from './certificates/readiness.ts'
import { type ReservedDomainSpec, reservedDomainDefinition } from './certificates/reserved-domain-schema.ts'

/** Parts that can also be set outside Culvert. */
const UPLOADED = 'uploadedCertificate'
const HTTP = 'httpEndpointConfiguration'
const HTTPS = 'httpsEndpointConfiguration'

/**
 * Reserved domains with their certificates (`management-api.md § Domains, addresses, ingress`). Usable as soon as one
 * exists.
 */
export const reservedDomain: ManagedDescriptor<ReservedDomainSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  needs: ({ domain }) => ({ domains: [{ path: 'spec.domain', domain }] }),
  definition: reservedDomainDefinition,
  identity: {
    ...inCollection(collections.reservedDomains),
    uniqueNames: uniqueDomain,
    valuesOf: ({ domain }) => [textOf(domain)?.toLowerCase()].filter((value) => value !== undefined),
  },
  references: {
    ...noReferences,
    foreignIds: ({ certificate, httpEndpointConfigurationRef, httpsEndpointConfigurationRef }) =>
      foreignIdsOf({
        'certificate.uploaded': certificate?.uploaded,
        httpEndpointConfigurationRef,
        httpsEndpointConfigurationRef,
      }),
  },
  fields: {
    ...plainFields,
    createOnly: ['domain', 'region'],
    updateOnly: ['http_endpoint_configuration_id', 'https_endpoint_configuration_id'],
    setBy,
    desire: (desired, remote) => ({
      domain: desired.spec.domain,
      region: desired.spec.region,
      ...desiredCertificate(desired, remote),
      http_endpoint_configuration_id: wantedConfiguration(desired, HTTP, desired.spec.httpEndpointConfigurationRef),
      https_endpoint_configuration_id: wantedConfiguration(desired, HTTPS, desired.spec.httpsEndpointConfigurationRef),
    }),
    observe: (remote) => ({
      domain: textOf(remote.domain)?.toLowerCase(),
      region: textOf(remote.region),
      certificate_id: chosenCertificate(remote) ?? null,
      certificate_management_policy: heldCertificatePolicy(remote),
      http_endpoint_configuration_id: refId(remote.http_endpoint_configuration) ?? null,
      https_endpoint_configuration_id: refId(remote.https_endpoint_configuration) ?? null,
    }),
    alternatives,
  },
  status: {
    shown: status,
    readiness,
    answerProblem: ({ domain }, remote) => domainAnswerProblem(domain, remote, targetsOf(remote)),
    certificate: { renewsAt: ({ renewsAt }) => textOf(renewsAt) },
  },
  manifest: {
    namedAfter: ({ domain }) => [textOf(domain)],
    specOf: (remote) =>
      given({
        domain: textOf(remote.domain)?.toLowerCase(),
        region: textOf(remote.region),
        certificate: writtenCertificate(remote, chosenCertificate(remote)),
        httpEndpointConfigurationRef: writtenConfiguration(remote.http_endpoint_configuration),
        httpsEndpointConfigurationRef: writtenConfiguration(remote.https_endpoint_configuration),
      }),
  },
  modules: {
    named: namedParts,
    held: (remote) =>
      namesOf({
        [UPLOADED]: chosenCertificate(remote),
        [HTTP]: refId(remote.http_endpoint_configuration),
        [HTTPS]: refId(remote.https_endpoint_configuration),
      }),
  },
  companion: dnsEndpoint(({ domain }, remote) => dnsRecords(domain, remote)),
}

function setBy(spec: ReservedDomainSpec): readonly string[] {
  const { certificate } = spec
  return [
    ...namesOf({
      domain: spec.domain,
      region: spec.region,
      certificate_id: certificate,
      http_endpoint_configuration_id: spec.httpEndpointConfigurationRef,
      https_endpoint_configuration_id: spec.httpsEndpointConfigurationRef,
    }),
    ...setByCertificate(certificate),
  ]
}

function namedParts(spec: ReservedDomainSpec): readonly string[] {
  return namesOf({
    [UPLOADED]: spec.certificate?.type === 'Uploaded' ? true : undefined,
    [HTTP]: spec.httpEndpointConfigurationRef,
    [HTTPS]: spec.httpsEndpointConfigurationRef,
  })
}

/**
 * The certificate that someone chose or that automatic management left behind: the API does not distinguish them. Under
 * a policy, the certificate belongs to the service and is not a `certificate_id` (`management-api.md § Domains,
 * addresses, ingress`).
 */
function chosenCertificate(remote: RemoteObject): string | undefined {
  return heldCertificatePolicy(remote) === null ? refId(remote.certificate) : undefined
}

/**
 * Never both at once (`management-api.md § Endpoints`, special rule 2). Under a policy, the service chooses the
 * certificate. With neither, no policy is wanted, and the certificate in use is left alone unless the spec named it
 * before: it works, and there may be no other to replace it.
 */
function desiredCertificate(desired: Desired<ReservedDomainSpec>, remote: RemoteObject | undefined): Fields {
  const { certificate } = desired.spec
  const isLeft = remote !== undefined && chosenCertificate(remote) !== undefined && isOurs(desired, UPLOADED)
  const former = isLeft ? null : undefined
  switch (certificate?.type) {
    case undefined:
      return { certificate_id: former, certificate_management_policy: null }
    case 'Managed': {
      const policy = sentCertificatePolicy(desired, certificate.managed, remote)
      return { certificate_id: former, certificate_management_policy: policy }
    }
    case 'Uploaded': {
      const { id } = chosen(certificate.uploaded, 'spec.certificate.uploaded')
      return { certificate_id: id, certificate_management_policy: null }
    }
  }
}

/**
 * The body for an API that enforces this rule in another way: without the field that gives way or, before setting a
 * policy, with the certificate in use removed.
 */
function alternatives(body: Fields, remote?: RemoteObject): readonly Fields[] {
  const { certificate_id: id, certificate_management_policy: policy, ...others } = body
  if (policy === undefined || remote === undefined) return []
  if (policy === null) return typeof id === 'string' ? [{ ...others, certificate_id: id }] : []
  if (id === null) return [{ ...others, certificate_management_policy: policy }]
  if (chosenCertificate(remote) === undefined) return []
  return [{ ...others, certificate_id: null, certificate_management_policy: policy }]
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
    certificateID: wholeText(refId(remote.certificate), ID_LENGTH),
    certificateURI: wholeText(refURI(remote.certificate), URI_LENGTH),
    ...certificateStatus(remote, stateOf(remote), dnsRecords(answeredDomain(remote.domain), remote)),
  })
}

/** Targets of the domain and of its challenge. */
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

/** The records that the user has to create for `domain`; none for a domain of the service. */
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
  // Read from the object, not the spec: an adopted object may have a policy that the spec leaves out.
  const managed = heldCertificatePolicy(remote) !== null
  const shown = managed
    ? managedReadiness(state, neededRecords(spec, records), now)
    : unmanaged(spec, refId(remote.certificate))
  return { ...shown, conditions: [...(shown.conditions ?? []), ...dnsReady(managed, state, records)] }
}

function unmanaged({ certificate }: ReservedDomainSpec, id: string | undefined): Readiness {
  return {
    ready: true,
    reason: reasons.Available,
    message: 'the domain is reserved',
    conditions: [unmanagedCertificate(certificate?.type === 'Uploaded', id)],
  }
}

/** A certificate that the spec does not name may have been issued by the service, without being renewed. */
function unmanagedCertificate(isNamed: boolean, id: string | undefined): KindCondition {
  if (id === undefined) {
    const message = 'no certificate is managed or chosen: see spec.certificate'
    return certificateReady('Unknown', reasons.CertificateNotManaged, message)
  }
  const message = isNamed
    ? `the uploaded certificate ${id} is in use`
    : `the certificate ${id} is in use, but the service does not renew it: see spec.certificate`
  return certificateReady('True', reasons.CertificateIssued, message)
}
