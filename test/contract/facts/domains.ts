import type { CollectionFact, Shape, SubResourceFact } from './facts.ts'
import { collection, id, identity, list, object, oneOf, ref, sentAs, shown, string, texts, value } from './rows.ts'

const source = 'management-api.md § Domains, addresses, ingress'

const regions = oneOf('au', 'eu', 'ap', 'us', 'jp', 'in', 'sa')
const hostname: Shape = { kind: 'string', form: 'domain' }

/** DELETE resets a nullable field to null: 204. */
const clearing = (path: string, field: string = path): Omit<SubResourceFact, 'id'> => ({
  path,
  field,
  methods: ['DELETE'],
  source: 'api-decisions.md § Behaviour',
})

/** Reserved domains and addresses, and agent ingresses. */
export const domainCollections: readonly CollectionFact[] = [
  collection({
    path: 'reserved_domains',
    source,
    listKey: 'reserved_domains',
    idPrefix: 'rd_',
    eventName: 'reserved_domain',
    unique: ['domain'],
    fields: [
      ...identity(),
      ...texts(),
      value('domain', hostname, { create: 'mandatory', update: 'fixed' }),
      value('region', regions, { update: 'fixed', absent: null }),
      shown('cname_target', string),
      sentAs('certificate_id', id('tls_certificates'), 'certificate', { excludes: 'certificate_management_policy' }),
      shown('certificate', ref('tls_certificates'), null),
      value('certificate_management_policy', object('CertificatePolicy'), {
        absent: null,
        excludes: 'certificate_id',
      }),
      shown('certificate_management_status', object('CertificateStatus'), null),
      shown('acme_challenge_cname_target', string),
      sentAs('http_endpoint_configuration_id', id('endpoint_configurations'), 'http_endpoint_configuration', {
        create: 'refused',
      }),
      shown('http_endpoint_configuration', ref('endpoint_configurations'), null),
      sentAs('https_endpoint_configuration_id', id('endpoint_configurations'), 'https_endpoint_configuration', {
        create: 'refused',
      }),
      shown('https_endpoint_configuration', ref('endpoint_configurations'), null),
    ],
    subResources: [
      clearing('certificate'),
      clearing('certificate_management_policy'),
      clearing('http_endpoint_configuration'),
      clearing('https_endpoint_configuration'),
    ],
  }),
  collection({
    path: 'reserved_addrs',
    source,
    listKey: 'reserved_addrs',
    idPrefix: 'ra_',
    eventName: 'reserved_addr',
    fields: [
      ...identity(),
      ...texts(),
      shown('addr', { kind: 'string', form: 'hostport' }),
      value('region', regions, { update: 'fixed', absent: 'us' }),
      sentAs('endpoint_configuration_id', id('endpoint_configurations'), 'endpoint_configuration', {
        create: 'refused',
      }),
      shown('endpoint_configuration', ref('endpoint_configurations'), null),
    ],
    subResources: [clearing('endpoint_configuration')],
  }),
  collection({
    path: 'agent_ingresses',
    source,
    listKey: 'ingresses',
    idPrefix: 'agin_',
    eventName: 'agent_ingress',
    uri: 'path',
    unique: ['domain'],
    fields: [
      ...identity(),
      ...texts(),
      value('domain', hostname, { create: 'mandatory', update: 'fixed' }),
      shown('ns_targets', list(string)),
      shown('region_domains', list(string)),
      value('certificate_management_policy', object('CertificatePolicy'), { absent: null }),
      shown('certificate_management_status', object('CertificateStatus'), null),
    ],
    subResources: [clearing('certificate_management_policy')],
  }),
]
