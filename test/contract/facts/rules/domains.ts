import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 2'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'
const provisioning = 'api-decisions.md § Certificate provisioning in the emulator'

/** Reserved domains and addresses, and the certificates that the service manages for them. */
export const domainRules: readonly RuleFact[] = [
  {
    id: 'domains.certificate-xor-policy',
    statement: 'certificate_id and certificate_management_policy in one body are refused, at create and at update',
    source: special,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > ReservedDomain with a certificate both managed and uploaded',
      'unit/kinds/reserved-domain.test.ts > certificate and policy are never sent together, even if a spec has both',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'domains.one-replaces-the-other',
    statement: 'setting a certificate by PATCH clears the policy and its status, and setting a policy stops the upload',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > certificate and policy are never sent together, even if a spec has both',
      'contract/kinds/generated-specs.test.ts > any spec of ReservedDomain > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'domains.policy-cleared-keeps-certificate',
    statement: 'clearing the policy leaves the certificate in use',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > without a policy the domain is ready, and says whether a certificate was uploaded',
    ),
  },
  {
    id: 'domains.clearing-endpoints',
    statement: 'DELETE on a clearing endpoint answers 204 and puts the field back to null, also when it was null',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator clears fields by PATCH with null'),
  },
  {
    id: 'domains.service-subdomain-has-no-targets',
    statement: 'a subdomain of the service has neither a CNAME target nor an ACME challenge target',
    source: 'management-api.md § Domains, addresses, ingress',
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > a domain of the service needs no records and says nothing about DNS',
    ),
  },
  {
    id: 'domains.custom-has-cname',
    statement: 'a custom domain has a CNAME target, and an ACME challenge target only when it is a wildcard',
    source: 'management-api.md § Domains, addresses, ingress',
    due: 'now',
    operator: heldBy('unit/kinds/reserved-domain.test.ts > the records to make are in the status'),
  },
  {
    id: 'addresses.host-and-port',
    statement: 'each reserved address has a hostname:port of its own',
    source: 'management-api.md § Domains, addresses, ingress',
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a create > listens on what reserved domains and addresses are at the API',
    ),
  },
  {
    id: 'certificates.issued',
    statement: 'a policy on a service subdomain starts a job that ends with a certificate and renews_at 60 days on',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > with a certificate the domain is ready and nothing is polled',
    ),
  },
  {
    id: 'certificates.dns-error',
    statement: 'a custom domain without its CNAME gets DNS_ERROR, a msg naming the missing record, and retries_at',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > a DNS error names the records to make and when it is tried again, and stalls',
    ),
  },
  {
    id: 'certificates.retry-doubles',
    statement: 'the wait between retries starts at 30 s and doubles up to 10 minutes',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > while a certificate is provisioned > each wait is from 1 s to 10 min, whatever the times are',
    ),
  },
  {
    id: 'certificates.dns-corrected',
    statement: 'a custom domain whose record was added gets its certificate at the next retry',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'cluster/certificates.test.ts > a custom domain shows the records to create, and is Ready once they exist, without another write',
    ),
  },
  {
    id: 'certificates.wildcard-needs-challenge',
    statement: 'a custom wildcard domain needs the _acme-challenge record too',
    source: provisioning,
    due: 'now',
    operator: heldBy('unit/kinds/reserved-domain.test.ts > the records to make are in the status'),
  },
  {
    id: 'certificates.renewal',
    statement: 'a certificate is renewed at renews_at, by a job that leaves the old one in use until it ends',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > a failing renewal shows while the certificate in use still works',
    ),
  },
  {
    id: 'certificates.internal-error',
    statement: 'an injected INTERNAL_ERROR is shown on the job and goes away alone',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reserved-domain.test.ts > an internal error says that could not issue the certificate, and does not stall',
    ),
  },
  {
    id: 'certificates.policy-defaults',
    statement: 'the private key type of a policy is rsa when unspecified, and other authorities are refused',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of ReservedDomain says stands in a request',
      'unit/kinds/reserved-domain.test.ts > a policy has RSA keys and the one authority there is unless it says otherwise, and is no other for having them named',
    ),
  },
]
