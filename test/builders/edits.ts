import { expect } from 'vitest'
import { caFacts, caPem, partnerCaFacts, partnerCaPem } from './contract/ca-pem.ts'
import { sshKeys } from './contract/ssh-keys.ts'
import { refTo } from './expected.ts'
import { CONFIG_MAP, type Manifest, SECRET } from './specs.ts'

type Body = Readonly<Record<string, unknown>>
type IdOf = (kind: string, name: string) => string

/** One edit of a spec, and what it comes to at the API. */
export interface Edit {
  /** Fields of the spec with their new values; undefined takes one out. */
  readonly spec: Body
  /** Fields of the one PATCH that it takes; none: no request at all. `another object`: one takes the place of this one. */
  readonly sends: readonly string[] | 'another object'
  /** Fields of the object that differ afterwards; the others stay as they are. */
  readonly object?: (id: IdOf) => Body
  /** The rules that a policy has afterwards, where they differ: range, action, description and metadata. */
  readonly rules?: readonly Body[]
}

/** Edits of one CR, each on top of the one before. */
export interface EditStory {
  readonly kind: string
  /** What is special about the CR; also its name. */
  readonly title: string
  readonly base: Body
  readonly edits: readonly Edit[]
}

/** CRs that the stories refer to, in an order in which each follows what it refers to itself. */
export const EDIT_NEEDS: readonly Manifest[] = [
  ...['blue', 'green'].map((name) => need('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })),
  ...['office', 'home'].map((name) => need('IPPolicy', name, { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] })),
  need('IPPolicy', 'open', { rulesFrom: 'IPPolicyRules' }),
  need('ReservedDomain', 'shop', { domain: 'edit-shop.tunnel.example' }),
  need('ReservedDomain', 'wild', { domain: '*.edit-wild.tunnel.example' }),
  need('ReservedAddress', 'address', {}),
  ...['team', 'other'].map((name) => need('SSHCertificateAuthority', name, {})),
  ...['log', 'archive'].map((name) =>
    need('EventDestination', name, { kinesis: { streamARN: 'arn:a', auth: { role: { roleARN: 'arn:b' } } } }),
  ),
]

function need(kind: string, name: string, spec: Record<string, unknown>): Manifest {
  return { kind, name, spec }
}

/** A change that one PATCH of that field carries out. */
function patch(field: string, spec: Body, object: Body | ((id: IdOf) => Body)): Edit {
  return { spec, sends: [field], object: given(object) }
}

function given(object: Body | ((id: IdOf) => Body)): (id: IdOf) => Body {
  return typeof object === 'function' ? (object as (id: IdOf) => Body) : () => object
}

/** A change of which the API hears nothing. */
function quiet(...specs: readonly Body[]): readonly Edit[] {
  return specs.map((spec) => ({ spec, sends: [] }))
}

function another(spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit {
  return { spec, sends: 'another object', object: given(object) }
}

const mark = expect.stringMatching(/^\{"culvert":/)

const texts: readonly Edit[] = [
  patch('description', { description: 'first' }, { description: 'first' }),
  patch('description', { description: 'second é' }, { description: 'second é' }),
  patch('description', { description: undefined }, { description: '' }),
  patch('metadata', { metadata: 'mine' }, { metadata: 'mine' }),
  patch('metadata', { metadata: '{"mine":2}' }, { metadata: '{"mine":2}' }),
  patch('metadata', { metadata: undefined }, { metadata: mark }),
]

const acl: readonly Edit[] = [
  patch('acl', { acl: ['bind:app=shop'] }, { acl: ['bind:app=shop'] }),
  patch(
    'acl',
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
  ),
  patch('acl', { acl: undefined }, { acl: ['*'] }),
]

const share = (name: string, weight: number) => ({ backendRef: { name }, weight })
const anyRule = { enabled: true, inbound: [], outbound: [] }
const sets = (values: readonly unknown[]) => expect.arrayContaining([...values])

const policyRule = (name: string | null, expressions: readonly string[], actions: readonly Body[]) => ({
  ...(name === null ? {} : { name }),
  ...(expressions.length === 0 ? {} : { expressions }),
  ...(actions.length === 0 ? {} : { actions }),
})
const shownRule = (name: string | null, expressions: readonly string[], actions: readonly Body[]) => ({
  name,
  expressions,
  actions: actions.map((action) => ({ config: {}, ...action })),
})
const deny = [{ type: 'deny' }]
const log = [{ type: 'log', config: { level: 'info' } }]

/** Edits of the modules that both protocols have. A module that is disabled keeps no references. */
const commonModules: readonly Edit[] = [
  patch('backend', { backend: { backendRef: { name: 'blue' } } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'blue')) },
  })),
  patch('backend', { backend: { backendRef: { name: 'green' } } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'green')) },
  })),
  patch(
    'backend',
    { backend: { enabled: false, backendRef: { name: 'green' } } },
    { backend: { enabled: false, backend: null } },
  ),
  ...quiet({ backend: { enabled: false } }),
  patch('backend', { backend: { enabled: true, backendRef: { name: 'green' } } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'green')) },
  })),
  ...quiet({ backend: { backendRef: { name: 'green' } } }),
  patch('backend', { backend: undefined }, { backend: { enabled: false, backend: null } }),

  patch('ip_restriction', { ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', 'office'))] },
  })),
  patch('ip_restriction', { ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { name: 'home' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: sets(['office', 'home'].map((name) => refTo(id('IPPolicy', name)))) },
  })),
  ...quiet({ ipRestriction: { ipPolicyRefs: [{ name: 'home' }, { name: 'office' }] } }),
  patch(
    'ip_restriction',
    { ipRestriction: { enabled: false } },
    { ip_restriction: { enabled: false, ip_policies: [] } },
  ),
  patch('ip_restriction', { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: 'home' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', 'home'))] },
  })),
  ...quiet({ ipRestriction: { ipPolicyRefs: [{ name: 'home' }] } }),
  patch('ip_restriction', { ipRestriction: undefined }, { ip_restriction: { enabled: false, ip_policies: [] } }),

  patch(
    'policy',
    { policy: { inbound: [policyRule('a', [], deny)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('a', [], deny)] },
    },
  ),
  patch(
    'policy',
    { policy: { inbound: [policyRule('a', ['1 < 2'], log)], outbound: [policyRule('b', [], deny)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('a', ['1 < 2'], log)], outbound: [shownRule('b', [], deny)] },
    },
  ),
  patch(
    'policy',
    { policy: { inbound: [policyRule('c', [], [])], outbound: [policyRule('b', ['true'], log)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('c', [], [])], outbound: [shownRule('b', ['true'], log)] },
    },
  ),
  patch(
    'policy',
    { policy: { outbound: [policyRule(null, ['true'], [])] } },
    {
      policy: { ...anyRule, outbound: [shownRule(null, ['true'], [])] },
    },
  ),
  patch('policy', { policy: { enabled: false, inbound: [policyRule('c', [], deny)] } }, { policy: disabledPolicy() }),
  patch('policy', { policy: { enabled: true } }, { policy: anyRule }),
  ...quiet({ policy: {} }),
  patch('policy', { policy: undefined }, { policy: disabledPolicy() }),
]

function disabledPolicy(): Body {
  return { enabled: false, inbound: [], outbound: [] }
}

const tlsModules: readonly Edit[] = [
  patch(
    'tls_termination',
    { tlsTermination: { minVersion: '1.2' } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { terminateAt: 'Edge', minVersion: '1.3' } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { terminateAt: 'Upstream' } },
    {
      tls_termination: { enabled: true, terminate_at: 'upstream', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: {} },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { enabled: false } },
    {
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { enabled: true } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: null },
    },
  ),
  ...quiet({ tlsTermination: {} }),
  patch(
    'tls_termination',
    { tlsTermination: undefined },
    {
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs1' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs1')] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs2' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs2')] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { enabled: false } },
    {
      mutual_tls: { enabled: false, certificate_authorities: [] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { enabled: true, certificateAuthorityRefs: [{ id: 'ca_specs2' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs2')] },
    },
  ),
  ...quiet({ mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs2' }] } }),
  patch('mutual_tls', { mutualTLS: undefined }, { mutual_tls: { enabled: false, certificate_authorities: [] } }),
]

const hostports: readonly Edit[] = [
  patch(
    'hostports',
    { hostports: [{ host: 'a.edit-wild.tunnel.example', port: 443 }, { reservedAddressRef: { name: 'address' } }] },
    { hostports: sets(['a.edit-wild.tunnel.example:443', expect.stringMatching(/:\d+$/)]) },
  ),
  patch(
    'hostports',
    { hostports: [{ reservedDomainRef: { name: 'shop' }, port: 8443 }] },
    {
      hostports: ['edit-shop.tunnel.example:8443'],
    },
  ),
  patch('hostports', { hostports: undefined }, { hostports: [] }),
]

const managedPolicy = (type: string): Body => ({
  certificate_management_policy: { authority: 'letsencrypt', private_key_type: type },
  // A certificate stays in use while another is issued.
  certificate_management_status: expect.any(Object),
})
const unmanaged = { certificate_management_policy: null, certificate_management_status: null }
const POLICY = 'certificate_management_policy'

/** Edits of a certificate policy; `shown` is what else the object then has, `gone` what it has afterwards. */
function certificatePolicy(cleared: readonly string[], shown: Body, gone: Body): readonly Edit[] {
  return [
    patch(POLICY, { certificateManagementPolicy: {} }, { ...managedPolicy('rsa'), ...shown }),
    {
      spec: { certificateManagementPolicy: { authority: 'LetsEncrypt', privateKeyType: 'RSA' } },
      sends: [],
      object: () => ({ ...managedPolicy('rsa'), ...shown }),
    },
    patch(
      POLICY,
      { certificateManagementPolicy: { privateKeyType: 'ECDSA' } },
      { ...managedPolicy('ecdsa'), ...shown },
    ),
    patch(POLICY, { certificateManagementPolicy: {} }, { ...managedPolicy('rsa'), ...shown }),
    { spec: { certificateManagementPolicy: undefined }, sends: cleared, object: () => ({ ...unmanaged, ...gone }) },
  ]
}

/** An id of an endpoint configuration: set, another one, none. */
function endpoint(field: string, name: string): readonly Edit[] {
  return [
    patch(`${name}_id`, { [field]: 'ec_specs1' }, { [name]: refTo('ec_specs1') }),
    patch(`${name}_id`, { [field]: 'ec_specs2' }, { [name]: refTo('ec_specs2') }),
    patch(`${name}_id`, { [field]: undefined }, { [name]: null }),
  ]
}

const fromSecret = (key: keyof typeof SECRET.values) => ({ secretKeyRef: { name: SECRET.name, key } })
const fromConfigMap = (key: keyof typeof CONFIG_MAP.values) => ({ configMapKeyRef: { name: CONFIG_MAP.name, key } })

/** Every way to another public key; `others` is what else a new object shows otherwise. */
function publicKeys(others: (type: string) => Body): readonly Edit[] {
  const key = (public_key: string, type: string): Body => ({ public_key, ...others(type) })
  return [
    another({ publicKey: sshKeys.ecdsa384 }, key(sshKeys.ecdsa384, 'ecdsa')),
    another({ publicKey: undefined, publicKeyFrom: fromSecret('publicKey') }, key(sshKeys.rsa, 'rsa')),
    another({ publicKeyFrom: fromSecret('otherPublicKey') }, key(sshKeys.ed25519, 'ed25519')),
    another({ publicKeyFrom: fromConfigMap('publicKey') }, key(sshKeys.ecdsa521, 'ecdsa')),
    another({ publicKeyFrom: fromConfigMap('otherPublicKey') }, key(sshKeys.ecdsa256, 'ecdsa')),
    another({ publicKey: sshKeys.ed25519, publicKeyFrom: undefined }, key(sshKeys.ed25519, 'ed25519')),
    // The comment is no part of the key.
    ...quiet({ publicKey: `${sshKeys.ed25519}\n` }),
  ]
}

const march = { valid_after: '2026-03-01T00:00:00Z' }
const signed = { certificate: expect.any(String), valid_after: expect.any(String), valid_until: expect.any(String) }
const again = (spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit =>
  another(spec, (id) => ({ ...signed, ...given(object)(id) }))

/** What both kinds of certificate have; any of it is signed anew, but for the place it goes to. */
const certificate: readonly Edit[] = [
  again({ sshCertificateAuthorityRef: { name: 'other' } }, (id) => ({
    ssh_certificate_authority_id: id('SSHCertificateAuthority', 'other'),
  })),
  ...publicKeys((key_type) => ({ key_type, ...signed })),
  again({ principals: undefined, anyPrincipal: true }, { principals: [] }),
  again({ principals: ['bob', 'alice'], anyPrincipal: false }, { principals: sets(['alice', 'bob']) }),
  ...quiet({ principals: ['alice', 'bob'], anyPrincipal: undefined }, { principals: ['bob', 'alice'] }),
  again({ validUntil: '2098-01-01T00:00:00Z' }, { valid_until: '2098-01-01T00:00:00Z' }),
  again(
    { validAfter: '2026-02-01T00:00:00Z' },
    { valid_after: '2026-02-01T00:00:00Z', valid_until: '2098-01-01T00:00:00Z' },
  ),
  again({ validAfter: '2026-03-01T02:00:00+02:00' }, { ...march, valid_until: '2098-01-01T00:00:00Z' }),
  ...quiet({ validAfter: '2026-03-01T00:00:00Z' }),
  again({ validUntil: '2099-01-01T00:00:00.9Z' }, { ...march, valid_until: '2099-01-01T00:00:00Z' }),
  again({ validUntil: undefined, validFor: '80000h' }, { ...march, valid_until: '2035-04-16T08:00:00Z' }),
  again({ validFor: '72000h' }, { ...march, valid_until: '2034-05-18T00:00:00Z' }),
  ...quiet({ validAfter: undefined }),
  again({ validFor: undefined }),
  ...quiet(
    { secretName: 'PLACE-a' },
    { secretName: 'PLACE-b' },
    { secretName: undefined, configMapName: 'PLACE-a' },
    { configMapName: 'PLACE-b' },
    { configMapName: undefined },
  ),
]

const ownExtensions: readonly Edit[] = [
  again({ criticalOptions: { forceCommand: 'uptime' } }, { critical_options: { 'force-command': 'uptime' } }),
  again(
    { criticalOptions: { forceCommand: 'who', sourceAddresses: ['192.0.2.0/24'] } },
    {
      critical_options: { 'force-command': 'who', 'source-address': '192.0.2.0/24' },
    },
  ),
  again(
    { criticalOptions: { sourceAddresses: ['192.0.2.0/24', '2001:db8::/32'] } },
    {
      critical_options: { 'source-address': '192.0.2.0/24,2001:db8::/32' },
    },
  ),
  again({ criticalOptions: {} }, { critical_options: {} }),
  ...quiet({ criticalOptions: undefined }),
  again({ extensions: {} }, { extensions: {} }),
  again({ extensions: { 'permit-pty': '' } }, { extensions: { 'permit-pty': '' } }),
  again({ extensions: undefined }, { extensions: { 'permit-pty': '', 'permit-user-rc': '' } }),
]

const noTarget = { firehose: null, kinesis: null, cloudwatch_logs: null, monitor: null }
const role = (name: string) => ({ role: { roleARN: `arn:role:${name}` } })
const keys = (id: string, key: string) => ({
  creds: {
    accessKeyIDSecretRef: { name: SECRET.name, key: id },
    secretAccessKeySecretRef: { name: SECRET.name, key },
  },
})
const shownRole = (name: string) => ({ role: { role_arn: `arn:role:${name}` }, creds: null })
const shownKeys = (id: string) => ({ role: null, creds: { cloud_access_key_id: id, cloud_secret_access_key: null } })

/** Edits of a target in a cloud; the member before, `other`, is taken out by the first. */
function cloudTarget(other: string, member: string, arn: string, shown: string, shownArn: string): readonly Edit[] {
  const spec = (name: string, auth: Body): Body => ({ [member]: { [arn]: `arn:${name}`, auth } })
  const target = (name: string, auth: Body): Body => ({
    target: { ...noTarget, [shown]: { [shownArn]: `arn:${name}`, auth } },
  })
  return [
    patch('target', { [other]: undefined, ...spec('a', role('a')) }, target('a', shownRole('a'))),
    patch('target', spec('b', role('a')), target('b', shownRole('a'))),
    patch('target', spec('b', role('b')), target('b', shownRole('b'))),
    patch('target', spec('b', keys('accessKeyID', 'secretAccessKey')), target('b', shownKeys('id-1'))),
    patch('target', spec('b', keys('apiKey', 'secretAccessKey')), target('b', shownKeys('key-1'))),
    patch('target', spec('b', keys('apiKey', 'accessKeyID')), target('b', shownKeys('key-1'))),
    patch('target', spec('b', role('b')), target('b', shownRole('b'))),
  ]
}

const monitor = (key: string, more: Body = {}): Body => ({
  monitor: { apiKeySecretRef: { name: SECRET.name, key }, ...more },
})
const shownMonitor = (monitortags: string | null, service: string | null, monitorsite: string | null): Body => ({
  target: { ...noTarget, monitor: { api_key: null, monitortags, service, monitorsite } },
})

const range = '198.51.100.0/24'
const held = (cidr: string, action: string, description = '', metadata: unknown = mark): Body => ({
  cidr,
  action,
  description,
  metadata,
})

/** Server-side apply makes null of an object from which it takes everything out (kubernetes/kubernetes#135841). */
const notEmpty = { deletionPolicy: 'Delete' }

/** The stories of every kind. A new field of a spec needs its edits here. */
export const editStories: readonly EditStory[] = [
  story('IPPolicy', 'policy', { rules: [{ cidr: range, action: 'allow' }] }, [
    ...texts,
    ...(
      [
        [[{ cidr: range, action: 'allow', description: 'one' }], [held(range, 'allow', 'one')]],
        [[{ cidr: range, action: 'allow', description: 'two', metadata: 'a' }], [held(range, 'allow', 'two', 'a')]],
        [[{ cidr: range, action: 'allow', metadata: 'b' }], [held(range, 'allow', '', 'b')]],
        [[{ cidr: range, action: 'deny' }], [held(range, 'deny')]],
        [
          [
            { cidr: range, action: 'deny' },
            { cidr: '2001:db8::/32', action: 'allow' },
          ],
          [held(range, 'deny'), held('2001:db8::/32', 'allow')],
        ],
        [[{ cidr: '10.0.0.0/8', action: 'allow' }], [held('10.0.0.0/8', 'allow')]],
      ] as const
    ).map(([rules, shown]): Edit => ({ spec: { rules }, sends: [], rules: shown })),
    ...quiet({ allowEmpty: false }, { allowEmpty: true }),
    { spec: { rules: undefined }, sends: [], rules: [] },
    ...quiet({ rulesFrom: 'IPPolicyRules', allowEmpty: undefined }),
    {
      spec: { rulesFrom: undefined, rules: [{ cidr: range, action: 'deny' }] },
      sends: [],
      rules: [held(range, 'deny')],
    },
  ]),
  story('IPPolicyRule', 'rule', { ipPolicyRef: { name: 'open' }, cidr: range, action: 'allow' }, [
    ...texts,
    patch('cidr', { cidr: '2001:db8:7::/48' }, { cidr: '2001:db8:7::/48' }),
    another({ action: 'deny' }, { action: 'deny' }),
  ]),
  story('IPRestriction', 'restriction', { type: 'endpoints', ipPolicyRefs: [{ name: 'office' }] }, [
    ...texts,
    patch('enforced', { enforced: true }, { enforced: true }),
    patch('enforced', { enforced: false }, { enforced: false }),
    ...quiet({ enforced: undefined }),
    patch('ip_policy_ids', { ipPolicyRefs: [{ name: 'home' }] }, (id) => ({
      ip_policies: [refTo(id('IPPolicy', 'home'))],
    })),
    ...quiet(
      { acknowledgeAPIRestriction: true },
      { acknowledgeAPIRestriction: false },
      { acknowledgeAPIRestriction: undefined },
    ),
  ]),
  story('Backend', 'group', { type: 'TunnelGroup', tunnelGroup: {} }, [
    ...texts,
    patch('labels', { tunnelGroup: { labels: { app: 'shop' } } }, { labels: { app: 'shop' } }),
    patch('labels', { tunnelGroup: { labels: { App: 'shop', tier: 'a' } } }, { labels: { App: 'shop', tier: 'a' } }),
    patch('labels', { tunnelGroup: {} }, { labels: {} }),
  ]),
  story('Backend', 'answer', { type: 'HTTPResponse', httpResponse: {} }, [
    ...texts,
    patch('body', { httpResponse: { body: 'closed' } }, { body: 'closed' }),
    patch('body', { httpResponse: { body: 'open' } }, { body: 'open' }),
    patch('body', { httpResponse: {} }, { body: '' }),
    patch('headers', { httpResponse: { headers: { 'X-A': '1' } } }, { headers: { 'x-a': '1' } }),
    patch('headers', { httpResponse: { headers: { 'X-A': '2', b: '3' } } }, { headers: { 'x-a': '2', b: '3' } }),
    patch('headers', { httpResponse: {} }, { headers: {} }),
    patch('status_code', { httpResponse: { statusCode: 503 } }, { status_code: 503 }),
    patch('status_code', { httpResponse: { statusCode: 404 } }, { status_code: 404 }),
    patch('status_code', { httpResponse: {} }, { status_code: 200 }),
  ]),
  story('Backend', 'shares', { type: 'Weighted', weighted: { backends: [share('blue', 1)] } }, [
    ...texts,
    patch('backends', { weighted: { backends: [share('blue', 7)] } }, (id) => ({
      backends: { [id('Backend', 'blue')]: 7 },
    })),
    patch('backends', { weighted: { backends: [share('green', 0), share('blue', 7)] } }, (id) => ({
      backends: { [id('Backend', 'blue')]: 7, [id('Backend', 'green')]: 0 },
    })),
    patch('backends', { weighted: { backends: [share('green', 1)] } }, (id) => ({
      backends: { [id('Backend', 'green')]: 1 },
    })),
  ]),
  story('Backend', 'order', { type: 'Failover', failover: { backendRefs: [{ name: 'blue' }] } }, [
    ...texts,
    ...[['blue', 'green'], ['green', 'blue'], ['green']].map((names) =>
      patch('backends', { failover: { backendRefs: names.map((name) => ({ name })) } }, (id) => ({
        backends: names.map((name) => id('Backend', name)),
      })),
    ),
  ]),
  story('Edge', 'tls', { protocol: 'TLS' }, [...texts, ...hostports, ...commonModules, ...tlsModules]),
  story('Edge', 'tcp', { protocol: 'TCP' }, [...texts, ...commonModules]),
  story('ReservedDomain', 'domain', { domain: 'edit-domain.tunnel.example' }, [
    ...texts,
    patch('certificate_id', { certificateID: 'cert_specs' }, { certificate: refTo('cert_specs') }),
    patch('certificate_id', { certificateID: 'cert_edits' }, { certificate: refTo('cert_edits') }),
    patch('certificate_id', { certificateID: undefined }, { certificate: null }),
    ...certificatePolicy(
      ['certificate_id', POLICY],
      { certificate: { id: expect.stringMatching(/^cert_/), uri: expect.any(String) } },
      { certificate: null },
    ),
    ...endpoint('httpEndpointConfigurationID', 'http_endpoint_configuration'),
    ...endpoint('httpsEndpointConfigurationID', 'https_endpoint_configuration'),
  ]),
  story('ReservedAddress', 'place', notEmpty, [
    ...texts,
    ...endpoint('endpointConfigurationID', 'endpoint_configuration'),
  ]),
  story('AgentIngress', 'ingress', { domain: 'edit-ingress.tunnel.example' }, [
    ...texts,
    ...certificatePolicy([POLICY], {}, {}),
  ]),
  story('BotUser', 'bot', { name: 'bot' }, [
    patch('name', { name: 'other bot' }, { name: 'other bot' }),
    patch('active', { active: false }, { active: false }),
    patch('active', { active: true }, { active: true }),
    ...quiet({ active: undefined }),
  ]),
  ...['APIKey', 'TunnelCredential'].map((kind) =>
    story(kind, kind.toLowerCase(), notEmpty, [
      ...texts,
      ...(kind === 'TunnelCredential' ? acl : []),
      ...quiet(
        { secretName: 'PLACE-a' },
        { secretName: 'PLACE-b' },
        { secretName: undefined },
        { secretKey: 'a' },
        { secretKey: 'b' },
        { secretKey: undefined },
      ),
    ]),
  ),
  story('SSHCredential', 'key', { publicKey: sshKeys.ed25519 }, [...texts, ...acl, ...publicKeys(() => ({ acl: [] }))]),
  story('SSHCertificateAuthority', 'authority', notEmpty, [
    ...texts,
    ...quiet({ configMapName: 'PLACE-a' }, { configMapName: 'PLACE-b' }, { configMapName: undefined }),
  ]),
  story(
    'SSHUserCertificate',
    'user',
    { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] },
    [...texts, ...certificate, ...ownExtensions],
  ),
  story(
    'SSHHostCertificate',
    'host',
    { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] },
    [...texts, ...certificate],
  ),
  story('CertificateAuthority', 'ca', { caPEM: caPem }, [
    ...texts,
    another({ caPEM: partnerCaPem }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEM: undefined, caPEMFrom: fromSecret('caPEM') }, { ca_pem: caPem, ...caFacts }),
    another({ caPEMFrom: fromSecret('otherCAPEM') }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEMFrom: fromConfigMap('otherCAPEM') }, { ca_pem: caPem, ...caFacts }),
    another({ caPEMFrom: fromConfigMap('caPEM') }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEM: caPem, caPEMFrom: undefined }, { ca_pem: caPem, ...caFacts }),
  ]),
  story('EventDestination', 'sink', monitor('apiKey'), [
    ...texts,
    ...quiet({ format: 'JSON' }, { format: undefined }),
    patch('target', monitor('accessKeyID'), {}),
    patch('target', monitor('apiKey', { tags: 'a', service: 'b', site: 'c' }), shownMonitor('a', 'b', 'c')),
    patch('target', monitor('apiKey', { tags: 'd', service: 'e', site: 'f' }), shownMonitor('d', 'e', 'f')),
    patch('target', monitor('apiKey'), shownMonitor(null, null, null)),
    ...cloudTarget('monitor', 'firehose', 'deliveryStreamARN', 'firehose', 'delivery_stream_arn'),
    ...cloudTarget('firehose', 'kinesis', 'streamARN', 'kinesis', 'stream_arn'),
    ...cloudTarget('kinesis', 'cloudWatchLogs', 'logGroupARN', 'cloudwatch_logs', 'log_group_arn'),
    patch('target', { cloudWatchLogs: undefined, ...monitor('apiKey') }, shownMonitor(null, null, null)),
  ]),
  story(
    'EventSubscription',
    'subscription',
    { sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: 'log' }] },
    [
      ...texts,
      patch(
        'sources',
        { sources: [{ type: 'a.v1' }, { type: 'b.v2' }] },
        {
          sources: sets(['a.v1', 'b.v2'].map((type) => ({ type, uri: expect.stringContaining(`/sources/${type}`) }))),
        },
      ),
      ...quiet({ sources: [{ type: 'b.v2' }, { type: 'a.v1' }] }),
      patch('destination_ids', { destinationRefs: [{ name: 'archive' }] }, (id) => ({
        destinations: [refTo(id('EventDestination', 'archive'))],
      })),
    ],
  ),
]

/** Names of output objects are the story's own. */
function story(kind: string, title: string, base: Body, edits: readonly Edit[]): EditStory {
  const own = edits.map((edit) => ({ ...edit, spec: withPlaces(edit.spec, title) }))
  return { kind, title, base, edits: own }
}

function withPlaces(spec: Body, title: string): Body {
  const entries = Object.entries(spec).map(([field, value]) => {
    return [field, typeof value === 'string' ? value.replace('PLACE', `place-of-${title}`) : value] as const
  })
  return Object.fromEntries(entries)
}
