import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 2'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'
const provisioning = 'api-decisions.md § Certificate provisioning in the emulator'

/** Reserved domains and addresses, and the certificates that the service manages for them. */
export const domainRules = {
  'domains.certificate-xor-policy': {
    statement: 'certificate_id and certificate_management_policy in one body are refused, at create and at update',
    source: special,
    operator: heldBy('cluster/kinds/refusals.test.ts', 'unit/kinds/reserved-domain.test.ts'),
  },
  'domains.one-replaces-the-other': {
    statement: 'setting a certificate by PATCH clears the policy and its status, and setting a policy stops the upload',
    source: behaviour,
    operator: heldBy('unit/kinds/reserved-domain.test.ts', 'contract/kinds/generated-specs.test.ts'),
  },
  'domains.policy-cleared-keeps-certificate': {
    statement: 'clearing the policy leaves the certificate in use',
    source: behaviour,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'domains.clearing-endpoints': {
    statement: 'DELETE on a clearing endpoint answers 204 and puts the field back to null, also when it was null',
    source: behaviour,
    operator: serverOnly('the operator clears fields by PATCH with null'),
  },
  'domains.service-subdomain-has-no-targets': {
    statement: 'a subdomain of the service has neither a CNAME target nor an ACME challenge target',
    source: 'management-api.md § Domains, addresses, ingress',
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'domains.custom-has-cname': {
    statement: 'a custom domain has a CNAME target, and an ACME challenge target only when it is a wildcard',
    source: 'management-api.md § Domains, addresses, ingress',
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'addresses.host-and-port': {
    statement: 'each reserved address has a hostname:port of its own',
    source: 'management-api.md § Domains, addresses, ingress',
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'certificates.issued': {
    statement: 'a policy on a service subdomain starts a job that ends with a certificate and renews_at 60 days on',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.dns-error': {
    statement: 'a custom domain without its CNAME gets DNS_ERROR, a msg naming the missing record, and retries_at',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.retry-doubles': {
    statement: 'the wait between retries starts at 30 s and doubles up to 10 minutes',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.dns-corrected': {
    statement: 'a custom domain whose record was added gets its certificate at the next retry',
    source: provisioning,
    operator: heldBy('cluster/certificates.test.ts'),
  },
  'certificates.wildcard-needs-challenge': {
    statement: 'a custom wildcard domain needs the _acme-challenge record too',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.renewal': {
    statement: 'a certificate is renewed at renews_at, by a job that leaves the old one in use until it ends',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.internal-error': {
    statement: 'an injected INTERNAL_ERROR is shown on the job and goes away alone',
    source: provisioning,
    operator: heldBy('unit/kinds/reserved-domain.test.ts'),
  },
  'certificates.policy-defaults': {
    statement: 'the private key type of a policy is rsa when unspecified, and other authorities are refused',
    source: values,
    operator: heldBy('unit/kinds/reach.test.ts', 'unit/kinds/reserved-domain.test.ts'),
  },
} satisfies Rules
