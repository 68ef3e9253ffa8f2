import fc from 'fast-check'
import type { APIKeySpec } from '../../../src/kinds/api-key.ts'
import type { BackendSpec } from '../../../src/kinds/backend/schema.ts'
import type { BotUserSpec } from '../../../src/kinds/bot-user.ts'
import type { CertificateAuthoritySpec } from '../../../src/kinds/certificate-authority.ts'
import type { AgentIngressSpec } from '../../../src/kinds/certificates/agent-ingress-schema.ts'
import type { ReservedDomainSpec } from '../../../src/kinds/certificates/reserved-domain-schema.ts'
import type { ManagedCertificate } from '../../../src/kinds/certificates/spec.ts'
import type { EdgeSpec } from '../../../src/kinds/edge/schema.ts'
import type { EventSubscriptionSpec } from '../../../src/kinds/event-subscription.ts'
import type { EventDestinationSpec } from '../../../src/kinds/events/destination-schema.ts'
import type { IPPolicyRuleSpec } from '../../../src/kinds/ip-policy-rule.ts'
import type { IPRestrictionSpec } from '../../../src/kinds/ip-restriction.ts'
import type { ReservedAddressSpec } from '../../../src/kinds/reserved-address.ts'
/**
 * Specs of every managed kind that the CRDs accept. Immutable fields are constant, so that any two specs can follow
 * each other.
 */
import type { SSHCertificateAuthoritySpec } from '../../../src/kinds/ssh-certificate-authority.ts'
import type { SSHCredentialSpec } from '../../../src/kinds/ssh-credential.ts'
import type { SSHHostCertificateSpec } from '../../../src/kinds/ssh-host-certificate.ts'
import type { SSHUserCertificateSpec } from '../../../src/kinds/ssh-user-certificate.ts'
import type { TunnelCredentialSpec } from '../../../src/kinds/tunnel-credential.ts'
import { caPem, partnerCaPem } from '../contract/ca-pem.ts'
import { sshKeys } from '../contract/ssh-keys.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd')
const ref = fc.oneof(fc.record({ name }), fc.record({ id: name.map((value) => `x_${value}`) }))
const refs = fc.uniqueArray(ref, { minLength: 1, maxLength: 3, selector: (value) => JSON.stringify(value) })
const word = fc.string({ minLength: 1, maxLength: 8 })

/** `model` with each optional field present or absent, never `undefined`. */
function partial<T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
}

const headers = fc.dictionary(fc.constantFrom('X-One', 'x-two', 'X-THREE'), word)

export const backendSpecs: Readonly<Record<BackendSpec['type'], fc.Arbitrary<BackendSpec>>> = {
  TunnelGroup: partial<NonNullable<BackendSpec['tunnelGroup']> & { labels: Record<string, string> }>({
    labels: fc.dictionary(name, word),
  }).map((tunnelGroup) => ({ type: 'TunnelGroup', tunnelGroup })),
  HTTPResponse: partial<{ body: string; headers: Record<string, string>; statusCode: number }>({
    body: fc.string(),
    headers,
    statusCode: fc.integer({ min: 200, max: 999 }),
  }).map((httpResponse) => ({ type: 'HTTPResponse', httpResponse })),
  Weighted: refs
    .chain((found) => fc.tuple(...found.map((each) => fc.nat(10_000).map((weight) => ({ ...each, weight })))))
    .map((backendRefs) => ({ type: 'Weighted', weighted: { backendRefs } })),
  Failover: refs.map((backendRefs) => ({ type: 'Failover', failover: { backendRefs } })),
}

const rule = partial<{
  name: string
  expressions: string[]
  actions: { type: string; config?: Record<string, unknown> }[]
}>({
  name: word,
  expressions: fc.array(word, { maxLength: 2 }),
  actions: fc.array(
    fc.oneof(fc.record({ type: word }), fc.record({ type: word, config: fc.dictionary(word, fc.jsonValue()) })),
    { maxLength: 2 },
  ),
})

const hostport = fc.oneof(
  fc.record({
    type: fc.constant('Host'),
    host: fc.constantFrom('a.example.com', 'b.example.com'),
    port: fc.constantFrom(443, 8443),
  }),
  fc.record({
    type: fc.constant('ReservedDomain'),
    reservedDomainRef: fc.record({ name }),
    port: fc.constantFrom(443, 8443),
  }),
  fc.record({ type: fc.constant('ReservedAddress'), reservedAddressRef: fc.record({ name }) }),
)

const tcpFields = {
  hostports: fc.array(hostport, { maxLength: 3 }),
  backend: fc.tuple(fc.boolean(), ref).map(([enabled, found]) => ({ enabled, ...found })),
  ipRestriction: fc.record({ enabled: fc.boolean(), ipPolicyRefs: refs }),
  trafficPolicy: fc.oneof(
    fc.record({ enabled: fc.boolean() }),
    fc.record({ inbound: fc.array(rule, { maxLength: 2 }), outbound: fc.array(rule, { maxLength: 2 }) }),
  ),
}

const tlsFields = {
  ...tcpFields,
  mutualTLS: fc.record({
    enabled: fc.boolean(),
    certificateAuthorityRefs: fc
      .uniqueArray(name, { minLength: 1 })
      .map((ids) => ids.map((id) => ({ id: `ca_${id}` }))),
  }),
  tlsTermination: fc.oneof(
    fc.record({ terminateAt: fc.constantFrom('Edge' as const, 'Upstream' as const), enabled: fc.boolean() }),
    fc.record({ minVersion: fc.constantFrom('1.0' as const, '1.2' as const, '1.3' as const) }),
  ),
}

export const edgeSpecs: Readonly<Record<EdgeSpec['protocol'], fc.Arbitrary<EdgeSpec>>> = {
  TCP: partial<EdgeSpec>(tcpFields as never).map((fields) => ({ ...fields, protocol: 'TCP' })),
  TLS: partial<EdgeSpec>(tlsFields as never).map((fields) => ({ ...fields, protocol: 'TLS' })),
}

const endpoint = fc.record({ id: word })
const endpoints = { httpEndpointConfigurationRef: endpoint, httpsEndpointConfigurationRef: endpoint }
const managedCertificate = partial<ManagedCertificate>({
  authority: fc.constant('LetsEncrypt'),
  privateKeyType: fc.constantFrom('RSA', 'ECDSA'),
} as never)
const managed = fc.oneof(
  fc.constant({ type: 'Managed' as const }),
  managedCertificate.map((found) => ({ type: 'Managed' as const, managed: found })),
)
const uploaded = fc.record({ type: fc.constant('Uploaded' as const), uploaded: fc.record({ id: word }) })

export const domainSpec: fc.Arbitrary<ReservedDomainSpec> = fc
  .oneof(
    partial<ReservedDomainSpec>(endpoints as never),
    partial<ReservedDomainSpec>({ ...endpoints, certificate: uploaded } as never),
    partial<ReservedDomainSpec>({ ...endpoints, certificate: managed } as never),
  )
  .map((fields) => ({ ...fields, domain: 'a.example.com', region: 'eu' }))

export const ingressSpec: fc.Arbitrary<AgentIngressSpec> = partial<AgentIngressSpec>({
  certificate: managed,
} as never).map((fields) => ({ ...fields, domain: 'a.example.com' }))

export const addressSpec: fc.Arbitrary<ReservedAddressSpec> = partial<ReservedAddressSpec>({
  endpointConfigurationRef: endpoint,
} as never).map((fields) => ({ ...fields, region: 'eu' }))

export const policyRuleSpec: fc.Arbitrary<IPPolicyRuleSpec> = fc
  .constantFrom('10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32', '::ffff:192.0.2.0/120')
  .map((cidr) => ({ ipPolicyRef: { name: 'a' }, cidr, action: 'Deny' }))

export const restrictionSpec: fc.Arbitrary<IPRestrictionSpec> = fc
  .record(
    { enforcement: fc.constantFrom('Enforce' as const, 'Warn' as const), ipPolicyRefs: refs },
    { requiredKeys: ['ipPolicyRefs'] },
  )
  .map((fields) => ({ ...fields, type: 'Agent' as const }))

export const sshAuthoritySpec: fc.Arbitrary<SSHCertificateAuthoritySpec> = fc.constantFrom(
  {},
  { privateKeyType: 'RSA', keySize: 4096 },
  { privateKeyType: 'ECDSA', ellipticCurve: 'P-521' },
)

const secretRef = fc.record({ name, key: name })
const auth = fc.oneof(
  fc.record({ type: fc.constant('Role'), role: fc.record({ roleARN: word }) }),
  fc.record({
    type: fc.constant('AccessKey'),
    accessKey: fc.record({ accessKeyIDSecretRef: secretRef, secretAccessKeySecretRef: secretRef }),
  }),
)

const pems = [caPem, partnerCaPem]
const pemSource = fc.oneof(
  fc.record({ secretKeyRef: fc.record({ name, key: fc.constantFrom('ca', 'partner-ca') }) }),
  fc.record({ configMapKeyRef: fc.record({ name, key: fc.constantFrom('ca', 'partner-ca') }) }),
)

export const authoritySpec: fc.Arbitrary<CertificateAuthoritySpec> = fc.oneof(
  fc.record({ caPEM: fc.constantFrom(...pems, ...pems.map((pem) => `# staff\n${pem.replaceAll('\n', '\r\n')}`)) }),
  fc.record({ caPEMFrom: pemSource }),
) as fc.Arbitrary<CertificateAuthoritySpec>

export const botSpec: fc.Arbitrary<BotUserSpec> = fc.record(
  { displayName: word, active: fc.boolean() },
  { requiredKeys: ['displayName'] },
)

const token = { output: fc.record({ secret: fc.record({ name, key: name }, { requiredKeys: [] }) }) }

export const apiKeySpec: fc.Arbitrary<APIKeySpec> = partial<APIKeySpec>(token as never).map((fields) => ({
  ...fields,
  owner: { botUserRef: { name: 'a' } },
}))

const aclRules = ['bind:*.example.com', 'bind:A.example.com', 'bind:1.tcp.example.com:20000', 'bind:App=*', 'bind:*=b']
const anyACL = fc.oneof(fc.constant(['*']), fc.subarray(aclRules, { minLength: 1 }))

export const credentialSpec: fc.Arbitrary<TunnelCredentialSpec> = partial<TunnelCredentialSpec>({
  ...token,
  acl: anyACL,
} as never).map((fields) => ({ ...fields, owner: { id: 'usr_1' } }))

/** The same key inline and from a source, with and without irrelevant parts, and other keys. */
const publicKey = fc.oneof(
  fc.record({
    publicKey: fc.constantFrom(
      sshKeys.ed25519,
      `${sshKeys.ed25519}\n`,
      sshKeys.ed25519.replace(' me@laptop', ''),
      sshKeys.rsa,
    ),
  }),
  fc.record({
    publicKeyFrom: fc.record({
      secretKeyRef: fc.record({ name, key: fc.constantFrom('id.pub', 'other.pub') }),
    }),
  }),
)

export const sshCredentialSpec: fc.Arbitrary<SSHCredentialSpec> = fc
  .tuple(publicKey, partial<SSHCredentialSpec>({ acl: anyACL } as never))
  .map(([key, fields]) => ({ ...key, ...fields, owner: { botUserRef: { name: 'a' } } }))

const moment = fc
  .tuple(
    fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2099, 0) }),
    fc.constantFrom('Z', '+00:00', '+05:30', '-11:00'),
  )
  .map(([ms, zone]) => new Date(ms).toISOString().replace('Z', zone))

const validity = fc.tuple(
  fc.option(moment, { nil: undefined }),
  fc.oneof(
    fc.constant({}),
    fc.record({ validUntil: moment }),
    fc.record({ validFor: fc.constantFrom('1s', '90m', '12h', '8760h') }),
  ),
)

const certificateSpec = fc
  .tuple(
    publicKey,
    validity,
    fc.uniqueArray(fc.constantFrom('alice', 'bob', 'deploy'), { maxLength: 3 }),
    name,
    fc.constantFrom({}, { output: { secret: { name: 'a' } } }, { output: { configMap: { name: 'a' } } }),
  )
  .map(([key, [validAfter, until], principals, authority, place]) => ({
    ...key,
    ...(validAfter === undefined ? {} : { validAfter }),
    ...until,
    ...(principals.length === 0 ? { anyPrincipal: true } : { principals }),
    ...place,
    sshCertificateAuthorityRef: { name: authority },
  }))

export const hostCertificateSpec: fc.Arbitrary<SSHHostCertificateSpec> = certificateSpec

export const userCertificateSpec: fc.Arbitrary<SSHUserCertificateSpec> = fc
  .tuple(
    certificateSpec,
    partial<SSHUserCertificateSpec>({
      criticalOptions: partial({
        forceCommand: word,
        sourceAddresses: fc.subarray(['192.0.2.7/32', '198.51.100.0/24', '2001:db8::/32'], { minLength: 1 }),
      }),
      extensions: fc.dictionary(
        fc.constantFrom('permit-pty', 'permit-user-rc', 'permit-X11-forwarding'),
        fc.constant(''),
      ),
    } as never),
  )
  .map(([shared, fields]) => ({ ...shared, ...fields }))

export const destinationSpec: fc.Arbitrary<EventDestinationSpec> = fc.oneof(
  fc.record({ type: fc.constant('Firehose'), firehose: fc.record({ auth, deliveryStreamARN: word }) }),
  fc.record({ type: fc.constant('Kinesis'), kinesis: fc.record({ auth, streamARN: word }) }),
  fc.record({ type: fc.constant('CloudWatchLogs'), cloudWatchLogs: fc.record({ auth, logGroupARN: word }) }),
  fc.record({
    type: fc.constant('Monitor'),
    monitor: fc.record(
      { apiKeySecretRef: secretRef, tags: word, service: word, site: word },
      { requiredKeys: ['apiKeySecretRef'] },
    ),
  }),
) as fc.Arbitrary<EventDestinationSpec>

export const subscriptionSpec: fc.Arbitrary<EventSubscriptionSpec> = fc.record({
  sources: fc
    .uniqueArray(fc.constantFrom('ip_policy_created.v0', 'tcp_edge_deleted.v0', 'api_key_updated.v1'), { minLength: 1 })
    .map((types) => types.map((type) => ({ type }))),
  destinationRefs: refs,
})
