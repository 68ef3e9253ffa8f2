import { expect } from 'vitest'
import { refTo } from '../expected.ts'
import { type Body, type Edit, type EditStory, notEmpty, patch, quiet, story, texts } from './edit.ts'

const managedPolicy = (type: string): Body => ({
  certificate_management_policy: { authority: 'letsencrypt', private_key_type: type },
  // A certificate stays in use while another is issued.
  certificate_management_status: expect.any(Object),
})
const unmanaged = { certificate_management_policy: null, certificate_management_status: null }
const POLICY = 'certificate_management_policy'
/** Null while the first one of a policy is issued. */
const anyCertificate = expect.toSatisfy((found: unknown) => found === null || typeof found === 'object')

/** Edits of a certificate policy; `shown` are further fields that the object keeps. */
function certificatePolicy(shown: Body): readonly Edit[] {
  return [
    patch(POLICY, { certificate: { type: 'Managed' } }, { ...managedPolicy('rsa'), ...shown }),
    {
      spec: { certificate: { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'RSA' } } },
      sends: [],
      object: () => ({ ...managedPolicy('rsa'), ...shown }),
    },
    patch(
      POLICY,
      { certificate: { type: 'Managed', managed: { privateKeyType: 'ECDSA' } } },
      { ...managedPolicy('ecdsa'), ...shown },
    ),
    patch(POLICY, { certificate: { type: 'Managed' } }, { ...managedPolicy('rsa'), ...shown }),
    patch(POLICY, { certificate: undefined }, unmanaged),
  ]
}

/** An id of an endpoint configuration: set, changed, removed. */
function endpoint(field: string, name: string): readonly Edit[] {
  return [
    patch(`${name}_id`, { [field]: { id: 'ec_specs1' } }, { [name]: refTo('ec_specs1') }),
    patch(`${name}_id`, { [field]: { id: 'ec_specs2' } }, { [name]: refTo('ec_specs2') }),
    patch(`${name}_id`, { [field]: undefined }, { [name]: null }),
  ]
}

/** The records of a domain affect only the cluster. */
const records = quiet(
  { dns: { endpoint: true } },
  { dns: { endpoint: true, recordTTL: 300 } },
  { dns: { endpoint: true, recordTTL: 60 } },
  { dns: { endpoint: false } },
  { dns: undefined },
)

/** Edits of domains, addresses and ingresses. */
export const domainStories: readonly EditStory[] = [
  story('ReservedDomain', 'domain', { domain: 'edit-domain.tunnel.example' }, [
    ...texts,
    patch(
      'certificate_id',
      { certificate: { type: 'Uploaded', uploaded: { id: 'cert_specs' } } },
      { certificate: refTo('cert_specs') },
    ),
    patch(
      'certificate_id',
      { certificate: { type: 'Uploaded', uploaded: { id: 'cert_edits' } } },
      { certificate: refTo('cert_edits') },
    ),
    patch('certificate_id', { certificate: undefined }, { certificate: null }),
    ...certificatePolicy({ certificate: { id: expect.stringMatching(/^cert_/), uri: expect.any(String) } }),
    // From there to an uploaded certificate, then to a policy, which replaces it, and back.
    patch(
      'certificate_id',
      { certificate: { type: 'Uploaded', uploaded: { id: 'cert_specs' } } },
      { certificate: refTo('cert_specs') },
    ),
    {
      spec: { certificate: { type: 'Managed' } },
      sends: ['certificate_id', POLICY],
      object: () => ({ ...managedPolicy('rsa'), certificate: anyCertificate }),
    },
    {
      spec: { certificate: { type: 'Uploaded', uploaded: { id: 'cert_specs' } } },
      sends: ['certificate_id', POLICY],
      object: () => ({ ...unmanaged, certificate: refTo('cert_specs') }),
    },
    patch('certificate_id', { certificate: undefined }, { certificate: null }),
    ...endpoint('httpEndpointConfigurationRef', 'http_endpoint_configuration'),
    ...endpoint('httpsEndpointConfigurationRef', 'https_endpoint_configuration'),
    ...records,
  ]),
  story('ReservedAddress', 'place', notEmpty, [
    ...texts,
    ...endpoint('endpointConfigurationRef', 'endpoint_configuration'),
  ]),
  story('AgentIngress', 'ingress', { domain: 'edit-ingress.tunnel.example' }, [
    ...texts,
    ...certificatePolicy({}),
    ...records,
  ]),
]
