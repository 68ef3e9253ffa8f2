/** The operator's kind for a collection, and the name of its fixed-point test. */
interface ManagingKind {
  readonly kind: string
  /** A test that a CR of the kind, once written, needs no further write, whatever its fields were before. */
  readonly settles: string
}

/**
 * A test that everything in a spec of the kind is sent to the API. A fixed point alone could also be reached by sending
 * nothing.
 */
export const reaches = (kind: string): string =>
  `unit/kinds/reach.test.ts > whatever a spec of ${kind} says stands in a request`

/** A test that an object of the kind ends in the same state at an emulator, whatever its spec was before. */
export const lives = (kind: string): string =>
  `contract/kinds/generated-specs.test.ts > any spec of ${kind} > is taken, needs no second look, and comes to the same whatever was before`

const fixedPoint = (name: string): string =>
  `unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for > ${name}`

const kind = (name: string, article = 'a'): ManagingKind => ({ kind: name, settles: fixedPoint(`${article} ${name}`) })

/** By path. It is a gap if a collection that a kind must manage is missing here. */
export const managingKinds: Readonly<Record<string, ManagingKind>> = {
  ip_policies: {
    kind: 'IPPolicy',
    settles: 'unit/managed/plan/plan.test.ts > an update > applied as it is leaves nothing to do',
  },
  ip_policy_rules: kind('IPPolicyRule', 'an'),
  ip_restrictions: kind('IPRestriction', 'an'),
  api_keys: kind('APIKey', 'an'),
  credentials: kind('TunnelCredential'),
  ssh_credentials: kind('SSHCredential', 'an'),
  bot_users: kind('BotUser'),
  reserved_domains: kind('ReservedDomain'),
  reserved_addrs: kind('ReservedAddress'),
  agent_ingresses: kind('AgentIngress', 'an'),
  'edges/tcp': { kind: 'Edge', settles: fixedPoint('a TCP Edge') },
  'edges/tls': { kind: 'Edge', settles: fixedPoint('a TLS Edge') },
  'backends/tunnel_group': { kind: 'Backend', settles: fixedPoint('a Backend of type TunnelGroup') },
  'backends/http_response': { kind: 'Backend', settles: fixedPoint('a Backend of type HTTPResponse') },
  'backends/weighted': { kind: 'Backend', settles: fixedPoint('a Backend of type Weighted') },
  'backends/failover': { kind: 'Backend', settles: fixedPoint('a Backend of type Failover') },
  ssh_certificate_authorities: kind('SSHCertificateAuthority', 'an'),
  ssh_user_certificates: kind('SSHUserCertificate', 'an'),
  ssh_host_certificates: kind('SSHHostCertificate', 'an'),
  certificate_authorities: kind('CertificateAuthority'),
  event_destinations: kind('EventDestination', 'an'),
  event_subscriptions: kind('EventSubscription', 'an'),
}
