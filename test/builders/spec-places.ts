import fc, { type Arbitrary } from 'fast-check'
import type { SeedSpec } from '../../src/emulator/admin/seed.ts'
import type { Ref } from '../../src/managed/descriptor/common.ts'
import { caPem, partnerCaPem } from './contract/ca-pem.ts'
import { sshKeys } from './contract/ssh-keys.ts'
import { moment, type Places } from './schema-specs.ts'

const admitted = ['0.0.0.0/0', '::/0']

/** Objects that generated specs refer to, with fixed ids. */
export const PLACES_SEED: SeedSpec = {
  objects: {
    ip_policies: ['ipp_office', 'ipp_home', 'ipp_lab', 'ipp_open', 'ipp_other'].map((id) => ({ id })),
    // A restriction of the API that a spec enforces must not lock out the test.
    ip_policy_rules: ['ipp_office', 'ipp_home', 'ipp_lab'].flatMap((policy, index) =>
      admitted.map((cidr, at) => ({ id: `ipr_${index}${at}`, ip_policy_id: policy, cidr, action: 'allow' })),
    ),
    reserved_domains: [
      { id: 'rd_shop', domain: 'shop.tunnel.example' },
      { id: 'rd_mine', domain: 'edge.example.org' },
      { id: 'rd_wild', domain: '*.wild.tunnel.example' },
    ],
    reserved_addrs: [{ id: 'ra_one' }, { id: 'ra_two' }],
    'backends/tunnel_group': ['bkdtg_blue', 'bkdtg_green', 'bkdtg_red'].map((id) => ({ id })),
    certificate_authorities: ['ca_first', 'ca_second', 'ca_third'].map((id) => ({ id, ca_pem: caPem })),
    ssh_certificate_authorities: ['sshca_team', 'sshca_other'].map((id) => ({ id })),
    event_destinations: ['ed_log', 'ed_archive', 'ed_watch'].map((id) => ({
      id,
      format: 'json',
      target: { kinesis: { stream_arn: 'arn', auth: { role: { role_arn: 'arn' } } } },
    })),
    bot_users: [
      { id: 'bot_build', name: 'build' },
      { id: 'bot_deploy', name: 'deploy' },
    ],
    tls_certificates: [{ id: 'cert_a' }, { id: 'cert_b' }],
    endpoint_configurations: [{ id: 'ec_a' }, { id: 'ec_b' }],
  },
}

/** Collection and id of objects referenced by name, by `Kind/name`. Objects referenced by id have no name. */
export const NAMED: Readonly<Record<string, readonly [collection: string, id: string]>> = {
  'IPPolicy/office': ['ip_policies', 'ipp_office'],
  'IPPolicy/home': ['ip_policies', 'ipp_home'],
  'IPPolicy/open': ['ip_policies', 'ipp_open'],
  'ReservedDomain/shop': ['reserved_domains', 'rd_shop'],
  'ReservedAddress/one': ['reserved_addrs', 'ra_one'],
  'Backend/blue': ['backends/tunnel_group', 'bkdtg_blue'],
  'Backend/green': ['backends/tunnel_group', 'bkdtg_green'],
  'CertificateAuthority/first': ['certificate_authorities', 'ca_first'],
  'CertificateAuthority/second': ['certificate_authorities', 'ca_second'],
  'SSHCertificateAuthority/team': ['ssh_certificate_authorities', 'sshca_team'],
  'EventDestination/log': ['event_destinations', 'ed_log'],
  'EventDestination/archive': ['event_destinations', 'ed_archive'],
  'BotUser/build': ['bot_users', 'bot_build'],
}

/** Collections of objects that specs refer to by id and need whole. */
export const BY_ID: Readonly<Record<string, string>> = { rd_mine: 'reserved_domains', ra_two: 'reserved_addrs' }

/** Texts of the Secrets and ConfigMaps that specs refer to, by key; all have the same content, whatever their name. */
export const INPUTS: Readonly<Record<string, string>> = {
  'ca.crt': caPem,
  'partner.crt': `# partner\n${partnerCaPem.replaceAll('\n', '\r\n')}`,
  'id.pub': `${sshKeys.ed25519}\n`,
  'other.pub': sshKeys.ecdsa256,
  one: 'first secret',
  two: 'second secret',
}

/** References by name to some, by id to others. */
function ref(names: readonly string[], ids: readonly string[]): Arbitrary<Ref> {
  return fc.constantFrom(...names.map((name) => ({ name })), ...ids.map((id) => ({ id })))
}

function keyOf(...keys: readonly string[]): Arbitrary<unknown> {
  return fc.tuple(fc.constantFrom('inputs', 'others'), fc.constantFrom(...keys)).map(([name, key]) => ({ name, key }))
}

const policies = ref(['office', 'home'], ['ipp_lab'])
const backends = ref(['blue', 'green'], ['bkdtg_red'])

const owner = { 'spec.owner': fc.constantFrom({ botUserRef: { name: 'build' } }, { id: 'bot_deploy' }) }
const endpoint = fc.constantFrom('ec_a', 'ec_b')

const keys = fc.constantFrom('team', 'example.com/sync', 'reloader.stakater.com/match')

/** Valid labels and annotations of outputs. */
const output = (...members: readonly string[]): Places =>
  Object.fromEntries(
    members.flatMap((member) =>
      ['labels', 'annotations'].map((field) => [
        `spec.output.${member}.${field}`,
        fc.dictionary(keys, fc.constantFrom('', 'true', 'edge'), { maxKeys: 3, noNullPrototype: true }),
      ]),
    ),
  )

const acl: Places = {
  'spec.acl[]': fc.oneof(
    fc.constant('*'),
    fc.constantFrom('bind:*.Tunnel.example', 'bind:shop.tunnel.example', 'bind:Shop.tunnel.example'),
    fc.constantFrom('bind:1.tcp.tunnel.example:20000', 'bind:1.TCP.tunnel.example:20000'),
    fc.constantFrom('bind:app=*', 'bind:App=shop', 'bind:*=shop', 'bind:a b='),
  ),
}

const publicKey: Places = {
  'spec.publicKey': fc.constantFrom(
    sshKeys.ed25519,
    `${sshKeys.ed25519}\n`,
    sshKeys.ed25519.replace(' me@laptop', ''),
    sshKeys.rsa,
    sshKeys.ecdsa384,
  ),
  'spec.publicKeyFrom.secretKeyRef': keyOf('id.pub', 'other.pub'),
  'spec.publicKeyFrom.configMapKeyRef': keyOf('id.pub', 'other.pub'),
}

/** No token is rotated during a test. */
const rotation: Places = {
  'spec.rotation.interval': fc.constantFrom('25h', '720h', '26h5m', '87600h'),
  'spec.rotation.overlap': fc.constantFrom('0s', '5m', '1h30m', '24h'),
}

/** The end is after every start, and in the future: an expired certificate is refused (`api-decisions.md § Values`). */
const certificate: Places = {
  ...publicKey,
  ...output('secret', 'configMap'),
  'spec.sshCertificateAuthorityRef': ref(['team'], ['sshca_other']),
  'spec.validAfter': moment(1971, 2050),
  'spec.validUntil': moment(2060, 2099),
  // None ends, or is renewed, during a test.
  'spec.validFor': fc.constantFrom('25h', '30h15m', '200000s', '8760h', '87600h'),
  'spec.renewBefore': fc.constantFrom('1s', '90m', '12h', '21h36m'),
}

/** Domains of the service and others; no domain's last label is numeric. */
const domain = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/),
    fc.constantFrom('tunnel.example', 'example.org', 'a.b.example'),
  )
  .map(([label, parent]) => `${label}.${parent}`)

const region = fc.constantFrom('us', 'eu', 'ap')

const tokens = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)

const auth = (member: string): Places => ({
  [`spec.${member}.auth.accessKey.accessKeyIDSecretRef`]: keyOf('one', 'two'),
  [`spec.${member}.auth.accessKey.secretAccessKeySecretRef`]: keyOf('one', 'two'),
})

const expression = fc.constantFrom('conn.tls.version == "1.0"', 'req.method == "GET" && size(req.path) > 3', 'true')

const places: Readonly<Record<string, Places>> = {
  IPPolicyRule: { 'spec.ipPolicyRef': ref(['open'], ['ipp_other']) },
  IPRestriction: { 'spec.ipPolicyRefs[]': policies },
  Backend: {
    'spec.weighted.backendRefs[]': fc
      .tuple(backends, fc.integer({ min: 0, max: 10_000 }))
      .map(([found, weight]) => ({ ...found, weight })),
    'spec.failover.backendRefs[]': backends,
    // The operator refuses two names that differ only in case.
    'spec.httpResponse.headers': fc
      .uniqueArray(fc.tuple(tokens, fc.stringMatching(/^[^\r\n\0]{0,12}$/)), {
        maxLength: 3,
        selector: ([name]) => name.toLowerCase(),
      })
      .map((entries) => Object.fromEntries(entries)),
  },
  Edge: {
    'spec.hostports[].host': fc.stringMatching(/^[a-z0-9]{1,9}$/).map((label) => `${label}.wild.tunnel.example`),
    'spec.hostports[].reservedDomainRef': ref(['shop'], ['rd_mine']),
    'spec.hostports[].reservedAddressRef': ref(['one'], ['ra_two']),
    'spec.backend': fc.oneof(
      fc.constant({ enabled: false }),
      fc
        .tuple(backends, fc.constantFrom({}, { enabled: true }, { enabled: false }))
        .map(([found, enabled]) => ({ ...found, ...enabled })),
    ),
    'spec.ipRestriction.ipPolicyRefs[]': policies,
    'spec.mutualTLS.certificateAuthorityRefs[]': ref(['first', 'second'], ['ca_third']),
    'spec.trafficPolicy.inbound[].expressions[]': expression,
    'spec.trafficPolicy.outbound[].expressions[]': expression,
  },
  ReservedDomain: {
    'spec.region': region,
    'spec.domain': fc.tuple(fc.constantFrom('', '*.'), domain).map(([wildcard, name]) => `${wildcard}${name}`),
    'spec.certificate.uploaded.id': fc.constantFrom('cert_a', 'cert_b'),
    'spec.httpEndpointConfigurationRef.id': endpoint,
    'spec.httpsEndpointConfigurationRef.id': endpoint,
  },
  AgentIngress: { 'spec.domain': domain },
  ReservedAddress: { 'spec.region': region, 'spec.endpointConfigurationRef.id': endpoint },
  // Generating an RSA key takes seconds.
  SSHCertificateAuthority: {
    ...output('configMap'),
    'spec.privateKeyType': fc.constantFrom('ECDSA', 'ECDSA', 'ECDSA', 'ECDSA', 'Ed25519', 'Ed25519', 'RSA'),
    'spec.keySize': fc.oneof({ weight: 9, arbitrary: fc.constant(2048) }, { weight: 1, arbitrary: fc.constant(4096) }),
  },
  SSHUserCertificate: {
    ...certificate,
    'spec.extensions': fc
      .dictionary(fc.constantFrom('permit-pty', 'permit-user-rc', 'permit-X11-forwarding'), fc.constant(''))
      .chain((flags) =>
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}@example\.com$/), fc.string(), { maxKeys: 2 }).map((own) => {
          return { ...flags, ...own }
        }),
      ),
  },
  SSHHostCertificate: certificate,
  SSHCredential: { ...publicKey, ...acl, ...owner },
  APIKey: { ...owner, ...output('secret'), ...rotation },
  TunnelCredential: { ...acl, ...owner, ...output('secret'), ...rotation },
  CertificateAuthority: {
    'spec.caPEM': fc.constantFrom(caPem, partnerCaPem, `text around it\n${caPem}\n`),
    'spec.caPEMFrom.secretKeyRef': keyOf('ca.crt', 'partner.crt'),
    'spec.caPEMFrom.configMapKeyRef': keyOf('ca.crt', 'partner.crt'),
  },
  EventDestination: {
    ...auth('firehose'),
    ...auth('kinesis'),
    ...auth('cloudWatchLogs'),
    'spec.monitor.apiKeySecretRef': keyOf('one', 'two'),
  },
  EventSubscription: { 'spec.destinationRefs[]': ref(['log', 'archive'], ['ed_watch']) },
}

/** Values for what a kind's schema leaves open, valid for the account of `PLACES_SEED`. */
export function placesOf(kind: string): Places {
  return places[kind] ?? {}
}
