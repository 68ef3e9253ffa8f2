import fc from 'fast-check'
import { expect } from 'vitest'
import type { Body, ManagedKindTestData } from './kind-test-data.ts'
import {
  certificatePolicyEdits,
  certificatePolicySample,
  declaredCertificatePolicy,
  declaredRef,
  domainPlace,
  ecdsaPolicy,
  endpointEdits,
  endpointPlace,
  endpointSample,
  issued,
  managedECDSA,
  managedPolicy,
  POLICY,
  recordEdits,
  regionPlace,
  rsaPolicy,
  unmanagedPolicy,
} from './shared/domains.ts'
import { patch, story } from './shared/edits.ts'
import { bare, need, refTo, seeded, shownWorded, some, worded } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { pick, same, textEdits, textRefusals, withTexts } from './shared/texts.ts'

/** Fields of an object whose spec leaves everything open. */
const open = {
  region: null,
  cname_target: null,
  acme_challenge_cname_target: null,
  certificate: null,
  certificate_management_policy: null,
  certificate_management_status: null,
  http_endpoint_configuration: null,
  https_endpoint_configuration: null,
}
const uploaded = (id: string) => ({ certificate: { type: 'Uploaded', uploaded: { id } } })
const upload = (id: string) => patch('certificate_id', uploaded(id), { certificate: refTo(id) })
const withoutCertificate = patch('certificate_id', { certificate: undefined }, { certificate: null })
/** Null while the first one of a policy is issued. */
const anyCertificate = expect.toSatisfy((found: unknown) => found === null || typeof found === 'object')
const endpointDrifts = (name: string, first: string, second: string) => [
  ({ [name]: found }: Body) => ({ [`${name}_id`]: found ? null : first }),
  () => ({ [`${name}_id`]: second }),
]

export const reservedDomain: ManagedKindTestData = {
  kind: 'ReservedDomain',
  accepted: { domain: '*.apps.example.com', region: 'eu', certificate: { type: 'Managed' } },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    refuseChange('with another domain', { domain: 'b.example.com' }, 'domain is immutable: delete'),
    refuseChange('with another region', { region: 'us' }, 'region is immutable: delete'),
    refuse(
      'with letters that DNS names lack',
      { domain: 'bücher.example' },
      'domain must be a DNS name in lower case, such as shop.example.com or *.example.com: write other letters in their ASCII form, such as xn--bcher-kva.example',
    ),
    refuse(
      'with a certificate both managed and uploaded',
      { certificate: { type: 'Managed', uploaded: { id: 'cert_1' } } },
      'set the member for the type, and no other: managed for Managed (optional), uploaded for Uploaded',
    ),
    refuse(
      'with an uploaded certificate that is not named',
      { certificate: { type: 'Uploaded' } },
      'set the member for the type',
    ),
  ],
  specs: {
    minimal: {
      spec: (name) => need.domain(name).spec,
      object: ({ name }) => ({ ...bare, ...open, domain: `${name}.tunnel.example` }),
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        domain: `${name}.tunnel.example`,
        region: 'eu',
        certificate: managedECDSA,
        httpEndpointConfigurationRef: { id: 'ec_specs1' },
        httpsEndpointConfigurationRef: { id: 'ec_specs2' },
      }),
      object: ({ name }) => ({
        ...shownWorded(name),
        ...open,
        domain: `${name}.tunnel.example`,
        region: 'eu',
        certificate: { id: expect.stringMatching(/^cert_|^\d{59}$|^[0-9a-f-]{36}$/), uri: some },
        certificate_management_policy: ecdsaPolicy,
        certificate_management_status: issued,
        http_endpoint_configuration: seeded('ec_specs1'),
        https_endpoint_configuration: seeded('ec_specs2'),
      }),
    },
    'with an uploaded certificate': {
      spec: (name) => ({ domain: `*.${name}.tunnel.example`, ...uploaded('cert_specs') }),
      object: ({ name }) => ({
        ...bare,
        ...open,
        domain: `*.${name}.tunnel.example`,
        certificate: seeded('cert_specs'),
      }),
    },
  },
  edits: [
    story('domain', { domain: 'edit-domain.tunnel.example' }, [
      ...textEdits,
      upload('cert_specs'),
      upload('cert_edits'),
      withoutCertificate,
      ...certificatePolicyEdits({ certificate: { id: expect.stringMatching(/^cert_/), uri: some } }),
      // From there to an uploaded certificate, then to a policy, which replaces it, and back.
      upload('cert_specs'),
      {
        spec: { certificate: { type: 'Managed' } },
        sends: ['certificate_id', POLICY],
        object: () => ({ ...managedPolicy(rsaPolicy), certificate: anyCertificate }),
      },
      {
        spec: uploaded('cert_specs'),
        sends: ['certificate_id', POLICY],
        object: () => ({ ...unmanagedPolicy, certificate: refTo('cert_specs') }),
      },
      withoutCertificate,
      ...endpointEdits('httpEndpointConfigurationRef', 'http_endpoint_configuration'),
      ...endpointEdits('httpsEndpointConfigurationRef', 'https_endpoint_configuration'),
      ...recordEdits,
    ]),
  ],
  collections: {
    reserved_domains: withTexts({
      samples: {
        domain: (world) => same(world.serviceDomain()),
        region: pick('eu', 'us'),
        certificate_id: async (world, variant) => {
          const id = await world.admin.seedTlsCertificate(variant)
          return { sent: id, returned: { id, uri: expect.stringContaining(id) } }
        },
        certificate_management_policy: certificatePolicySample,
        http_endpoint_configuration_id: endpointSample,
        https_endpoint_configuration_id: endpointSample,
      },
      drifts: {
        certificate_id: [() => ({ certificate_id: null })],
        certificate_management_policy: [
          ({ certificate_management_policy: policy }) => ({
            ...(policy ? {} : { certificate_id: null }),
            certificate_management_policy: rsaPolicy,
          }),
        ],
        http_endpoint_configuration_id: endpointDrifts('http_endpoint_configuration', 'ec_specs1', 'ec_specs2'),
        https_endpoint_configuration_id: endpointDrifts('https_endpoint_configuration', 'ec_specs2', 'ec_specs1'),
      },
      stranger: (number) => ({ domain: `stranger-${number}.tunnel.example` }),
    }),
  },
  places: {
    'spec.region': regionPlace,
    'spec.domain': fc.tuple(fc.constantFrom('', '*.'), domainPlace).map(([wildcard, name]) => `${wildcard}${name}`),
    'spec.certificate.uploaded.id': fc.constantFrom('cert_a', 'cert_b'),
    'spec.httpEndpointConfigurationRef.id': endpointPlace,
    'spec.httpsEndpointConfigurationRef.id': endpointPlace,
  },
  declares: (spec, { object }) => {
    // Under a policy the service chooses the certificate, and one left from a policy stays in use if the spec sets
    // none.
    const { type, uploaded: chosen } = (spec.certificate ?? {}) as Body
    return [
      ['domain', spec.domain, object.domain],
      ...(spec.region === undefined ? [] : [['region', spec.region, object.region] as const]),
      declaredCertificatePolicy(spec, object),
      ...(type === 'Uploaded' ? declaredRef('certificate', chosen, object) : []),
      ...declaredRef('http_endpoint_configuration', spec.httpEndpointConfigurationRef, object),
      ...declaredRef('https_endpoint_configuration', spec.httpsEndpointConfigurationRef, object),
    ]
  },
  referents: [
    {
      collection: 'reserved_domains',
      object: { id: 'rd_shop', domain: 'shop.tunnel.example' },
      resource: { name: 'shop', spec: { domain: 'shop.tunnel.example' } },
    },
    { collection: 'reserved_domains', object: { id: 'rd_mine', domain: 'edge.example.org' } },
    { collection: 'reserved_domains', object: { id: 'rd_wild', domain: '*.wild.tunnel.example' } },
  ],
}
