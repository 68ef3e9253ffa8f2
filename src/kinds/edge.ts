import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import type { Desired, Fields, ManagedDescriptor, ReferenceKind } from '../managed/types/descriptor.ts'
import type { InternalStatus } from '../managed/types/internal.ts'
import { available, plain } from './defaults.ts'
import { hostportClaims, hostportReferences, hostportTexts, usesAddress, usesDomain } from './edge-hostports.ts'
import { shownModules } from './edge-module-status.ts'
import {
  DISABLED,
  type EdgeModule,
  edgeModules,
  enabledModule,
  heldModule,
  modulesOf,
  wantsModule,
} from './edge-modules.ts'
import { type EdgeSpec, edgeDefinition } from './edge-schema.ts'
import { given, namesOf, objectOf, refId, refIds, sorted, textsOf } from './remote.ts'

const refersTo: readonly ReferenceKind[] = [
  { kind: 'Backend', idsIn: ({ backend }) => [refId(objectOf(backend)?.backend)].filter((id) => id !== undefined) },
  { kind: 'IPPolicy', idsIn: ({ ip_restriction }) => refIds(objectOf(ip_restriction)?.ip_policies) },
  { kind: 'CertificateAuthority', idsIn: ({ mutual_tls }) => refIds(objectOf(mutual_tls)?.certificate_authorities) },
  { kind: 'ReservedDomain', idsIn: () => [], uses: usesDomain },
  { kind: 'ReservedAddress', idsIn: () => [], uses: usesAddress },
]

/** TCP and TLS edges with their modules (`management-api.md § Edges and backends`). */
export const edge: ManagedDescriptor<EdgeSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition: edgeDefinition,
  collections: [collections.tcpEdges, collections.tlsEdges],
  collectionOf: ({ protocol }) => (protocol === 'TLS' ? collections.tlsEdges : collections.tcpEdges),
  refersTo,
  references: (spec) => [
    ...hostportReferences(spec),
    ...modulesOf(spec)
      .filter((module) => wantsModule(spec, module))
      .flatMap((module) => module.references(spec)),
  ],
  claims: hostportClaims,
  problems: (spec) =>
    modulesOf(spec)
      .filter((module) => wantsModule(spec, module))
      .flatMap((module) => module.problems(spec)),
  // A module is one value: what the spec leaves out inside of it has the contract's default.
  setBy: (spec) => {
    const modules = modulesOf(spec).map(({ name, field }) => [name, spec[field]])
    return namesOf({ hostports: spec.hostports, ...Object.fromEntries(modules) })
  },
  desire: (desired, remote) => ({
    hostports: hostportTexts(desired),
    ...Object.fromEntries(
      modulesOf(desired.spec).map((module) => [module.name, desiredModule(desired, module, remote)]),
    ),
  }),
  observe: (remote) => comparable({ hostports: remote.hostports, ...heldModules(remote) }),
  comparable,
  uniqueNames: ({ hostports }) => textsOf(hostports),
  openFields: ['tls_termination'],
  status,
  internal: (remote, { appliedModules = [] }) => ({
    appliedModules: [...sorted(presentModules(remote).filter((field) => appliedModules.includes(field)))],
  }),
  modules: wantedModules,
  intent: (spec, { appliedModules = [] }, sent = []) => ({
    appliedModules: [...sorted([...appliedModules, ...wantedModules(spec), ...sent])],
  }),
  readiness: () => available('the edge has every module that its spec names'),
}

function wantedModules(spec: EdgeSpec): readonly string[] {
  return modulesOf(spec)
    .filter((module) => wantsModule(spec, module))
    .map(({ field }) => field)
}

function heldModules(remote: RemoteObject): Fields {
  return Object.fromEntries(edgeModules.map((module) => [module.name, heldModule(remote, module)]))
}

/**
 * A module that left the spec is disabled, since an update cannot remove one (`management-api.md § Endpoints`, special rule 1), but
 * only if Culvert put it there. Undefined leaves the module alone.
 */
function desiredModule(
  desired: Desired<EdgeSpec>,
  module: EdgeModule,
  remote: RemoteObject | undefined,
): Fields | undefined {
  const { spec, status: before } = desired
  if (wantsModule(spec, module)) return module.sent(desired, remote && heldModule(remote, module))
  const named = spec[module.field] !== undefined
  const ours = remote !== undefined && (before.internal?.appliedModules ?? []).includes(module.field)
  return named || ours ? DISABLED : undefined
}

/** Hostports and lists of ids are sets; the API may return them in any order. */
function comparable(fields: Fields): Fields {
  const compared = edgeModules.map((module): [string, unknown] => {
    const value = objectOf(fields[module.name])
    return [module.name, value === undefined || value.enabled === false ? value : module.comparable(value)]
  })
  const hostports = sorted(textsOf(fields.hostports).map((hostport) => hostport.toLowerCase()))
  return { ...fields, hostports, ...Object.fromEntries(compared) }
}

/** Modules that nobody has asked for here were put there by somebody else. One that is not enabled any more is nobody's. */
function status(remote: RemoteObject, { appliedModules = [] }: InternalStatus): Fields {
  const foreign = presentModules(remote).filter((field) => !appliedModules.includes(field))
  return given({
    hostports: textsOf(remote.hostports),
    access: accessOf(remote),
    modules: shownModules(remote),
    foreignModules: foreign.length === 0 ? undefined : sorted(foreign),
  })
}

function presentModules(remote: RemoteObject): readonly string[] {
  return edgeModules.filter((module) => enabledModule(remote, module) !== undefined).map(({ field }) => field)
}

/** Who may connect. A module without anything in it is not taken for a protection. */
function accessOf({ ip_restriction, mutual_tls }: RemoteObject): 'Restricted' | 'MutualTLS' | 'Public' {
  const restriction = objectOf(ip_restriction)
  if (restriction?.enabled !== false && refIds(restriction?.ip_policies).length > 0) return 'Restricted'
  const mutual = objectOf(mutual_tls)
  if (mutual?.enabled !== false && refIds(mutual?.certificate_authorities).length > 0) return 'MutualTLS'
  return 'Public'
}
