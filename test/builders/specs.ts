import type { SeedSpec } from '../../src/emulator/admin/seed.ts'
import { caPem, partnerCaPem } from './contract/ca-pem.ts'
import { sshKeys } from './contract/ssh-keys.ts'

/** A CR to apply. */
export interface Manifest {
  readonly kind: string
  readonly name: string
  readonly spec: Record<string, unknown>
}

/** One valid spec of a kind. */
export interface SpecCase {
  readonly kind: string
  /** `minimal`: the required fields; `full`: every field that can be combined; otherwise what is special about it. */
  readonly title: string
  /** The spec with a name of its own: several may exist in one account. */
  readonly spec: (name: string) => Record<string, unknown>
  /** CRs that the spec refers to, in order of creation. */
  readonly needs: (name: string) => readonly Manifest[]
}

/** Values of the Secret that specs refer to. */
export const SECRET = {
  name: 'spec-inputs',
  values: {
    apiKey: 'key-1',
    accessKeyID: 'id-1',
    secretAccessKey: 's-1',
    caPEM: caPem,
    otherCAPEM: partnerCaPem,
    publicKey: `${sshKeys.rsa}\n`,
    otherPublicKey: sshKeys.ed25519,
  },
}

/** Values of the ConfigMap that specs refer to. */
export const CONFIG_MAP = {
  name: 'spec-inputs',
  values: {
    caPEM: partnerCaPem,
    otherCAPEM: caPem,
    publicKey: sshKeys.ecdsa521,
    otherPublicKey: sshKeys.ecdsa256,
  },
}

/** Objects that specs refer to by id, because no kind creates them. */
export const SEED: SeedSpec = {
  objects: {
    certificate_authorities: [
      { id: 'ca_specs1', ca_pem: caPem },
      { id: 'ca_specs2', ca_pem: caPem },
    ],
    'backends/tunnel_group': [{ id: 'bkdtg_specs1' }, { id: 'bkdtg_specs2' }],
    tls_certificates: [{ id: 'cert_specs' }],
    endpoint_configurations: [{ id: 'ec_specs1' }, { id: 'ec_specs2' }],
  },
}

const secretKeyRef = (key: keyof typeof SECRET.values) => ({ name: SECRET.name, key })
const described = (name: string) => ({
  description: `made for ${name}`,
  metadata: { made: `for ${name}`, '1st': 'é"' },
})
const worded = (name: string) => ({ description: `made for ${name}`, rawMetadata: `{"made":"for ${name}"}` })
const role = { type: 'Role', role: { roleARN: 'arn:aws:iam::123456789012:role/events' } }
const accessKey = {
  type: 'AccessKey',
  accessKey: {
    accessKeyIDSecretRef: secretKeyRef('accessKeyID'),
    secretAccessKeySecretRef: secretKeyRef('secretAccessKey'),
  },
}

const RULES = [
  { cidr: '198.51.100.0/24', action: 'Allow', description: 'the office' },
  { cidr: '198.51.100.77/32', action: 'Deny', metadata: { ticket: '7' } },
  { cidr: '2001:db8:40::/48', action: 'Allow' },
]

function manifest(kind: string, name: string, spec: Record<string, unknown>): Manifest {
  return { kind, name, spec }
}

const tunnels = (name: string): Manifest => manifest('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })
const policy = (name: string): Manifest => manifest('IPPolicy', name, { rules: RULES.slice(0, 1) })
const domain = (name: string, prefix = ''): Manifest =>
  manifest('ReservedDomain', name, { domain: `${prefix}${name}.tunnel.example` })
const destination = (name: string): Manifest =>
  manifest('EventDestination', name, {
    type: 'CloudWatchLogs',
    cloudWatchLogs: { logGroupARN: 'arn:aws:logs:eu-central-1:123456789012:log-group:a', auth: role },
  })

type Needs = SpecCase['needs']

const ssh = sshKeys
const sshAuthority: Needs = (name) => [manifest('SSHCertificateAuthority', `${name}-authority`, {})]
const signedBy = (name: string) => ({ sshCertificateAuthorityRef: { name: `${name}-authority` } })
const validity = { validAfter: '2026-01-01T02:00:00.5+02:00', validUntil: '2099-12-31T23:59:59.999Z' }

const openPolicy: Needs = (name) => [manifest('IPPolicy', `${name}-policy`, { rulesSource: 'IPPolicyRules' })]
const rule = (cidr: string) => (name: string) => ({ ipPolicyRef: { name: `${name}-policy` }, cidr, action: 'Allow' })

function specCase(
  kind: string,
  title: string,
  spec: (name: string) => Record<string, unknown>,
  needs: Needs = () => [],
): SpecCase {
  return { kind, title, spec, needs }
}

const edgeModules = (name: string) => ({
  backend: { enabled: true, name: `${name}-backend` },
  ipRestriction: { ipPolicyRefs: [{ name: `${name}-policy` }] },
  trafficPolicy: {
    inbound: [
      {
        name: 'no-old-clients',
        expressions: ['conn.tls.version == "1.0"'],
        actions: [{ type: 'deny', config: { reason: 'outdated' } }],
      },
    ],
    outbound: [{ name: 'log', actions: [{ type: 'log' }] }],
  },
})

const edgeNeeds: Needs = (name) => [
  tunnels(`${name}-backend`),
  policy(`${name}-policy`),
  domain(`${name}-domain`),
  domain(`${name}-wildcard`, '*.'),
  manifest('ReservedAddress', `${name}-address`, {}),
]

/** Valid specs of every managed kind. The first two of a kind are `minimal` and `full`. */
const specCases: readonly SpecCase[] = [
  specCase('IPPolicy', 'minimal', () => ({ rules: RULES.slice(0, 1) })),
  specCase('IPPolicy', 'full', (name) => ({ ...worded(name), rules: RULES, allowEmpty: true })),

  specCase('IPPolicy', 'with rules from elsewhere', () => ({ rulesSource: 'IPPolicyRules' })),

  specCase('IPPolicyRule', 'minimal', rule('10.0.0.0/8'), openPolicy),
  specCase('IPPolicyRule', 'full', (name) => ({ ...worded(name), ...rule('2001:db8::/32')(name) }), openPolicy),

  specCase(
    'IPRestriction',
    'minimal',
    (name) => ({ type: 'Dashboard', ipPolicyRefs: [{ name: `${name}-a` }] }),
    (name) => [policy(`${name}-a`)],
  ),
  specCase(
    'IPRestriction',
    'full',
    (name) => ({
      ...described(name),
      type: 'Agent',
      enforcement: 'Enforce',
      ipPolicyRefs: [{ name: `${name}-a` }, { name: `${name}-b` }],
      acknowledgeAPIRestriction: true,
    }),
    (name) => [policy(`${name}-a`), policy(`${name}-b`)],
  ),

  specCase('Backend', 'minimal', () => ({ type: 'TunnelGroup', tunnelGroup: {} })),
  specCase('Backend', 'full', (name) => ({
    ...described(name),
    type: 'HTTPResponse',
    httpResponse: { body: 'closed', headers: { 'X-Reason': 'night' }, statusCode: 503 },
  })),
  specCase('Backend', 'labels', () => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })),
  specCase(
    'Backend',
    'weighted',
    (name) => ({
      type: 'Weighted',
      weighted: {
        backendRefs: [
          { name: `${name}-blue`, weight: 9000 },
          { name: `${name}-green`, weight: 0 },
        ],
      },
    }),
    (name) => [tunnels(`${name}-blue`), tunnels(`${name}-green`)],
  ),
  specCase(
    'Backend',
    'failover',
    (name) => ({
      type: 'Failover',
      failover: { backendRefs: [{ name: `${name}-first` }, { name: `${name}-second` }] },
    }),
    (name) => [tunnels(`${name}-first`), tunnels(`${name}-second`)],
  ),

  specCase('Edge', 'minimal', () => ({ protocol: 'TCP' })),
  specCase(
    'Edge',
    'full',
    (name) => ({
      ...worded(name),
      protocol: 'TLS',
      hostports: [
        { type: 'Host', host: `a.${name}-wildcard.tunnel.example`, port: 443 },
        { type: 'ReservedDomain', reservedDomainRef: { name: `${name}-domain` }, port: 8443 },
        { type: 'ReservedAddress', reservedAddressRef: { name: `${name}-address` } },
      ],
      ...edgeModules(name),
      mutualTLS: { enabled: true, certificateAuthorityRefs: [{ id: 'ca_specs1' }, { id: 'ca_specs2' }] },
      tlsTermination: { enabled: true, terminateAt: 'Edge', minVersion: '1.2' },
    }),
    edgeNeeds,
  ),
  specCase(
    'Edge',
    'TCP with its modules',
    (name) => ({
      protocol: 'TCP',
      hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: `${name}-address` } }],
      ...edgeModules(name),
    }),
    edgeNeeds,
  ),

  specCase('ReservedDomain', 'minimal', (name) => ({ domain: `${name}.tunnel.example` })),
  specCase('ReservedDomain', 'full', (name) => ({
    ...worded(name),
    domain: `${name}.tunnel.example`,
    region: 'eu',
    certificate: { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'ECDSA' } },
    httpEndpointConfigurationRef: { id: 'ec_specs1' },
    httpsEndpointConfigurationRef: { id: 'ec_specs2' },
  })),
  specCase('ReservedDomain', 'with an uploaded certificate', (name) => ({
    domain: `*.${name}.tunnel.example`,
    certificate: { type: 'Uploaded', uploaded: { id: 'cert_specs' } },
  })),

  specCase('ReservedAddress', 'minimal', () => ({})),
  specCase('ReservedAddress', 'full', (name) => ({
    ...worded(name),
    region: 'eu',
    endpointConfigurationRef: { id: 'ec_specs1' },
  })),

  specCase('AgentIngress', 'minimal', (name) => ({ domain: `${name}.tunnel.example` })),
  specCase('AgentIngress', 'full', (name) => ({
    ...worded(name),
    domain: `${name}.tunnel.example`,
    certificate: { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'ECDSA' } },
  })),

  specCase('BotUser', 'minimal', (name) => ({ displayName: `bot of ${name}` })),
  specCase('BotUser', 'full', (name) => ({ displayName: `bot of ${name}`, active: false })),

  specCase('APIKey', 'minimal', () => ({})),
  specCase(
    'APIKey',
    'full',
    (name) => ({
      ...worded(name),
      owner: { botUserRef: { name: `${name}-bot` } },
      output: {
        secret: {
          name: `${name}-secret`,
          key: 'api-key',
          labels: { team: 'shop' },
          annotations: { 'reflector.example.com/reflects': 'true' },
        },
      },
    }),
    (name) => [manifest('BotUser', `${name}-bot`, { displayName: `bot of ${name}` })],
  ),

  specCase('TunnelCredential', 'minimal', () => ({})),
  specCase(
    'TunnelCredential',
    'full',
    (name) => ({
      ...worded(name),
      acl: ['bind:*.tunnel.example', 'bind:1.tcp.tunnel.example:20000', 'bind:app=*'],
      owner: { botUserRef: { name: `${name}-bot` } },
      output: { secret: { name: `${name}-secret`, key: 'authtoken' } },
    }),
    (name) => [manifest('BotUser', `${name}-bot`, { displayName: `bot of ${name}` })],
  ),

  specCase('CertificateAuthority', 'minimal', () => ({ caPEM: caPem })),
  specCase('CertificateAuthority', 'full', (name) => ({ ...worded(name), caPEM: partnerCaPem })),
  specCase('CertificateAuthority', 'from a Secret', () => ({ caPEMFrom: { secretKeyRef: secretKeyRef('caPEM') } })),
  specCase('CertificateAuthority', 'from a ConfigMap', () => ({
    caPEMFrom: { configMapKeyRef: { name: CONFIG_MAP.name, key: 'caPEM' } },
  })),

  specCase('SSHCertificateAuthority', 'minimal', () => ({})),
  specCase('SSHCertificateAuthority', 'full', (name) => ({
    ...described(name),
    privateKeyType: 'ECDSA',
    ellipticCurve: 'P-384',
  })),
  specCase('SSHCertificateAuthority', 'published', (name) => ({
    output: { configMap: { name: `${name}-authority` } },
  })),
  specCase('SSHCertificateAuthority', 'RSA', () => ({ privateKeyType: 'RSA', keySize: 2048 })),

  specCase('SSHCredential', 'minimal', () => ({ publicKey: ssh.ed25519 })),
  specCase(
    'SSHCredential',
    'full',
    (name) => ({
      ...worded(name),
      publicKey: `${ssh.ecdsa384}\n`,
      acl: ['bind:*.tunnel.example', 'bind:App=*'],
      owner: { botUserRef: { name: `${name}-bot` } },
    }),
    (name) => [manifest('BotUser', `${name}-bot`, { displayName: `bot of ${name}` })],
  ),
  specCase('SSHCredential', 'from a Secret', () => ({ publicKeyFrom: { secretKeyRef: secretKeyRef('publicKey') } })),

  specCase(
    'SSHUserCertificate',
    'minimal',
    (name) => ({ ...signedBy(name), publicKey: ssh.ed25519, principals: ['alice'] }),
    sshAuthority,
  ),
  specCase(
    'SSHUserCertificate',
    'full',
    (name) => ({
      ...described(name),
      ...signedBy(name),
      publicKey: `${ssh.ecdsa256}\n`,
      principals: ['deploy', 'alice'],
      anyPrincipal: false,
      criticalOptions: { forceCommand: 'uptime -p', sourceAddresses: ['198.51.100.0/24', '192.0.2.7/32'] },
      extensions: { 'permit-pty': '', 'login@example.com': 'alice' },
      ...validity,
      output: { secret: { name: `${name}-certificate` } },
    }),
    sshAuthority,
  ),
  specCase(
    'SSHUserCertificate',
    'of a key in a ConfigMap, for any user',
    (name) => ({
      ...signedBy(name),
      publicKeyFrom: { configMapKeyRef: { name: CONFIG_MAP.name, key: 'publicKey' } },
      anyPrincipal: true,
      extensions: {},
      validFor: '1h30m',
      output: { configMap: { name: `${name}-certificate` } },
    }),
    sshAuthority,
  ),

  specCase(
    'SSHHostCertificate',
    'minimal',
    (name) => ({ ...signedBy(name), publicKey: ssh.ed25519, principals: ['a.example.com'] }),
    sshAuthority,
  ),
  specCase(
    'SSHHostCertificate',
    'full',
    (name) => ({
      ...worded(name),
      ...signedBy(name),
      publicKey: ssh.ecdsa521,
      principals: ['b.example.com', 'a.example.com', '2001:db8::1'],
      anyPrincipal: false,
      ...validity,
      output: { secret: { name: `${name}-certificate` } },
    }),
    sshAuthority,
  ),
  specCase(
    'SSHHostCertificate',
    'for any host, into a ConfigMap',
    (name) => ({
      ...signedBy(name),
      publicKeyFrom: { secretKeyRef: secretKeyRef('publicKey') },
      anyPrincipal: true,
      validFor: '720h',
      output: { configMap: { name: `${name}-certificate` } },
    }),
    sshAuthority,
  ),

  specCase('EventDestination', 'minimal', (name) => destination(name).spec),
  specCase('EventDestination', 'full', (name) => ({
    ...worded(name),
    format: 'JSON',
    type: 'Firehose',
    firehose: { deliveryStreamARN: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a', auth: accessKey },
  })),
  specCase('EventDestination', 'stream', () => ({
    type: 'Kinesis',
    kinesis: { streamARN: 'arn:aws:kinesis:eu-central-1:123456789012:stream/a', auth: role },
  })),
  specCase('EventDestination', 'monitor', () => ({
    type: 'Monitor',
    monitor: { apiKeySecretRef: secretKeyRef('apiKey'), tags: 'team:edge', service: 'shop', site: 'eu.example.com' },
  })),

  specCase(
    'EventSubscription',
    'minimal',
    (name) => ({ sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: `${name}-a` }] }),
    (name) => [destination(`${name}-a`)],
  ),
  specCase(
    'EventSubscription',
    'full',
    (name) => ({
      ...described(name),
      sources: [{ type: 'ip_policy_created.v0' }, { type: 'tls_edge_updated.v0' }],
      destinationRefs: [{ name: `${name}-a` }, { name: `${name}-b` }],
    }),
    (name) => [destination(`${name}-a`), destination(`${name}-b`)],
  ),
]

/**
 * Every spec of a kind, `minimal` and `full` first. @throws Error for a kind without specs: each managed kind needs its
 * specs here
 */
export function specsOf(kind: string): readonly SpecCase[] {
  const found = specCases.filter((entry) => entry.kind === kind)
  const [first, second] = found
  if (first?.title !== 'minimal' || second?.title !== 'full') {
    throw new Error(`give ${kind} a minimal and a full spec in test/builders/specs.ts`)
  }
  return found
}
