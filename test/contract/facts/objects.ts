import { backendPaths } from './backends.ts'
import type { Json, Shape } from './facts.ts'
import { boolean, id, list, object, oneOf, ref, string, timestamp } from './rows.ts'

/** A field of an object inside a resource. */
interface ObjectFieldFact {
  readonly name: string
  readonly shape: Shape
  /** Whether a request with the object must contain the field. */
  readonly mandatory: boolean
  /** The response's value if the field was not set; undefined where the contract leaves it open. */
  readonly absent?: Json
  /** Always returned as null. */
  readonly secret?: true
}

export interface ObjectFact {
  /** The contract's name if it has one. */
  readonly name: string
  readonly source: string
  readonly fields: readonly ObjectFieldFact[]
  /** Exactly one field is set, and the others are null. */
  readonly exactlyOne?: true
}

const optional = (name: string, shape: Shape, absent?: Json): ObjectFieldFact => ({
  name,
  shape,
  mandatory: false,
  ...(absent === undefined ? {} : { absent }),
})
const mandatory = (name: string, shape: Shape): ObjectFieldFact => ({ name, shape, mandatory: true })
const secret = (name: string): ObjectFieldFact => ({ name, shape: string, mandatory: true, secret: true })

const enabled = optional('enabled', boolean, true)
const cel: Shape = { kind: 'string', form: 'cel' }
/** A list on the wire; a single object is accepted as a list of one. */
const listOrOne = (name: string): Shape => ({ kind: 'list', of: object(name), singleAllowed: true })

const edges = 'management-api.md § Edges and backends'
const certificates = 'management-api.md § Domains, addresses, ingress'
const events = 'management-api.md § Events'

/** Objects inside resources, as sent (`…Mutate`) and as returned. */
export const allObjects: readonly ObjectFact[] = [
  {
    name: 'CertificatePolicy',
    source: certificates,
    fields: [optional('authority', oneOf('letsencrypt')), optional('private_key_type', oneOf('rsa', 'ecdsa'), 'rsa')],
  },
  {
    name: 'CertificateStatus',
    source: certificates,
    fields: [optional('renews_at', timestamp, null), optional('provisioning_job', object('ProvisioningJob'), null)],
  },
  {
    name: 'ProvisioningJob',
    source: certificates,
    fields: [
      optional('error_code', oneOf('INTERNAL_ERROR', 'DNS_ERROR')),
      optional('msg', string),
      optional('started_at', timestamp),
      optional('retries_at', timestamp),
    ],
  },
  {
    name: 'EndpointBackendMutate',
    source: edges,
    fields: [enabled, optional('backend_id', id(...backendPaths))],
  },
  { name: 'EndpointBackend', source: edges, fields: [enabled, optional('backend', ref(...backendPaths), null)] },
  {
    name: 'EndpointIPPolicyMutate',
    source: edges,
    fields: [enabled, optional('ip_policy_ids', list(id('ip_policies')))],
  },
  { name: 'EndpointIPPolicy', source: edges, fields: [enabled, optional('ip_policies', list(ref('ip_policies')), [])] },
  {
    name: 'EndpointMutualTLSMutate',
    source: edges,
    fields: [enabled, optional('certificate_authority_ids', list(id('certificate_authorities')))],
  },
  {
    name: 'EndpointMutualTLS',
    source: edges,
    fields: [enabled, optional('certificate_authorities', list(ref('certificate_authorities')), [])],
  },
  {
    name: 'EndpointTLSTermination',
    source: edges,
    fields: [
      enabled,
      optional('terminate_at', oneOf('edge', 'upstream'), 'edge'),
      optional('min_version', oneOf('1.0', '1.1', '1.2', '1.3'), null),
    ],
  },
  {
    name: 'EndpointPolicy',
    source: edges,
    fields: [
      enabled,
      optional('inbound', listOrOne('EndpointRule'), []),
      optional('outbound', listOrOne('EndpointRule'), []),
    ],
  },
  {
    name: 'EndpointRule',
    source: edges,
    fields: [
      optional('expressions', list(cel), []),
      optional('actions', listOrOne('EndpointAction'), []),
      optional('name', string),
    ],
  },
  {
    name: 'EndpointAction',
    source: edges,
    fields: [mandatory('type', string), optional('config', { kind: 'free-object' })],
  },
  {
    name: 'EventTarget',
    source: events,
    exactlyOne: true,
    fields: [
      optional('firehose', object('FirehoseTarget'), null),
      optional('kinesis', object('KinesisTarget'), null),
      optional('cloudwatch_logs', object('CloudwatchLogsTarget'), null),
      optional('monitor', object('MonitorTarget'), null),
    ],
  },
  {
    name: 'FirehoseTarget',
    source: events,
    fields: [mandatory('auth', object('CloudAuth')), mandatory('delivery_stream_arn', string)],
  },
  {
    name: 'KinesisTarget',
    source: events,
    fields: [mandatory('auth', object('CloudAuth')), mandatory('stream_arn', string)],
  },
  {
    name: 'CloudwatchLogsTarget',
    source: events,
    fields: [mandatory('auth', object('CloudAuth')), mandatory('log_group_arn', string)],
  },
  {
    name: 'MonitorTarget',
    source: events,
    fields: [
      secret('api_key'),
      optional('monitortags', string),
      optional('service', string),
      optional('monitorsite', string),
    ],
  },
  {
    name: 'CloudAuth',
    source: events,
    exactlyOne: true,
    fields: [optional('role', object('CloudRole'), null), optional('creds', object('CloudCreds'), null)],
  },
  { name: 'CloudRole', source: events, fields: [mandatory('role_arn', string)] },
  {
    name: 'CloudCreds',
    source: events,
    fields: [mandatory('cloud_access_key_id', string), secret('cloud_secret_access_key')],
  },
  {
    name: 'EventSourceMutate',
    source: events,
    fields: [mandatory('type', { kind: 'string', form: 'event-type' })],
  },
  {
    name: 'EventSource',
    source: events,
    fields: [mandatory('type', { kind: 'string', form: 'event-type' }), mandatory('uri', string)],
  },
]

/** The object of that name. Throws if there is none. */
export function objectNamed(name: string): ObjectFact {
  const found = allObjects.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`the contract has no object ${name}`)
  return found
}
