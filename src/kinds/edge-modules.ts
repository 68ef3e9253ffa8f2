import type { RemoteObject } from '../api/types.ts'
import type { Ref } from '../managed/types/common.ts'
import type { Desired, Fields, FoundReference } from '../managed/types/descriptor.ts'
import type { EdgeSpec } from './edge-schema.ts'
import { comparablePolicy, sentPolicy } from './edge-traffic-policy.ts'
import { objectOf, refId, refIds, sorted, textOf, textsOf } from './remote.ts'

export type ModuleField = 'backend' | 'ipRestriction' | 'trafficPolicy' | 'mutualTLS' | 'tlsTermination'

/** A module of an edge (`management-api.md § Edges and backends`): how the spec, the request and the response each name it. */
export interface EdgeModule {
  readonly field: ModuleField
  /** Its name at the API. */
  readonly name: string
  /** References that count while the module is enabled. */
  references(spec: EdgeSpec): readonly FoundReference[]
  /** What keeps the enabled module from being sent. CEL refuses it too, but only from the version on that has the rule. */
  problems(spec: EdgeSpec): readonly string[]
  /** The enabled module as it is sent; undefined when the spec lacks it. */
  sent(desired: Desired<EdgeSpec>, held: Fields | undefined): Fields | undefined
  /** The enabled module as returned, in the form in which it is sent. */
  held(module: Fields): Fields
  /** The sent form with what may differ without a difference in meaning brought into one form. */
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
  held: (module) => ({ enabled: true, backend_id: refId(module.backend) ?? null }),
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
  sent: (desired) => {
    const refs = desired.spec.ipRestriction?.ipPolicyRefs
    return refs && { enabled: true, ip_policy_ids: unique(refs.map((ref) => desired.id('IPPolicy', ref))) }
  },
  held: (module) => ({ enabled: true, ip_policy_ids: refIds(module.ip_policies) }),
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
  held: (module) => ({ enabled: true, certificate_authority_ids: refIds(module.certificate_authorities) }),
  comparable: (module) => ({
    ...module,
    certificate_authority_ids: sorted(textsOf(module.certificate_authority_ids)),
  }),
}

const tlsTermination: EdgeModule = {
  field: 'tlsTermination',
  name: 'tls_termination',
  references: () => [],
  problems: () => [],
  sent: ({ spec }, held) => {
    const { terminateAt = 'Edge', minVersion } = spec.tlsTermination ?? {}
    if (terminateAt === 'Upstream') return { enabled: true, terminate_at: 'upstream' }
    if (minVersion !== undefined) return { enabled: true, terminate_at: 'edge', min_version: minVersion }
    return held !== undefined && isSafeChoice(held) ? held : { enabled: true, terminate_at: 'edge' }
  },
  held: (module) => ({
    enabled: true,
    terminate_at: (textOf(module.terminate_at) ?? 'edge').toLowerCase(),
    min_version: textOf(module.min_version) ?? null,
  }),
  comparable: (module) => ({ ...module, min_version: module.min_version ?? null }),
}

/**
 * Where the spec names no version the service chooses a safe one, and may return its choice (`management-api.md § Edges and
 * backends`): that is no drift. An older version is: somebody set it.
 */
function isSafeChoice({ terminate_at, min_version }: Fields): boolean {
  return terminate_at === 'edge' && typeof min_version === 'string' && Number(min_version) >= 1.2
}

const trafficPolicy: EdgeModule = {
  field: 'trafficPolicy',
  name: 'policy',
  references: () => [],
  problems: () => [],
  sent: ({ spec }) => sentPolicy(spec.trafficPolicy ?? {}),
  held: (module) => ({ ...module, enabled: true }),
  comparable: comparablePolicy,
}

const tcpModules: readonly EdgeModule[] = [backend, ipRestriction, trafficPolicy]
export const edgeModules: readonly EdgeModule[] = [...tcpModules, mutualTLS, tlsTermination]

export function modulesOf({ protocol }: EdgeSpec): readonly EdgeModule[] {
  return protocol === 'TLS' ? edgeModules : tcpModules
}

/** A module that is not there and one that is disabled do the same: nothing. Its references do not count. */
export const DISABLED: Fields = { enabled: false }

/** The module as the edge has it, in the form in which it is sent. */
export function heldModule(edge: RemoteObject, module: EdgeModule): Fields {
  const held = enabledModule(edge, module)
  return held === undefined ? DISABLED : module.held(held)
}

/** The module as returned, when it is there and enabled; `enabled` is true when unspecified. */
export function enabledModule(edge: RemoteObject, { name }: EdgeModule): Fields | undefined {
  const module = objectOf(edge[name])
  return module?.enabled === false ? undefined : module
}

/** Whether the spec names the module and wants it applied to traffic. */
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
