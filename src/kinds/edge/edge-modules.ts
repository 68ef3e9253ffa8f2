import type { RemoteObject } from '../../api/types.ts'
import type { Fields, Ref } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import type { FoundReference } from '../../managed/descriptor/references.ts'
import { equalJSON } from '../../util/json.ts'
import { given, namesOf, objectOf, refId, refIds, sorted, textOf, textsOf } from '../building-blocks/remote.ts'
import { sentPolicies } from '../ip-policy/usable-policy.ts'
import type { EdgeSpec } from './edge-schema.ts'
import type { ModuleField } from './module-status.ts'
import { comparablePolicy, heldPolicy, policyOfObjects, sentPolicy } from './traffic-policy.ts'

/**
 * A module of an edge (`management-api.md § Edges and backends`): its form in the spec, the request and the response.
 */
export interface EdgeModule {
  readonly field: ModuleField
  /** Its name at the API. */
  readonly name: string
  /** What it refers to in the spec, also while it is disabled. */
  references(spec: EdgeSpec): readonly FoundReference[]
  /** Why the enabled module cannot be sent. CEL refuses these too, but only since the release that added the rule. */
  problems(spec: EdgeSpec): readonly string[]
  /**
   * API names of those optional members that the spec sets, as in `setBy`. A member that the spec leaves out while it
   * names the module is kept by an adopted edge.
   */
  members(spec: EdgeSpec): readonly string[]
  /** The module to send, as enabled; undefined if the spec names nothing. `held`: the edge's module in that form. */
  sent(desired: Desired<EdgeSpec>, held: Fields | undefined): Fields | undefined
  /** The returned module in the form in which it is sent, but for `enabled`. */
  held(module: Fields): Fields
  /** Ids that the sent form refers to. */
  ids(module: Fields): readonly string[]
  /** Another form of what is in the module, for an API that refuses the first. Absent or undefined: there is none. */
  otherwise?(sent: Fields): Fields | undefined
  /** The sent form, normalised so that only differences in meaning remain. */
  comparable(module: Fields): Fields
}

const backend: EdgeModule = {
  field: 'backend',
  name: 'backend',
  references: ({ backend: module }) =>
    namesBackend(module) ? [{ path: 'spec.backend', kind: 'Backend', ref: module }] : [],
  problems: ({ backend: module }) => (namesBackend(module) ? [] : [missing('spec.backend.name')]),
  sent: (desired) => {
    const { backend: module } = desired.spec
    return namesBackend(module) ? { enabled: true, backend_id: desired.id('Backend', module) } : undefined
  },
  members: none,
  held: (module) => given({ backend_id: refId(module.backend) }),
  ids: ({ backend_id }) => textsOf([backend_id]),
  comparable: (module) => module,
}

const ipRestriction: EdgeModule = {
  field: 'ipRestriction',
  name: 'ip_restriction',
  references: ({ ipRestriction: module }) =>
    (module?.ipPolicyRefs ?? []).map((ref, index) => ({
      path: `spec.ipRestriction.ipPolicyRefs[${index}]`,
      kind: 'IPPolicy',
      ref,
    })),
  problems: ({ ipRestriction: module }) =>
    module?.ipPolicyRefs?.[0] === undefined ? [missing('spec.ipRestriction.ipPolicyRefs')] : [],
  sent: (desired, held) => {
    const refs = desired.spec.ipRestriction?.ipPolicyRefs
    return refs && { enabled: true, ip_policy_ids: sentPolicies(desired, refs, textsOf(held?.ip_policy_ids)) }
  },
  members: none,
  held: (module) => ({ ip_policy_ids: refIds(module.ip_policies) }),
  ids: ({ ip_policy_ids }) => textsOf(ip_policy_ids),
  comparable: (module) => ({ ...module, ip_policy_ids: sorted(textsOf(module.ip_policy_ids)) }),
}

const mutualTLS: EdgeModule = {
  field: 'mutualTLS',
  name: 'mutual_tls',
  references: ({ mutualTLS: module }) =>
    (module?.certificateAuthorityRefs ?? []).map((ref, index) => ({
      path: `spec.mutualTLS.certificateAuthorityRefs[${index}]`,
      kind: 'CertificateAuthority',
      ref,
    })),
  problems: ({ mutualTLS: module }) =>
    module?.certificateAuthorityRefs?.[0] === undefined ? [missing('spec.mutualTLS.certificateAuthorityRefs')] : [],
  sent: (desired) => {
    const refs = desired.spec.mutualTLS?.certificateAuthorityRefs
    const id = (ref: Ref): string => desired.id('CertificateAuthority', ref)
    return refs && { enabled: true, certificate_authority_ids: unique(refs.map(id)) }
  },
  members: none,
  held: (module) => ({ certificate_authority_ids: refIds(module.certificate_authorities) }),
  ids: ({ certificate_authority_ids }) => textsOf(certificate_authority_ids),
  comparable: (module) => ({
    ...module,
    certificate_authority_ids: sorted(textsOf(module.certificate_authority_ids)),
  }),
}

const TERMINATE_AT = 'tls_termination.terminate_at'
const MIN_VERSION = 'tls_termination.min_version'

const tlsTermination: EdgeModule = {
  field: 'tlsTermination',
  name: 'tls_termination',
  references: () => [],
  problems: () => [],
  // A version has a meaning only where the service terminates TLS.
  members: ({ tlsTermination: { terminateAt, minVersion } = {} }) =>
    namesOf({ [TERMINATE_AT]: terminateAt ?? minVersion, [MIN_VERSION]: minVersion }),
  sent: ({ spec, decides }, held) => {
    const { terminateAt, minVersion } = spec.tlsTermination ?? {}
    const kept = terminateAt === undefined && !decides(TERMINATE_AT) ? textOf(held?.terminate_at) : undefined
    const place = kept ?? (terminateAt ?? 'Edge').toLowerCase()
    if (place === 'upstream') return { enabled: true, terminate_at: place }
    const keepsVersion = held?.terminate_at === place && !decides(MIN_VERSION)
    const version = minVersion ?? (keepsVersion ? textOf(held.min_version) : undefined)
    return { enabled: true, terminate_at: place, ...given({ min_version: version }) }
  },
  held: (module) => ({
    terminate_at: (textOf(module.terminate_at) ?? 'edge').toLowerCase(),
    ...given({ min_version: textOf(module.min_version) }),
  }),
  ids: none,
  otherwise: ({ min_version, ...others }) => {
    const version = versionNamed(min_version)
    if (version === undefined) return undefined
    return { ...others, min_version: version === min_version ? `tls${version}` : version }
  },
  comparable: (module) => ({ ...module, min_version: versionNamed(module.min_version) ?? module.min_version ?? null }),
}

/** The number of the TLS version that a text names, as in `TLSv1.2`; undefined if it is not known here. */
function versionNamed(text: unknown): string | undefined {
  return typeof text === 'string' ? /^(?:tls[ _-]?v?)?(1\.[0-3])$/i.exec(text)?.[1] : undefined
}

const INBOUND = 'policy.inbound'
const OUTBOUND = 'policy.outbound'

const trafficPolicy: EdgeModule = {
  field: 'trafficPolicy',
  name: 'policy',
  references: () => [],
  problems: () => [],
  members: ({ trafficPolicy: { inbound, outbound } = {} }) => namesOf({ [INBOUND]: inbound, [OUTBOUND]: outbound }),
  sent: ({ spec: { trafficPolicy: policy = {} }, decides }, held) => ({
    ...sentPolicy(policy),
    ...(policy.inbound === undefined && !decides(INBOUND) ? given({ inbound: held?.inbound }) : {}),
    ...(policy.outbound === undefined && !decides(OUTBOUND) ? given({ outbound: held?.outbound }) : {}),
  }),
  held: heldPolicy,
  otherwise: policyOfObjects,
  ids: none,
  comparable: comparablePolicy,
}

const tcpModules: readonly EdgeModule[] = [backend, ipRestriction, trafficPolicy]
export const edgeModules: readonly EdgeModule[] = [...tcpModules, mutualTLS, tlsTermination]

export function modulesOf({ protocol }: EdgeSpec): readonly EdgeModule[] {
  return protocol === 'TLS' ? edgeModules : tcpModules
}

/** An absent module and a disabled one have the same effect: none. */
export const DISABLED: Fields = { enabled: false }

/** The edge's module in the form in which it is sent. */
export function heldModule(edge: RemoteObject, module: EdgeModule): Fields {
  const value = objectOf(edge[module.name])
  if (value === undefined) return DISABLED
  return { enabled: value.enabled !== false, ...module.held(value) }
}

/**
 * The module that the spec disables: with its contents in the spec, or else with those that the edge's module holds. An
 * API that keeps the contents of a disabled module has them when it is enabled again.
 */
export function switchedOff(desired: Desired<EdgeSpec>, module: EdgeModule, edge: RemoteObject | undefined): Fields {
  const held = edge && heldModule(edge, module)
  const isResolved = module.references(desired.spec).every(({ kind, ref }) => desired.resolves(kind, ref))
  const named = namesContents(desired.spec, module) && isResolved ? module.sent(desired, held) : undefined
  return { ...(named ?? held), ...DISABLED }
}

/** Whether the spec says more of a module than whether it is enabled. */
export function namesContents(spec: EdgeSpec, { field }: EdgeModule): boolean {
  return Object.keys(spec[field] ?? {}).some((name) => name !== 'enabled')
}

/** Whether the API shows more of the edge's module than that it is disabled. */
export function showsContents(edge: RemoteObject, module: EdgeModule): boolean {
  return Object.keys(comparableModule(module, heldModule(edge, module))).length > 1
}

/** A module, sent or returned, for comparing. A disabled one without contents has nothing but `enabled`. */
export function comparableModule(module: EdgeModule, value: Fields): Fields {
  if (value.enabled !== false) return module.comparable(value)
  const contents = Object.entries(module.comparable(value)).filter(([, member]) => !isEmpty(member))
  return { ...Object.fromEntries(contents), ...DISABLED }
}

/**
 * The module to send, for comparing with that of `edge`. One to be disabled and emptied is so as soon as it refers to
 * nothing: only the objects that it refers to would feel it.
 */
export function comparableWanted(module: EdgeModule, value: Fields, edge: RemoteObject): Fields {
  const held = heldModule(edge, module)
  const isEmptied = equalJSON(value, DISABLED) && held.enabled === false && module.ids(held).length === 0
  return comparableModule(module, isEmptied ? held : value)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** Whether the module is enabled on the edge, or refers to something. */
export function holdsModule(edge: RemoteObject, module: EdgeModule): boolean {
  return enabledModule(edge, module) !== undefined || module.ids(heldModule(edge, module)).length > 0
}

/** The module as returned, if it is present and enabled; `enabled` is true when unspecified. */
export function enabledModule(edge: RemoteObject, { name }: EdgeModule): Fields | undefined {
  const module = objectOf(edge[name])
  return module?.enabled === false ? undefined : module
}

/** Whether the spec names the module and enables it. */
export function wantsModule(spec: EdgeSpec, { field }: EdgeModule): boolean {
  const module = spec[field]
  return module !== undefined && module.enabled !== false
}

function namesBackend(module: EdgeSpec['backend']): module is NonNullable<EdgeSpec['backend']> {
  return module?.name !== undefined || module?.id !== undefined
}

function missing(path: string): string {
  return `${path} is needed while the module is enabled: name one, or set enabled: false`
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)]
}

function none(): readonly string[] {
  return []
}
