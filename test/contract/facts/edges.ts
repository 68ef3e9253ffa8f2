import type { CollectionFact, Shape, SubResourceFact } from './facts.ts'
import { collection, type FieldRow, identity, list, object, texts, value } from './rows.ts'

const source = 'management-api.md § Edges and backends'

const hostports: FieldRow = value('hostports', list({ kind: 'string', form: 'hostport' } satisfies Shape), {
  absent: [],
})

/** A module: null while it is not configured, replaced as a whole, and never removed by an update. */
const module = (name: string, mutate: string, returned: string): FieldRow =>
  value(name, object(mutate), { absent: null, whenNull: 'refused', returnedShape: object(returned) })

const backend = module('backend', 'EndpointBackendMutate', 'EndpointBackend')
const ipRestriction = module('ip_restriction', 'EndpointIPPolicyMutate', 'EndpointIPPolicy')
const mutualTls = module('mutual_tls', 'EndpointMutualTLSMutate', 'EndpointMutualTLS')
const tlsTermination = module('tls_termination', 'EndpointTLSTermination', 'EndpointTLSTermination')
const policy = module('policy', 'EndpointPolicy', 'EndpointPolicy')

const moduleAddress = (row: FieldRow): Omit<SubResourceFact, 'id'> => ({
  path: row.name,
  field: row.name,
  methods: ['GET', 'PUT', 'DELETE'],
  source: 'api-decisions.md § Behaviour',
})

const tcpModules = [backend, ipRestriction, policy]
const tlsModules = [backend, ipRestriction, mutualTls, tlsTermination, policy]

/** TCP and TLS edges with their modules. */
export const edgeCollections: readonly CollectionFact[] = [
  collection({
    path: 'edges/tcp',
    source,
    listKey: 'tcp_edges',
    idPrefix: 'edgtcp_',
    eventName: 'tcp_edge',
    fields: [...identity(), ...texts(), hostports, ...tcpModules],
    subResources: tcpModules.map(moduleAddress),
  }),
  collection({
    path: 'edges/tls',
    source,
    listKey: 'tls_edges',
    idPrefix: 'edgtls_',
    eventName: 'tls_edge',
    fields: [...identity(), ...texts(), hostports, ...tlsModules],
    subResources: tlsModules.map(moduleAddress),
  }),
]
