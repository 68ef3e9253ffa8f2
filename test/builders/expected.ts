import { expect } from 'vitest'
import { caFacts, caPem, partnerCaFacts, partnerCaPem } from './contract/ca-pem.ts'
import { sshKeys } from './contract/ssh-keys.ts'

type Body = Readonly<Record<string, unknown>>

/** Values that an expectation may use. */
export interface Surrounding {
  /** Name of the CR. */
  readonly name: string
  /** Id of the object of another CR. */
  id(kind: string, name: string): string
  /** Address of a reserved address. */
  addr(name: string): string
  /** The user that the account's key belongs to. */
  readonly ownUser: string
}

/** The object that the API should return for a spec: every field, and no other. Written from `management-api.md`. */
export type Expected = (around: Surrounding) => Body

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
const some = expect.any(String)
/** The metadata of an object whose spec has none of its own (`docs/decisions`). */
const mark = expect.stringMatching(/^\{"culvert":\{[^{}]*\}\}$/)
/** The same with the spec's own keys, in their order. */
const markBeside = (text: string) => expect.stringMatching(new RegExp(`^\\{"culvert":\\{[^{}]*\\},${text}\\}$`))

/** A reference to an object, by its id. */
export function refTo(id: unknown): Body {
  return { id, uri: expect.stringMatching(new RegExp(`/${String(id)}$`)) }
}

const seeded = (id: string): Body => ({ id, uri: some })
const named = { id: some, uri: some, created_at: time }
const bare = { ...named, description: '', metadata: mark }
const described = (name: string): Body => ({
  ...named,
  description: `made for ${name}`,
  metadata: markBeside(`"1st":"é\\\\"","made":"for ${name}"`),
})
const worded = (name: string): Body => ({ ...described(name), metadata: `{"made":"for ${name}"}` })

const noModules = { backend: null, ip_restriction: null, policy: null }
const modules = ({ id, name }: Surrounding): Body => ({
  backend: { enabled: true, backend: refTo(id('Backend', `${name}-backend`)) },
  ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', `${name}-policy`))] },
  policy: {
    enabled: true,
    inbound: [
      {
        name: 'no-old-clients',
        expressions: ['conn.tls.version == "1.0"'],
        actions: [{ type: 'deny', config: { reason: 'outdated' } }],
      },
    ],
    outbound: [{ name: 'log', expressions: [], actions: [{ type: 'log', config: {} }] }],
  },
})

const domain = {
  region: null,
  cname_target: null,
  acme_challenge_cname_target: null,
  certificate: null,
  certificate_management_policy: null,
  certificate_management_status: null,
  http_endpoint_configuration: null,
  https_endpoint_configuration: null,
}
const ecdsaPolicy = { authority: 'letsencrypt', private_key_type: 'ecdsa' }
const issued = { renews_at: time, provisioning_job: null }

const ingress = ({ name }: Surrounding): Body => ({
  domain: `${name}.tunnel.example`,
  ns_targets: [],
  region_domains: ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'].map((region) => `${region}.${name}.tunnel.example`),
})

const opensshLine = (type: string) => expect.stringMatching(new RegExp(`^${type} [A-Za-z0-9+/=]+$`))
const certificateLine = (type: string) =>
  expect.stringMatching(new RegExp(`^${type}-cert-v01@openssh\\.com [A-Za-z0-9+/=]+`))
const signedBy = ({ id, name }: Surrounding): Body => ({
  ssh_certificate_authority_id: id('SSHCertificateAuthority', `${name}-authority`),
})
const issuedNow = { valid_after: time, valid_until: time }
/** The times of the spec as UTC in whole seconds. */
const fixedTimes = { valid_after: '2026-01-01T00:00:00Z', valid_until: '2099-12-31T23:59:59Z' }

const noTarget = { firehose: null, kinesis: null, cloudwatch_logs: null, monitor: null }
const roleAuth = { role: { role_arn: 'arn:aws:iam::123456789012:role/events' }, creds: null }

/** By `Kind title` of the specs in `specs.ts`. */
const objects: Readonly<Record<string, Expected>> = {
  'IPPolicy minimal': () => bare,
  'IPPolicy full': ({ name }) => worded(name),
  'IPPolicy with rules from elsewhere': () => bare,

  'IPPolicyRule minimal': ({ id, name }) => ({
    ...bare,
    cidr: '10.0.0.0/8',
    action: 'allow',
    ip_policy: refTo(id('IPPolicy', `${name}-policy`)),
  }),
  'IPPolicyRule full': ({ id, name }) => ({
    ...worded(name),
    cidr: '2001:db8::/32',
    action: 'allow',
    ip_policy: refTo(id('IPPolicy', `${name}-policy`)),
  }),

  'IPRestriction minimal': ({ id, name }) => ({
    ...bare,
    type: 'dashboard',
    enforced: false,
    ip_policies: [refTo(id('IPPolicy', `${name}-a`))],
  }),
  'IPRestriction full': ({ id, name }) => ({
    ...described(name),
    type: 'agent',
    enforced: true,
    ip_policies: [refTo(id('IPPolicy', `${name}-a`)), refTo(id('IPPolicy', `${name}-b`))],
  }),

  'Backend minimal': () => ({ ...bare, labels: {}, tunnels: [] }),
  'Backend full': ({ name }) => ({
    ...described(name),
    body: 'closed',
    headers: { 'x-reason': 'night' },
    status_code: 503,
  }),
  'Backend labels': () => ({ ...bare, labels: { app: 'shop' }, tunnels: [] }),
  'Backend weighted': ({ id, name }) => ({
    ...bare,
    backends: { [id('Backend', `${name}-blue`)]: 9000, [id('Backend', `${name}-green`)]: 0 },
  }),
  'Backend failover': ({ id, name }) => ({
    ...bare,
    backends: [id('Backend', `${name}-first`), id('Backend', `${name}-second`)],
  }),

  'Edge minimal': () => ({ ...bare, hostports: [], ...noModules }),
  'Edge full': (around) => ({
    ...worded(around.name),
    hostports: [
      `a.${around.name}-wildcard.tunnel.example:443`,
      `${around.name}-domain.tunnel.example:8443`,
      around.addr(`${around.name}-address`),
    ],
    ...modules(around),
    mutual_tls: { enabled: true, certificate_authorities: [seeded('ca_specs1'), seeded('ca_specs2')] },
    tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
  }),
  'Edge TCP with its modules': (around) => ({
    ...bare,
    hostports: [around.addr(`${around.name}-address`)],
    ...modules(around),
  }),

  'ReservedDomain minimal': ({ name }) => ({ ...bare, ...domain, domain: `${name}.tunnel.example` }),
  'ReservedDomain full': ({ name }) => ({
    ...worded(name),
    ...domain,
    domain: `${name}.tunnel.example`,
    region: 'eu',
    certificate: { id: expect.stringMatching(/^cert_|^\d{59}$|^[0-9a-f-]{36}$/), uri: some },
    certificate_management_policy: ecdsaPolicy,
    certificate_management_status: issued,
    http_endpoint_configuration: seeded('ec_specs1'),
    https_endpoint_configuration: seeded('ec_specs2'),
  }),
  'ReservedDomain with an uploaded certificate': ({ name }) => ({
    ...bare,
    ...domain,
    domain: `*.${name}.tunnel.example`,
    certificate: seeded('cert_specs'),
  }),

  'ReservedAddress minimal': () => ({
    ...bare,
    addr: expect.stringMatching(/^[\w.-]+:\d+$/),
    region: 'us',
    endpoint_configuration: null,
  }),
  'ReservedAddress full': ({ name }) => ({
    ...worded(name),
    addr: expect.stringMatching(/^[\w.-]+:\d+$/),
    region: 'eu',
    endpoint_configuration: seeded('ec_specs1'),
  }),

  'AgentIngress minimal': (around) => ({
    ...bare,
    ...ingress(around),
    certificate_management_policy: null,
    certificate_management_status: null,
  }),
  'AgentIngress full': (around) => ({
    ...worded(around.name),
    ...ingress(around),
    certificate_management_policy: ecdsaPolicy,
    certificate_management_status: issued,
  }),

  'BotUser minimal': ({ name }) => ({ ...named, name: `bot of ${name}`, active: true }),
  'BotUser full': ({ name }) => ({ ...named, name: `bot of ${name}`, active: false }),

  'APIKey minimal': ({ ownUser }) => ({ ...bare, token: null, owner_id: ownUser }),
  'APIKey full': ({ id, name }) => ({ ...worded(name), token: null, owner_id: id('BotUser', `${name}-bot`) }),

  'TunnelCredential minimal': ({ ownUser }) => ({ ...bare, token: null, acl: [], owner_id: ownUser }),
  'TunnelCredential full': ({ id, name }) => ({
    ...worded(name),
    token: null,
    acl: ['bind:*.tunnel.example', 'bind:1.tcp.tunnel.example:20000', 'bind:app=*'],
    owner_id: id('BotUser', `${name}-bot`),
  }),

  'CertificateAuthority minimal': () => ({ ...bare, ca_pem: caPem, ...caFacts }),
  'CertificateAuthority full': ({ name }) => ({ ...worded(name), ca_pem: partnerCaPem, ...partnerCaFacts }),
  'CertificateAuthority from a Secret': () => ({ ...bare, ca_pem: caPem, ...caFacts }),
  'CertificateAuthority from a ConfigMap': () => ({ ...bare, ca_pem: partnerCaPem, ...partnerCaFacts }),

  'SSHCertificateAuthority minimal': () => ({ ...bare, public_key: opensshLine('ssh-ed25519'), key_type: 'ed25519' }),
  'SSHCertificateAuthority full': ({ name }) => ({
    ...described(name),
    public_key: opensshLine('ecdsa-sha2-nistp384'),
    key_type: 'ecdsa',
  }),
  'SSHCertificateAuthority published': () => ({ ...bare, public_key: opensshLine('ssh-ed25519'), key_type: 'ed25519' }),
  'SSHCertificateAuthority RSA': () => ({ ...bare, public_key: opensshLine('ssh-rsa'), key_type: 'rsa' }),

  'SSHCredential minimal': ({ ownUser }) => ({ ...bare, public_key: sshKeys.ed25519, acl: [], owner_id: ownUser }),
  'SSHCredential full': ({ id, name }) => ({
    ...worded(name),
    public_key: sshKeys.ecdsa384,
    acl: ['bind:*.tunnel.example', 'bind:App=*'],
    owner_id: id('BotUser', `${name}-bot`),
  }),
  'SSHCredential from a Secret': ({ ownUser }) => ({ ...bare, public_key: sshKeys.rsa, acl: [], owner_id: ownUser }),

  'SSHUserCertificate minimal': (around) => ({
    ...bare,
    ...signedBy(around),
    public_key: sshKeys.ed25519,
    key_type: 'ed25519',
    principals: ['alice'],
    critical_options: {},
    extensions: { 'permit-pty': '', 'permit-user-rc': '' },
    ...issuedNow,
    certificate: certificateLine('ssh-ed25519'),
  }),
  'SSHUserCertificate full': (around) => ({
    ...described(around.name),
    ...signedBy(around),
    public_key: sshKeys.ecdsa256,
    key_type: 'ecdsa',
    principals: ['deploy', 'alice'],
    critical_options: { 'force-command': 'uptime -p', 'source-address': '198.51.100.0/24,192.0.2.7/32' },
    extensions: { 'permit-pty': '', 'login@example.com': 'alice' },
    ...fixedTimes,
    certificate: certificateLine('ecdsa-sha2-nistp256'),
  }),
  'SSHUserCertificate of a key in a ConfigMap, for any user': (around) => ({
    ...bare,
    ...signedBy(around),
    public_key: sshKeys.ecdsa521,
    key_type: 'ecdsa',
    principals: [],
    critical_options: {},
    extensions: {},
    ...issuedNow,
    certificate: certificateLine('ecdsa-sha2-nistp521'),
  }),

  'SSHHostCertificate minimal': (around) => ({
    ...bare,
    ...signedBy(around),
    public_key: sshKeys.ed25519,
    key_type: 'ed25519',
    principals: ['a.example.com'],
    ...issuedNow,
    certificate: certificateLine('ssh-ed25519'),
  }),
  'SSHHostCertificate full': (around) => ({
    ...worded(around.name),
    ...signedBy(around),
    public_key: sshKeys.ecdsa521,
    key_type: 'ecdsa',
    principals: ['b.example.com', 'a.example.com', '2001:db8::1'],
    ...fixedTimes,
    certificate: certificateLine('ecdsa-sha2-nistp521'),
  }),
  'SSHHostCertificate for any host, into a ConfigMap': (around) => ({
    ...bare,
    ...signedBy(around),
    public_key: sshKeys.rsa,
    key_type: 'rsa',
    principals: [],
    ...issuedNow,
    certificate: certificateLine('ssh-rsa'),
  }),

  'EventDestination minimal': () => ({
    ...bare,
    format: 'json',
    target: {
      ...noTarget,
      cloudwatch_logs: {
        auth: roleAuth,
        log_group_arn: 'arn:aws:logs:eu-central-1:123456789012:log-group:a',
      },
    },
  }),
  'EventDestination full': ({ name }) => ({
    ...worded(name),
    format: 'json',
    target: {
      ...noTarget,
      firehose: {
        auth: { role: null, creds: { cloud_access_key_id: 'id-1', cloud_secret_access_key: null } },
        delivery_stream_arn: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a',
      },
    },
  }),
  'EventDestination stream': () => ({
    ...bare,
    format: 'json',
    target: {
      ...noTarget,
      kinesis: { auth: roleAuth, stream_arn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/a' },
    },
  }),
  'EventDestination monitor': () => ({
    ...bare,
    format: 'json',
    target: {
      ...noTarget,
      monitor: { api_key: null, monitortags: 'team:edge', service: 'shop', monitorsite: 'eu.example.com' },
    },
  }),

  'EventSubscription minimal': ({ id, name }) => ({
    ...bare,
    sources: [{ type: 'ip_policy_created.v0', uri: expect.stringMatching(/\/sources\/ip_policy_created\.v0$/) }],
    destinations: [refTo(id('EventDestination', `${name}-a`))],
  }),
  'EventSubscription full': ({ id, name }) => ({
    ...described(name),
    sources: ['ip_policy_created.v0', 'tls_edge_updated.v0'].map((type) => ({
      type,
      uri: expect.stringMatching(new RegExp(`/sources/${type}$`)),
    })),
    destinations: [refTo(id('EventDestination', `${name}-a`)), refTo(id('EventDestination', `${name}-b`))],
  }),
}

const rule = (cidr: string, action: string, more: Body = {}): Body => ({
  cidr,
  action,
  description: '',
  metadata: mark,
  ...more,
})

/** Rules of policies that declare their own, in the order of the specs: the identifying fields. */
const rules: Readonly<Record<string, readonly Body[]>> = {
  'IPPolicy minimal': [rule('198.51.100.0/24', 'allow', { description: 'the office' })],
  'IPPolicy full': [
    rule('198.51.100.0/24', 'allow', { description: 'the office' }),
    rule('198.51.100.77/32', 'deny', { metadata: markBeside('"ticket":"7"') }),
    rule('2001:db8:40::/48', 'allow'),
  ],
}

/** Values that the API stores and does not show, by their path in the store. */
const hidden: Readonly<Record<string, readonly (readonly [path: string, value: string])[]>> = {
  'EventDestination full': [['target.firehose.auth.creds.cloud_secret_access_key', 's-1']],
  'EventDestination monitor': [['target.monitor.api_key', 'key-1']],
}

/** @throws Error for a spec without an expectation: each spec needs one here. */
export function expectedOf(kind: string, title: string): Expected {
  const found = objects[`${kind} ${title}`]
  if (found === undefined) throw new Error(`write down the object of ${kind} ${title} in test/builders/expected.ts`)
  return found
}

/** The rules that a policy should have; none for other kinds. */
export function expectedRules(kind: string, title: string): readonly Body[] {
  return rules[`${kind} ${title}`] ?? []
}

export function hiddenValues(kind: string, title: string): readonly (readonly [path: string, value: string])[] {
  return hidden[`${kind} ${title}`] ?? []
}

/** `Kind title` of every expectation. */
export const expectations: readonly string[] = Object.keys(objects)
