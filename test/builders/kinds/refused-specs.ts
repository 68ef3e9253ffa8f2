import { kinds } from '../../../src/kinds/index.ts'
import { caPem } from '../contract/ca-pem.ts'
import { sshKeys } from '../contract/ssh-keys.ts'

/** A spec that the apiserver must refuse: at creation, or as a change of `before`. */
export interface RefusedSpec {
  readonly kind: string
  /** What is wrong, to complete the sentence "is refused …". */
  readonly because: string
  readonly before?: Readonly<Record<string, unknown>>
  readonly spec: Readonly<Record<string, unknown>>
  /** Part of the message: it names the field and the remedy. */
  readonly message: string
}

type Spec = Readonly<Record<string, unknown>>

/** A valid spec of each kind. */
export const acceptedSpecs: Readonly<Record<string, Spec>> = {
  Account: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } },
  ClusterAccount: {
    baseURL: 'https://api.example.com',
    apiKeySecretRef: { name: 'key' },
    access: [{ namespaceSelector: {} }],
  },
  IPPolicy: { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] },
  IPPolicyRule: { ipPolicyRef: { id: 'ipp_1' }, cidr: '10.0.0.0/8', action: 'Allow' },
  IPRestriction: { type: 'Agent', enforcement: 'Enforce', ipPolicyRefs: [{ name: 'office' }] },
  Backend: { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } },
  Edge: {
    protocol: 'TLS',
    hostports: [{ type: 'Host', host: 'a.example.com', port: 443 }],
    backend: { name: 'shop' },
  },
  ReservedDomain: { domain: '*.apps.example.com', region: 'eu', certificate: { type: 'Managed' } },
  ReservedAddress: { region: 'eu' },
  AgentIngress: { domain: 'agents.example.com', certificate: { type: 'Managed' } },
  SSHCertificateAuthority: { privateKeyType: 'ECDSA', ellipticCurve: 'P-384' },
  SSHUserCertificate: {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: ['alice'],
    validAfter: '2026-01-01T00:00:00Z',
    validFor: '12h',
  },
  SSHHostCertificate: {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: ['a.example.com', '2001:db8::1'],
    output: { configMap: { name: 'certificate' } },
  },
  SSHCredential: {
    publicKey: sshKeys.rsa,
    acl: ['bind:1.tcp.example.com:20000'],
    owner: { botUserRef: { name: 'pipeline' } },
  },
  BotUser: { displayName: 'pipeline' },
  APIKey: { owner: { botUserRef: { name: 'pipeline' } } },
  TunnelCredential: { owner: { botUserRef: { name: 'pipeline' } }, acl: ['bind:*.example.com', 'bind:app=*'] },
  CertificateAuthority: { caPEM: caPem },
  EventDestination: { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'monitor', key: 'key' } } },
  TunnelSessionCommand: { action: 'Restart', target: { type: 'ID', id: 'ts_1' }, ttlAfterFinished: '1h' },
  EventSubscription: { sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: 'log' }] },
}

/** For a Backend of a type other than the accepted one. */
const response = { type: 'HTTPResponse', tunnelGroup: undefined }

function row(kind: string, because: string, change: Spec, message: string): RefusedSpec {
  return { kind, because, spec: { ...acceptedSpecs[kind], ...change }, message }
}

function changed(kind: string, because: string, change: Spec, message: string): RefusedSpec {
  const before = acceptedSpecs[kind] ?? {}
  return { kind, because, before, spec: { ...before, ...change }, message }
}

/** Refused by both kinds of certificate. */
const certificates = (['SSHUserCertificate', 'SSHHostCertificate'] as const).flatMap((kind) => [
  row(kind, 'with an authority by no name', { sshCertificateAuthorityRef: {} }, 'set exactly one of name, id'),
  row(kind, 'without public key', { publicKey: undefined }, 'set exactly one of publicKey, publicKeyFrom'),
  row(kind, 'with no public key as public key', { publicKey: 'x' }, 'publicKey is not in authorized-keys format: give'),
  row(
    kind,
    'with a public key from nowhere',
    { publicKey: undefined, publicKeyFrom: {} },
    'set exactly one of secretKeyRef, configMapKeyRef',
  ),
  row(kind, 'without principals', { principals: undefined }, 'principals is empty, which makes the certificate valid'),
  row(kind, 'with empty principals', { principals: [] }, 'name them, or set anyPrincipal: true'),
  row(
    kind,
    'for all and for some',
    { anyPrincipal: true },
    'anyPrincipal: true cannot be set together with principals: remove',
  ),
  row(
    kind,
    'with an end and a length',
    { validUntil: '2027-01-01T00:00:00Z', validFor: '1h' },
    'set at most one of validUntil, validFor',
  ),
  row(
    kind,
    'that ends as it begins',
    { validAfter: '2026-01-01T00:00:00Z', validUntil: '2026-01-01T01:00:00+01:00', validFor: undefined },
    'validUntil must be after validAfter: correct',
  ),
  row(kind, 'that begins before all time', { validAfter: '1969-12-31T23:59:59Z' }, 'validAfter is before 1970'),
  row(
    kind,
    'that ends before all time',
    { validAfter: undefined, validUntil: '1969-12-31T23:59:59Z', validFor: undefined },
    'validUntil is before 1970',
  ),
  row(
    kind,
    'renewed as soon as it is issued',
    { validAfter: undefined, validFor: '12h', renewBefore: '38881s' },
    'renewBefore must be at most nine tenths of validFor',
  ),
  row(
    kind,
    'renewed long before a length that is not set',
    { validAfter: undefined, validFor: undefined, renewBefore: '8760h' },
    'renewBefore must be at most nine tenths of validFor',
  ),
  row(
    kind,
    'renewed although its end is fixed',
    { validAfter: undefined, validFor: undefined, validUntil: '2099-01-01T00:00:00Z', renewBefore: '1h' },
    'renewBefore cannot be set together with validAfter or validUntil',
  ),
  row(
    kind,
    'renewed although its start is fixed',
    { validAfter: '2026-01-01T00:00:00Z', renewBefore: '1h' },
    'renewBefore cannot be set together with validAfter or validUntil',
  ),
  row(
    kind,
    'renewed when it has expired',
    { validAfter: undefined, renewBefore: '0s' },
    'renewBefore must be from 1s to 87600h: write',
  ),
  row(kind, 'for no time', { validFor: '0s' }, 'validFor must be from 1s to 87600h: write'),
  row(kind, 'for longer than ten years', { validFor: '87601h' }, 'validFor must be from 1s to 87600h: write'),
  row(
    kind,
    'with outputs in two places',
    { output: { secret: { name: 'a' }, configMap: { name: 'b' } } },
    'set exactly one of secret, configMap',
  ),
])

/** Labels and annotations refused by every output. */
const outputs = [
  ...(['SSHUserCertificate', 'SSHHostCertificate'] as const).flatMap((kind) => [
    ...refusedMetadata(kind, 'secret'),
    ...refusedMetadata(kind, 'configMap'),
  ]),
  ...refusedMetadata('SSHCertificateAuthority', 'configMap'),
  ...refusedMetadata('APIKey', 'secret'),
  ...refusedMetadata('TunnelCredential', 'secret'),
]

function refusedMetadata(kind: string, member: string): readonly RefusedSpec[] {
  const rows = ['labels', 'annotations'].flatMap((field) => [
    [`${field} has a key under culvert.dev`, { [field]: { 'culvert.dev/mine': 'x' } }] as const,
    [`${field} has a key under culvert.dev`, { [field]: { 'internal.culvert.dev/id': 'x' } }] as const,
    [`${field} takes names of at most 317 characters`, { [field]: { [`${'p'.repeat(317)}/a`]: 'x' } }] as const,
  ])
  const managedBy = { labels: { 'app.kubernetes.io/managed-by': 'me' } }
  const all = [...rows, ['labels has app.kubernetes.io/managed-by', managedBy] as const]
  return all.map(([message, metadata], index) =>
    row(
      kind,
      `with metadata of its ${member} that is not the user's, ${index}`,
      { output: { [member]: { name: 'a', ...metadata } } },
      message,
    ),
  )
}

/** Refused by both kinds of token. */
const tokens = (['APIKey', 'TunnelCredential'] as const).flatMap((kind) => [
  row(kind, 'rotated all the time', { rotation: { interval: '0s' } }, 'interval must be from 1s to 87600h: write'),
  row(
    kind,
    'rotated too late for anybody',
    { rotation: { interval: '87601h' } },
    'interval must be from 1s to 87600h: write',
  ),
  row(
    kind,
    'with tokens that work on for longer than they are used',
    { rotation: { interval: '1h', overlap: '60m' } },
    'overlap must be less than interval: shorten',
  ),
  row(
    kind,
    'with tokens that work on for ever',
    { rotation: { interval: '87600h', overlap: '87601h' } },
    'overlap must be from 0s to 87600h: write',
  ),
])

const managed = kinds.filter(({ role }) => role === 'managed').map(({ definition }) => definition.kind)
/** 255 characters, and more bytes. */
const long = `${'a'.repeat(254)}ä`
const account = { kind: 'Account', name: 'default' }
const rule = { cidr: '10.0.0.0/8', action: 'Allow' }
const stream = { streamARN: 'arn:stream' }
const key = { name: 'a', key: 'b' }
const tls = (fields: Spec): Spec => ({ protocol: 'TLS', ...fields })
const upstream = { terminateAt: 'Upstream' }

const accounts = ['Account', 'ClusterAccount'].flatMap((kind) => [
  changed(kind, 'with another base URL', { baseURL: 'https://b.example.com' }, 'baseURL is immutable: delete'),
  row(
    kind,
    'with sessions listed too often',
    { mirrorSessions: { enabled: true, interval: '0s', ...(kind === 'ClusterAccount' && { namespace: 'a' }) } },
    'interval must be from 1s to 24h: write it as',
  ),
  row(kind, 'with a CA bundle that is no PEM', { caBundle: 'x' }, 'caBundle holds no certificate: set'),
  row(kind, 'with a version header of another use', { versionHeader: 'Authorization' }, 'versionHeader names a header'),
  row(kind, 'with a resync too often', { resyncInterval: '0s' }, 'resyncInterval must be from 1s to 24h: write'),
  row(kind, 'with a resync too seldom', { resyncInterval: '25h' }, 'resyncInterval must be from 1s to 24h: write'),
])

/** Kinds whose texts have no limit in bytes, or that have no texts. */
const OTHERWISE_DESCRIBED: ReadonlySet<string> = new Set(['Backend', 'BotUser', 'EventSubscription'])

const common = managed.flatMap((kind) => [
  {
    ...changed(
      kind,
      'in another account than before',
      { accountRef: { ...account, name: 'other' } },
      'accountRef is immutable',
    ),
    before: { ...acceptedSpecs[kind], accountRef: account },
  },
  row(
    kind,
    'with an object that is there already and no policy',
    { externalID: 'x_1' },
    'managementPolicy is required with externalID: set Observe',
  ),
  ...(OTHERWISE_DESCRIBED.has(kind)
    ? []
    : [
        row(kind, 'with a description of 256 bytes', { description: long }, 'description takes at most 255 bytes'),
        row(
          kind,
          'with raw metadata of 4097 bytes',
          { rawMetadata: `${'a'.repeat(4095)}ä` },
          'rawMetadata takes at most 4096 bytes',
        ),
      ]),
  ...(kind === 'BotUser'
    ? []
    : [
        row(
          kind,
          'with metadata of two kinds',
          { metadata: { team: 'shop' }, rawMetadata: 'shop' },
          'set at most one of metadata, rawMetadata',
        ),
        row(kind, 'with a mark in its metadata', { metadata: { culvert: '' } }, 'metadata has the key culvert'),
        row(kind, 'with an empty key of metadata', { metadata: { '': 'shop' } }, 'metadata has a key that is empty'),
        row(
          kind,
          'with 3073 bytes of metadata',
          { metadata: { a: 'a'.repeat(2000), b: `${'a'.repeat(1057)}ä` } },
          'metadata takes at most 3072 bytes in all',
        ),
      ]),
])

const GRANTORS = [
  'IPPolicy',
  'Backend',
  'ReservedDomain',
  'ReservedAddress',
  'SSHCertificateAuthority',
  'BotUser',
  'CertificateAuthority',
  'EventDestination',
]

/** Refused by every kind that can grant references to others. */
const grants = GRANTORS.flatMap((kind) => [
  row(kind, 'with a grant to nobody', { allowedReferences: [{}] }, 'set exactly one of namespaces, namespaceSelector'),
  row(
    kind,
    'with a grant by long labels',
    {
      allowedReferences: [
        { namespaceSelector: { matchLabels: { ['a'.repeat(300)]: 'x'.repeat(63), b: 'x'.repeat(63) } } },
      ],
    },
    'matchLabels takes at most 384 bytes in all, written as JSON: shorten it',
  ),
])

const OF_ANOTHER = { namespace: 'other', id: 'x_1' }

/** An id belongs to the account, whatever the namespace. */
const crossings = Object.entries({
  IPPolicyRule: { ipPolicyRef: OF_ANOTHER },
  IPRestriction: { ipPolicyRefs: [OF_ANOTHER] },
  Backend: { type: 'Weighted', tunnelGroup: undefined, weighted: { backendRefs: [{ ...OF_ANOTHER, weight: 1 }] } },
  Edge: { backend: OF_ANOTHER },
  SSHUserCertificate: { sshCertificateAuthorityRef: OF_ANOTHER },
  SSHHostCertificate: { sshCertificateAuthorityRef: OF_ANOTHER },
  EventSubscription: { destinationRefs: [OF_ANOTHER] },
}).map(([kind, change]) => {
  return row(kind, 'with a namespace beside an id', change, 'namespace goes with name: set name, or remove namespace')
})

/** Every CEL rule of every kind, with a spec that breaks it. */
export const refusedSpecs: readonly RefusedSpec[] = [
  ...accounts,
  ...common,
  ...outputs,
  ...grants,
  ...crossings,
  row(
    'ClusterAccount',
    'with an expression without values',
    { access: [{ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
    'values goes with the operators In and NotIn',
  ),
  changed(
    'TunnelSessionCommand',
    'with another action',
    { action: 'Stop' },
    'action is immutable: a command runs once',
  ),
  changed(
    'TunnelSessionCommand',
    'to another session',
    { target: { type: 'ID', id: 'ts_2' } },
    'target is immutable: a command runs only once, so create another one',
  ),
  changed(
    'TunnelSessionCommand',
    'in an account that is named later',
    { accountRef: { name: 'other' } },
    'accountRef is immutable: a command runs only once, so create another one',
  ),
  row(
    'TunnelSessionCommand',
    'to one and to many',
    { target: { type: 'ID', id: 'ts_1', selector: {} } },
    'set the member that goes with type, and no other: sessionRef for Session, id for ID, selector for Selector',
  ),
  row(
    'TunnelSessionCommand',
    'to those with a label of a long name',
    { target: { type: 'Selector', selector: { matchLabels: { ['a'.repeat(318)]: 'x' } } } },
    'matchLabels takes names of at most 317 characters',
  ),
  row(
    'ClusterAccount',
    'for namespaces with a label of a long name',
    { access: [{ namespaceSelector: { matchLabels: { ['a'.repeat(506)]: 'x' } } }] },
    'matchLabels takes at most 512 bytes in all',
  ),
  row(
    'ClusterAccount',
    'with more of labels than a spec has room for',
    { access: [{ namespaceSelector: {}, labels: { ['a'.repeat(200)]: 'b'.repeat(60) } }] },
    'labels takes at most 256 bytes in all',
  ),
  row('TunnelSessionCommand', 'to nobody', { target: { type: 'Selector' } }, 'set the member that goes with type'),
  row(
    'TunnelSessionCommand',
    'with an expression without values',
    { target: { type: 'Selector', selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
    'values goes with the operators In and NotIn',
  ),
  row(
    'TunnelSessionCommand',
    'to be deleted at once',
    { ttlAfterFinished: '0s' },
    'ttlAfterFinished must be from 1s to 8760h: write it as',
  ),
  row(
    'IPPolicy',
    'without rules',
    { rules: [] },
    'rules is empty: add a rule, set rulesSource: IPPolicyRules, or set allowEmpty: true',
  ),
  row(
    'IPPolicy',
    'with rules from two places',
    { rulesSource: 'IPPolicyRules' },
    'rules goes with rulesSource: Inline only: remove rules',
  ),
  changed('IPPolicyRule', 'with another policy', { ipPolicyRef: { name: 'other' } }, 'ipPolicyRef is immutable'),
  row(
    'IPPolicyRule',
    'with an account of its own beside a policy by name',
    { ipPolicyRef: { name: 'office' }, accountRef: account },
    'accountRef goes with ipPolicyRef.id only',
  ),
  row('IPPolicyRule', 'without a policy', { ipPolicyRef: {} }, 'set exactly one of name, id'),
  row(
    'IPPolicyRule',
    'with what is no address',
    { cidr: '10.0.0' },
    'cidr is neither an address nor a range in CIDR notation',
  ),
  row('IPPolicyRule', 'with host bits', { cidr: '10.0.0.1/8' }, 'cidr has host bits set: write'),
  row('IPPolicyRule', 'with upper case', { cidr: '2001:DB8::/32' }, 'cidr is not in canonical form: write'),
  row(
    'IPPolicy',
    'with what is no address',
    { rules: [{ ...rule, cidr: '10.0.0' }] },
    'cidr is neither an address nor a range in CIDR notation',
  ),
  row('IPPolicy', 'with host bits', { rules: [{ ...rule, cidr: '10.0.0.1/8' }] }, 'cidr has host bits set: write'),
  row(
    'IPPolicy',
    'with upper case',
    { rules: [{ ...rule, cidr: '2001:DB8::/32' }] },
    'cidr is not in canonical form: write',
  ),
  row(
    'IPPolicy',
    'with zeros spelt out',
    { rules: [{ ...rule, cidr: '2001:db8:0::/32' }] },
    'cidr is not in canonical form',
  ),
  row(
    'IPPolicy',
    'with a long rule description',
    { rules: [{ ...rule, description: long }] },
    'description takes at most',
  ),
  row(
    'IPPolicy',
    'with long rule metadata',
    { rules: [{ ...rule, metadata: { a: `${'a'.repeat(158)}ä` } }] },
    'metadata takes at most 160 bytes in all',
  ),
  changed('IPRestriction', 'with another type', { type: 'Dashboard' }, 'type is immutable: delete'),
  row(
    'IPRestriction',
    'that could shut Culvert out of the API unawares',
    { type: 'API' },
    'enforcement: Enforce with type: API can lock Culvert out of the API: check',
  ),
  {
    kind: 'IPRestriction',
    because: 'when enforcing it takes the acknowledgement away',
    before: { type: 'API', enforcement: 'Enforce', ipPolicyRefs: [{ id: 'ipp_1' }], acknowledgeAPIRestriction: true },
    spec: { type: 'API', enforcement: 'Enforce', ipPolicyRefs: [{ id: 'ipp_1' }] },
    message: 'set acknowledgeAPIRestriction: true, or set enforcement: Warn',
  },
  row(
    'IPRestriction',
    'with a policy by name and id',
    { ipPolicyRefs: [{ name: 'a', id: 'b' }] },
    'set exactly one of',
  ),
  changed(
    'Backend',
    'with another type',
    { type: 'HTTPResponse', tunnelGroup: undefined, httpResponse: {} },
    'type is immutable',
  ),
  // kubectl apply would keep a second copy in an annotation, whose size limit is this.
  {
    kind: 'Backend',
    because: 'with a body of many bytes',
    before: { type: 'HTTPResponse', httpResponse: { body: '' } },
    spec: { type: 'HTTPResponse', httpResponse: { body: 'ä'.repeat(200_000) } },
    message: 'body takes at most 262144 bytes',
  },
  row(
    'Backend',
    'with a header of a long name',
    { ...response, httpResponse: { headers: { ['a'.repeat(256)]: 'x' } } },
    'headers takes names of at most 255 characters',
  ),
  row(
    'Backend',
    'with a header of many bytes',
    { ...response, httpResponse: { headers: { a: 'ä'.repeat(4000) } } },
    'headers takes at most 4096 bytes',
  ),
  row('Backend', 'with the member of another type', { httpResponse: {} }, 'set the member that goes with type'),
  row('Backend', 'without the member of its type', { tunnelGroup: undefined }, 'set the member that goes with type'),
  row(
    'Backend',
    'with a weighted child twice',
    {
      type: 'Weighted',
      tunnelGroup: undefined,
      weighted: { backendRefs: [1, 2].map((weight) => ({ name: 'a', weight })) },
    },
    'backendRefs names a backend twice: give it one entry',
  ),
  row(
    'Backend',
    'with a failover child twice',
    { type: 'Failover', tunnelGroup: undefined, failover: { backendRefs: [{ name: 'a' }, { name: 'a' }] } },
    'backendRefs names a backend twice: keep the first',
  ),
  row(
    'Backend',
    'with a child by name and by id',
    { type: 'Failover', tunnelGroup: undefined, failover: { backendRefs: [{ name: 'a', id: 'b' }] } },
    'set exactly one of name, id',
  ),
  changed('Edge', 'with another protocol', { protocol: 'TCP' }, 'protocol is immutable: delete'),
  row(
    'Edge',
    'with a hostport of nothing',
    { hostports: [{ type: 'Host', port: 1 }] },
    'set the member that goes with type, and no other: host for Host, reservedDomainRef for ReservedDomain',
  ),
  row(
    'Edge',
    'with a hostport of two',
    { hostports: [{ type: 'Host', host: 'a.example.com', reservedDomainRef: { name: 'a' }, port: 1 }] },
    'set the member that goes with type',
  ),
  row(
    'Edge',
    'with a host without port',
    { hostports: [{ type: 'Host', host: 'a.example.com' }] },
    'port goes with type Host',
  ),
  row(
    'Edge',
    'with a port for a reserved address',
    { hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'a' }, port: 1 }] },
    'port goes with type Host',
  ),
  row(
    'Edge',
    'with a backend module without backend',
    { backend: {} },
    'name or id is needed while the module is enabled',
  ),
  row('Edge', 'with a restriction without policy', { ipRestriction: {} }, 'ipPolicyRefs is needed while the module'),
  row('Edge', 'with mutual TLS without authority', { mutualTLS: {} }, 'certificateAuthorityRefs is needed while'),
  row(
    'Edge',
    'with TLS modules on TCP',
    { protocol: 'TCP', mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_1' }] } },
    'mutualTLS is for TLS edges: remove mutualTLS',
  ),
  row(
    'Edge',
    'with termination on TCP',
    { protocol: 'TCP', tlsTermination: {} },
    'tlsTermination is for TLS edges: remove',
  ),
  row(
    'Edge',
    'with a minimum version for TLS that passes through',
    tls({ tlsTermination: { ...upstream, minVersion: '1.2' } }),
    'minVersion has no meaning with terminateAt: Upstream: remove',
  ),
  row(
    'Edge',
    'with mutual TLS for TLS that passes through',
    tls({ tlsTermination: upstream, mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_1' }] } }),
    'mutualTLS cannot act on TLS that passes through: remove',
  ),
  row(
    'Edge',
    'with a traffic policy for TLS that passes through',
    tls({ tlsTermination: upstream, trafficPolicy: {} }),
    'trafficPolicy cannot act on TLS that passes through: remove',
  ),
  row('Edge', 'with a policy by no name', { ipRestriction: { ipPolicyRefs: [{}] } }, 'set exactly one of name, id'),
  row('Edge', 'with a backend by name and by id', { backend: { name: 'a', id: 'b' } }, 'set at most one of name, id'),
  row(
    'Edge',
    'with more expressions than fit',
    tls({ trafficPolicy: { inbound: [{ expressions: Array.from({ length: 5 }, () => 'a'.repeat(16_384)) }] } }),
    'expressions of inbound and outbound take at most 65536 characters together',
  ),
  row(
    'Backend',
    'with a long name of a label',
    { tunnelGroup: { labels: { ['a'.repeat(256)]: 'b' } } },
    'labels takes names of at most 255 characters',
  ),
  row('EventSubscription', 'with a destination by no name', { destinationRefs: [{}] }, 'set exactly one of name, id'),
  changed('ReservedDomain', 'with another domain', { domain: 'b.example.com' }, 'domain is immutable: delete'),
  changed('ReservedDomain', 'with another region', { region: 'us' }, 'region is immutable: delete'),
  row('ReservedAddress', 'with a region that is none', { region: 'Europe West' }, 'region'),
  row(
    'ReservedDomain',
    'with a certificate both managed and uploaded',
    { certificate: { type: 'Managed', uploaded: { id: 'cert_1' } } },
    'set the member that goes with type, and no other: managed for Managed (optional), uploaded for Uploaded',
  ),
  row(
    'ReservedDomain',
    'with an uploaded certificate that is not named',
    { certificate: { type: 'Uploaded' } },
    'set the member that goes with type',
  ),
  row(
    'AgentIngress',
    'with an uploaded certificate, which it does not take',
    { certificate: { type: 'Uploaded' } },
    'Unsupported value: "Uploaded": supported values: "Managed"',
  ),
  changed('ReservedAddress', 'with another region', { region: 'us' }, 'region is immutable: delete'),
  changed('AgentIngress', 'with another domain', { domain: 'b.example.com' }, 'domain is immutable: delete'),
  changed(
    'SSHCertificateAuthority',
    'with another type of key',
    { privateKeyType: 'Ed25519', ellipticCurve: undefined },
    'privateKeyType is immutable: delete',
  ),
  changed(
    'SSHCertificateAuthority',
    'with another curve',
    { ellipticCurve: 'P-256' },
    'ellipticCurve is immutable: delete',
  ),
  {
    kind: 'SSHCertificateAuthority',
    because: 'with another number of bits',
    before: { privateKeyType: 'RSA' },
    spec: { privateKeyType: 'RSA', keySize: 2048 },
    message: 'keySize is immutable: delete',
  },
  row('SSHCertificateAuthority', 'with a curve for RSA', { privateKeyType: 'RSA' }, 'ellipticCurve goes with'),
  row(
    'SSHCertificateAuthority',
    'with bits for ECDSA',
    { keySize: 4096 },
    'keySize goes with privateKeyType: RSA only',
  ),
  row(
    'SSHCertificateAuthority',
    'with a number of bits in between',
    { privateKeyType: 'RSA', ellipticCurve: undefined, keySize: 3072 },
    'keySize is 2048 or 4096: choose',
  ),
  ...certificates,
  ...tokens,
  row(
    'SSHUserCertificate',
    'with a value for an extension that takes none',
    { extensions: { 'permit-pty': 'yes' } },
    'extensions has a value for one of',
  ),
  ...[
    ['192.0.2', 'sourceAddresses is neither an address nor a range in CIDR notation'],
    ['2001:DB8::1', 'sourceAddresses is not in canonical form: write'],
    ['192.0.2.1/24', 'sourceAddresses has host bits set: write'],
    ['2001:DB8::/32', 'sourceAddresses is not in canonical form: write'],
  ].map(([address = '', message = '']) =>
    row('SSHUserCertificate', `from ${address}`, { criticalOptions: { sourceAddresses: [address] } }, message),
  ),
  row('SSHHostCertificate', 'with a pattern', { principals: ['*.example.com'] }, 'write each name out in lower case'),
  row(
    'SSHHostCertificate',
    'with upper case',
    { principals: ['A.example.com'] },
    'principals has a pattern or an upper-case letter',
  ),
  changed('SSHCredential', 'with another owner', { owner: { id: 'usr_1' } }, 'owner is immutable: delete'),
  row('SSHCredential', 'without public key', { publicKey: undefined }, 'set exactly one of publicKey, publicKeyFrom'),
  row('SSHCredential', 'with no public key as public key', { publicKey: 'x' }, 'publicKey is not in authorized-keys'),
  row('SSHCredential', 'with a rule that is none', { acl: ['bind:'] }, 'acl takes rules bind:<domain>, bind:<host>'),
  row(
    'SSHCredential',
    'with * beside others',
    { acl: ['*', 'bind:a=b'] },
    'acl has * beside other rules, which * makes',
  ),
  row('SSHCredential', 'with an owner by no name', { owner: {} }, 'set exactly one of botUserRef, id'),
  row(
    'SSHCredential',
    'with a public key from two places',
    { publicKey: undefined, publicKeyFrom: { secretKeyRef: key, configMapKeyRef: key } },
    'set exactly one of secretKeyRef, configMapKeyRef',
  ),
  row('BotUser', 'with a name like the mark', { displayName: '{"culvert":1}' }, 'displayName begins with {"culvert":'),
  changed('APIKey', 'with another owner', { owner: { id: 'usr_1' } }, 'owner is immutable: delete'),
  row(
    'APIKey',
    'with an owner by name and by id',
    { owner: { botUserRef: { name: 'a' }, id: 'b' } },
    'set exactly one of botUserRef, id',
  ),
  changed('TunnelCredential', 'with another owner', { owner: { id: 'usr_1' } }, 'owner is immutable: delete'),
  row(
    'TunnelCredential',
    'with an owner of both sorts',
    { owner: { botUserRef: { name: 'a' }, id: 'b' } },
    'set exactly one of botUserRef, id',
  ),
  row('TunnelCredential', 'with a rule that is none', { acl: ['bind:'] }, 'acl takes rules bind:<domain>, bind:<host>'),
  row(
    'TunnelCredential',
    'with * beside others',
    { acl: ['*', 'bind:a=b'] },
    'acl has * beside other rules, which * makes',
  ),
  changed(
    'CertificateAuthority',
    'with a PEM of many bytes',
    { caPEM: 'ä'.repeat(200_000) },
    'caPEM takes at most 262144 bytes',
  ),
  row(
    'SSHUserCertificate',
    'with an extension of a long name',
    { extensions: { ['a'.repeat(256)]: '' } },
    'extensions takes names of at most 255 characters',
  ),
  row('CertificateAuthority', 'without PEM', { caPEM: undefined }, 'set exactly one of caPEM, caPEMFrom'),
  row(
    'CertificateAuthority',
    'with a PEM from two places',
    { caPEM: undefined, caPEMFrom: { secretKeyRef: key, configMapKeyRef: key } },
    'set exactly one of secretKeyRef, configMapKeyRef',
  ),
  row('EventDestination', 'without target', { monitor: undefined }, 'set the member that goes with type, and no other'),
  row(
    'EventDestination',
    'with a target that the CRD does not know',
    { type: 'S3', monitor: undefined },
    'Unsupported value: "S3": supported values: ',
  ),
  row(
    'EventDestination',
    'with two targets',
    { kinesis: { ...stream, auth: { type: 'Role', role: { roleARN: 'arn:role' } } } },
    'firehose for Firehose, kinesis for Kinesis, cloudWatchLogs for CloudWatchLogs, monitor for Monitor',
  ),
  row(
    'EventDestination',
    'with a cloud target that nobody signs in to',
    { type: 'Kinesis', monitor: undefined, kinesis: { ...stream, auth: { type: 'Role' } } },
    'set the member that goes with type, and no other: role for Role, accessKey for AccessKey',
  ),
]
