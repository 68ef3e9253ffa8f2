/** A remote object as the API returns it, or the body of an update. */
export type Body = Readonly<Record<string, unknown>>

/** The body of an update by another client that makes the object differ from its spec. */
export type Drift = (object: Body) => Body

type DriftsByField = Readonly<Record<string, readonly Drift[]>>

const byHand = 'changed by hand'

const texts: DriftsByField = {
  description: [() => ({ description: byHand })],
  metadata: [() => ({ metadata: byHand })],
}

const rsaPolicy = { authority: 'letsencrypt', private_key_type: 'rsa' }

const disabled = { enabled: false }

const credentialFields: DriftsByField = {
  ...texts,
  acl: [
    ({ acl }) => ({ acl: asList(acl).length === 0 ? ['bind:other.tunnel.example'] : [] }),
    () => ({ acl: ['bind:*=*'] }),
  ],
}

const edgeFields: DriftsByField = {
  ...texts,
  hostports: [() => ({ hostports: [] })],
  backend: [() => ({ backend: disabled })],
  ip_restriction: [() => ({ ip_restriction: disabled })],
  policy: [
    () => ({ policy: disabled }),
    () => ({ policy: { enabled: true, inbound: [], outbound: [] } }),
    ({ policy }) => ({ policy: { ...asBody(policy), inbound: asList(asBody(policy).outbound) } }),
  ],
}

/**
 * For every collection and every field of the operator's updates: changes of that field that make the objects of
 * `specs.ts` differ from their specs. A new field of a descriptor needs its changes here.
 */
export const drifts: Readonly<Record<string, DriftsByField>> = {
  ip_policies: texts,
  ip_policy_rules: { ...texts, cidr: [() => ({ cidr: '0.0.0.0/0' })] },
  ip_restrictions: {
    ...texts,
    enforced: [({ enforced }) => ({ enforced: !enforced })],
    ip_policy_ids: [
      () => ({ ip_policy_ids: [] }),
      ({ ip_policies }) => ({ ip_policy_ids: [asBody(asList(ip_policies)[0]).id] }),
    ],
  },
  'backends/tunnel_group': { ...texts, labels: [() => ({ labels: {} }), () => ({ labels: { app: 'other', x: 'y' } })] },
  'backends/http_response': {
    ...texts,
    body: [() => ({ body: byHand })],
    headers: [() => ({ headers: {} }), () => ({ headers: { 'X-Reason': byHand, 'X-More': '1' } })],
    status_code: [() => ({ status_code: 418 })],
  },
  'backends/weighted': {
    ...texts,
    backends: [
      ({ backends }) => ({ backends: Object.fromEntries(Object.keys(asBody(backends)).map((id) => [id, 17])) }),
    ],
  },
  'backends/failover': {
    ...texts,
    backends: [
      ({ backends }) => ({ backends: asList(backends).toReversed() }),
      ({ backends }) => ({ backends: asList(backends).slice(1) }),
    ],
  },
  'edges/tcp': edgeFields,
  'edges/tls': {
    ...edgeFields,
    mutual_tls: [
      () => ({ mutual_tls: disabled }),
      () => ({ mutual_tls: { enabled: true, certificate_authority_ids: ['ca_specs1'] } }),
    ],
    tls_termination: [
      () => ({ tls_termination: disabled }),
      () => ({ tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' } }),
      // Modules that inspect the connection require that TLS is terminated.
      () => ({ policy: disabled, mutual_tls: disabled, tls_termination: { enabled: true, terminate_at: 'upstream' } }),
    ],
  },
  reserved_domains: {
    ...texts,
    certificate_id: [() => ({ certificate_id: null })],
    certificate_management_policy: [
      ({ certificate_management_policy: policy }) => ({
        ...(policy ? {} : { certificate_id: null }),
        certificate_management_policy: rsaPolicy,
      }),
    ],
    http_endpoint_configuration_id: [
      ({ http_endpoint_configuration: found }) => ({ http_endpoint_configuration_id: found ? null : 'ec_specs1' }),
      () => ({ http_endpoint_configuration_id: 'ec_specs2' }),
    ],
    https_endpoint_configuration_id: [
      ({ https_endpoint_configuration: found }) => ({ https_endpoint_configuration_id: found ? null : 'ec_specs2' }),
      () => ({ https_endpoint_configuration_id: 'ec_specs1' }),
    ],
  },
  reserved_addrs: {
    ...texts,
    endpoint_configuration_id: [
      () => ({ endpoint_configuration_id: 'ec_specs2' }),
      () => ({ endpoint_configuration_id: null }),
    ],
  },
  agent_ingresses: {
    ...texts,
    certificate_management_policy: [
      () => ({ certificate_management_policy: rsaPolicy }),
      () => ({ certificate_management_policy: null }),
    ],
  },
  bot_users: {
    name: [() => ({ name: byHand })],
    active: [({ active }) => ({ active: !active })],
  },
  api_keys: texts,
  credentials: credentialFields,
  certificate_authorities: texts,
  ssh_credentials: credentialFields,
  ssh_certificate_authorities: texts,
  ssh_user_certificates: texts,
  ssh_host_certificates: texts,
  event_destinations: {
    ...texts,
    target: [({ target }) => ({ target: otherTarget(asBody(target)) })],
  },
  event_subscriptions: {
    ...texts,
    sources: [() => ({ sources: [] }), () => ({ sources: [{ type: 'ip_policy_deleted.v0' }] })],
    destination_ids: [({ destinations }) => ({ destination_ids: [asBody(asList(destinations)[0]).id] })],
  },
}

/** Fields with a single valid value, by collection, each with a change that the API must refuse. */
export const unchangeable: Readonly<Record<string, Readonly<Record<string, Body>>>> = {
  event_destinations: { format: { format: 'yaml' } },
}

const otherRole = { role: { role_arn: 'arn:aws:iam::123456789012:role/other' } }

/** The same type of target, with other values in all fields. */
function otherTarget(target: Body): Body {
  if (target.firehose) {
    return {
      firehose: { auth: otherRole, delivery_stream_arn: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/b' },
    }
  }
  if (target.kinesis) {
    return { kinesis: { auth: otherRole, stream_arn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/b' } }
  }
  if (target.cloudwatch_logs) {
    return { cloudwatch_logs: { auth: otherRole, log_group_arn: 'arn:aws:logs:eu-central-1:123456789012:log-group:b' } }
  }
  return { monitor: { api_key: 'other', monitortags: 'other', service: 'other', monitorsite: 'other.example.com' } }
}

function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
