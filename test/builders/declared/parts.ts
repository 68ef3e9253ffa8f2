import { durationMs } from '../../../src/util/duration.ts'
import { backend, edge } from './edges.ts'
import { given, idOf, idsOf, keyOf, list, pemOf, seconds, sorted, typeOf } from './forms.ts'
import type { Body, Declared, Held, KeyRef, Ref, Resolved } from './types.ts'

type Reader = (spec: Body, held: Held, resolved: Resolved) => readonly Declared[]

/**
 * Every part of the object that a spec declares. Written from `management-api.md` and the kinds' pages, and
 * deliberately not from the descriptors: an operator with a wrong plan would judge itself right.
 */
export function declaredParts(kind: string, spec: Body, held: Held, resolved: Resolved): readonly Declared[] {
  const read = readers[kind]
  if (read === undefined) throw new Error(`say in test/builders/declared/parts.ts what a spec of ${kind} declares`)
  const { description = '', metadata, rawMetadata } = spec
  const described: readonly Declared[] =
    kind === 'BotUser' ? [] : [['description', description, held.object.description ?? '']]
  const noted: readonly Declared[] =
    rawMetadata === undefined
      ? [['metadata', metadata ?? {}, ownKeys(held.object.metadata, metadata)]]
      : [['metadata', rawMetadata, held.object.metadata]]
  return [...described, ...noted, ...read(spec, held, resolved)]
}

const readers: Readonly<Record<string, Reader>> = {
  IPPolicy: (spec, { children }) => {
    if (spec.rulesSource === 'IPPolicyRules') return []
    const own = new Map((list(spec.rules) as readonly Body[]).map(({ cidr, metadata }) => [cidr, metadata]))
    const wanted = (list(spec.rules) as readonly Body[]).map((rule) => {
      const leftAlone = children.find(({ cidr, metadata }) => cidr === rule.cidr && !isMarked(metadata))
      return ruleForm({ description: leftAlone?.description, ...rule }, rule.metadata ?? {})
    })
    const found = children.map((rule) => ruleForm(rule, ownKeys(rule.metadata, own.get(rule.cidr))))
    return [['rules', sorted(wanted), sorted(found)]]
  },
  IPPolicyRule: ({ cidr, action, ipPolicyRef }, { object }, { id }) => [
    ['cidr', cidr, object.cidr],
    ['action', String(action).toLowerCase(), object.action],
    ['ip_policy', id('IPPolicy', ipPolicyRef as Ref), idOf(object.ip_policy)],
  ],
  IPRestriction: ({ type, enforcement, ipPolicyRefs }, { object }, resolved) => [
    ['type', String(type).toLowerCase(), object.type],
    ['enforced', enforcement === 'Enforce', object.enforced],
    ['ip_policies', idsOf('IPPolicy', ipPolicyRefs, resolved), sorted(list(object.ip_policies).map(idOf))],
  ],
  Backend: backend,
  Edge: edge,
  ReservedDomain: ({ domain, region, certificate: chosen, ...rest }, { object }) => [
    ['domain', domain, object.domain],
    ...(region === undefined ? [] : [['region', region, object.region] as const]),
    ['certificate_management_policy', certificatePolicy(chosen), object.certificate_management_policy ?? null],
    ...uploadedCertificate(chosen, object),
    ...named('http_endpoint_configuration', rest.httpEndpointConfigurationRef, object),
    ...named('https_endpoint_configuration', rest.httpsEndpointConfigurationRef, object),
  ],
  ReservedAddress: ({ region = 'us', endpointConfigurationRef }, { object }) => [
    ['region', region, object.region],
    ...named('endpoint_configuration', endpointConfigurationRef, object),
  ],
  AgentIngress: ({ domain, certificate: chosen }, { object }) => [
    ['domain', domain, object.domain],
    ['certificate_management_policy', certificatePolicy(chosen), object.certificate_management_policy ?? null],
  ],
  BotUser: ({ displayName, active = true }, { object }) => [
    ['name', displayName, object.name],
    ['active', active, object.active],
  ],
  APIKey: owner,
  TunnelCredential: (spec, held, resolved) => [...owner(spec, held, resolved), acl(spec, held)],
  SSHCredential: (spec, held, resolved) => [
    ...owner(spec, held, resolved),
    acl(spec, held),
    ['public_key', keyOf(given(spec, 'publicKey', resolved)), keyOf(held.object.public_key)],
  ],
  CertificateAuthority: (spec, { object }, resolved) => [
    ['ca_pem', pemOf(given(spec, 'caPEM', resolved)), pemOf(object.ca_pem)],
  ],
  SSHCertificateAuthority: ({ privateKeyType = 'Ed25519' }, { object }) => [
    ['key_type', String(privateKeyType).toLowerCase(), object.key_type],
  ],
  SSHUserCertificate: (spec, held, resolved) => {
    const { object } = held
    const { forceCommand, sourceAddresses } = (spec.criticalOptions ?? {}) as Body
    const options = {
      ...(forceCommand === undefined ? {} : { 'force-command': forceCommand }),
      ...(sourceAddresses === undefined ? {} : { 'source-address': sorted(list(sourceAddresses)).join() }),
    }
    const { 'source-address': addresses, ...others } = (object.critical_options ?? {}) as Body
    const found = {
      ...others,
      ...(addresses === undefined ? {} : { 'source-address': sorted(String(addresses).split(',')).join() }),
    }
    return [
      ...certificate(spec, held, resolved, '24h'),
      ['critical_options', options, found],
      ['extensions', spec.extensions ?? { 'permit-pty': '', 'permit-user-rc': '' }, object.extensions ?? {}],
    ]
  },
  SSHHostCertificate: (spec, held, resolved) => certificate(spec, held, resolved, '8760h'),
  EventDestination: eventDestination,
  EventSubscription: ({ sources, destinationRefs }, { object }, resolved) => [
    ['sources', sorted(list(sources).map(typeOf)), sorted(list(object.sources).map(typeOf))],
    ['destinations', idsOf('EventDestination', destinationRefs, resolved), sorted(list(object.destinations).map(idOf))],
  ],
}

function ruleForm({ cidr, action, description }: Body, metadata: unknown): Body {
  return { cidr, action: String(action).toLowerCase(), description: description ?? '', metadata }
}

/** An object without a marker was adopted: what the spec does not mention is its own. */
function isMarked(metadata: unknown): boolean {
  return parsed(metadata).culvert !== undefined
}

/**
 * The keys beside Culvert's marker in the metadata of an object. In an adopted object, which has no marker, only the
 * keys that the spec names count.
 */
function ownKeys(metadata: unknown, declared: unknown): unknown {
  const wanted = Object.keys((declared ?? {}) as Body)
  const { culvert, ...keys } = parsed(metadata)
  return Object.fromEntries(Object.entries(keys).filter(([key]) => culvert !== undefined || wanted.includes(key)))
}

/** Metadata as an object, if it is one. */
function parsed(metadata: unknown): Body {
  try {
    return JSON.parse(String(metadata)) as Body
  } catch {
    return {}
  }
}

function certificatePolicy(certificate: unknown): Body | null {
  const { type, managed = {} } = (certificate ?? {}) as Body
  if (type !== 'Managed') return null
  const { authority = 'LetsEncrypt', privateKeyType = 'RSA' } = managed as Body
  return { authority: String(authority).toLowerCase(), private_key_type: String(privateKeyType).toLowerCase() }
}

/**
 * Under a policy the service chooses the certificate, and one left from a policy stays in use if the spec names none.
 */
function uploadedCertificate(certificate: unknown, object: Body): readonly Declared[] {
  const { type, uploaded } = (certificate ?? {}) as Body
  return type === 'Uploaded' ? named('certificate', uploaded, object) : []
}

/** Fields that others may set too: theirs unless the spec names one. */
function named(part: string, ref: unknown, object: Body): readonly Declared[] {
  return ref === undefined ? [] : [[part, idOf(ref), idOf(object[part])]]
}

/** If a spec names no owner, it is the user of the account's key. */
function owner({ owner: declared }: Body, { object }: Held, { id }: Resolved): readonly Declared[] {
  if (declared === undefined) return []
  const { botUserRef, ...byID } = declared as Body
  return [['owner_id', id('BotUser', (botUserRef ?? byID) as Ref), object.owner_id]]
}

/** `*` is equivalent to no rule (`management-api.md § Access credentials`, ACL rule 6). */
function acl(spec: Body, { object }: Held): Declared {
  const form = (rules: unknown): readonly unknown[] => {
    const texts = (list(rules) as readonly string[]).map((rule) => (rule.includes('=') ? rule : rule.toLowerCase()))
    return texts.length === 1 && texts[0] === '*' ? [] : sorted([...new Set(texts)])
  }
  return ['acl', form(spec.acl), form(object.acl)]
}

function certificate(spec: Body, { object }: Held, resolved: Resolved, length: string): readonly Declared[] {
  const { sshCertificateAuthorityRef, principals, validAfter, validUntil, validFor = length } = spec
  const [after, until] = [Date.parse(String(object.valid_after)), Date.parse(String(object.valid_until))]
  const start: readonly Declared[] = validAfter === undefined ? [] : [['valid_after', seconds(validAfter), after]]
  const end: Declared =
    validUntil === undefined
      ? ['length', durationMs(String(validFor)), until - after]
      : ['valid_until', seconds(validUntil), until]
  return [
    [
      'ssh_certificate_authority_id',
      resolved.id('SSHCertificateAuthority', sshCertificateAuthorityRef as Ref),
      object.ssh_certificate_authority_id,
    ],
    ['public_key', keyOf(given(spec, 'publicKey', resolved)), keyOf(object.public_key)],
    ['principals', sorted(list(principals)), sorted(list(object.principals))],
    ...start,
    end,
  ]
}

function eventDestination(spec: Body, { stored }: Held, { input }: Resolved): readonly Declared[] {
  const auth = ({ role, accessKey }: Body): unknown => {
    if (role !== undefined) return ['role', (role as Body).roleARN]
    const { accessKeyIDSecretRef, secretAccessKeySecretRef } = accessKey as Body
    return ['creds', ...[accessKeyIDSecretRef, secretAccessKeySecretRef].map((ref) => input('Secret', ref as KeyRef))]
  }
  const heldAuth = (held: unknown): unknown => {
    const { role, creds } = (held ?? {}) as Readonly<Record<string, Body | null | undefined>>
    if (role) return ['role', role.role_arn]
    return ['creds', creds?.cloud_access_key_id, creds?.cloud_secret_access_key]
  }
  const target = stored.target as Readonly<Record<string, Body | null | undefined>>
  const clouds = [
    ['firehose', 'firehose', 'deliveryStreamARN', 'delivery_stream_arn'],
    ['kinesis', 'kinesis', 'streamARN', 'stream_arn'],
    ['cloudWatchLogs', 'cloudwatch_logs', 'logGroupARN', 'log_group_arn'],
  ] as const
  const parts = clouds.map(([field, name, arn, held]): Declared => {
    const [wanted, found] = [spec[field] as Body | undefined, target[name]]
    return [
      `target.${name}`,
      wanted && [wanted[arn], auth(wanted.auth as Body)],
      found ? [found[held], heldAuth(found.auth)] : undefined,
    ]
  })
  const monitor = spec.monitor as Body | undefined
  const wanted = monitor && [
    input('Secret', monitor.apiKeySecretRef as KeyRef),
    ...[monitor.tags, monitor.service, monitor.site].map((text) => text ?? ''),
  ]
  const there = target.monitor
  const found = there
    ? [there.api_key, ...[there.monitortags, there.service, there.monitorsite].map((text) => text ?? '')]
    : undefined
  return [...parts, ['target.monitor', wanted, found]]
}
