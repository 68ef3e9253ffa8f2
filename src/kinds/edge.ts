import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Desired } from '../managed/descriptor/desired.ts'
import type { Fields } from '../managed/descriptor/fields.ts'
import type { InternalStatus } from '../managed/descriptor/internal.ts'
import type { ReferenceKind } from '../managed/descriptor/references.ts'
import { equalJSON } from '../util/equal-json.ts'
import {
  addressesUsed,
  domainsUsed,
  hostportNeeds,
  hostportReferences,
  hostportTexts,
  literalHosts,
} from './edge/hostports.ts'
import { shownModules } from './edge/module-status.ts'
import {
  comparableModule,
  DISABLED,
  type EdgeModule,
  edgeModules,
  enabledModule,
  heldModule,
  holdsModule,
  modulesOf,
  switchedOff,
  wantsModule,
} from './edge/modules.ts'
import { edgeRisks } from './edge/risks.ts'
import { type EdgeSpec, edgeDefinition, SHOWN_HOSTPORTS } from './edge/schema.ts'
import { writtenEdge } from './edge/written.ts'
import { available, plain, plainFields } from './shared/defaults.ts'
import { isOurs } from './shared/is-ours.ts'
import { given, namesOf, objectOf, refId, refIds, shownTexts, sorted, textOf, textsOf } from './shared/remote.ts'

const refersTo: readonly ReferenceKind[] = [
  { kind: 'Backend', idsIn: ({ backend }) => [refId(objectOf(backend)?.backend)].filter((id) => id !== undefined) },
  { kind: 'IPPolicy', outlives: true, idsIn: ({ ip_restriction }) => refIds(objectOf(ip_restriction)?.ip_policies) },
  { kind: 'CertificateAuthority', idsIn: ({ mutual_tls }) => refIds(objectOf(mutual_tls)?.certificate_authorities) },
  { kind: 'ReservedDomain', idsIn: () => [], valuesIn: domainsUsed },
  { kind: 'ReservedAddress', idsIn: () => [], valuesIn: addressesUsed },
]

/** TCP and TLS edges with their modules (`management-api.md § Edges and backends`). */
export const edge: ManagedDescriptor<EdgeSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  needs: hostportNeeds,
  definition: edgeDefinition,
  identity: {
    markedBy: 'metadata',
    collections: [collections.tcpEdges, collections.tlsEdges],
    collectionOf: ({ protocol }) => (protocol === 'TLS' ? collections.tlsEdges : collections.tcpEdges),
    uniqueNames: ({ hostports }) => textsOf(hostports),
  },
  references: {
    kinds: refersTo,
    of: (spec) => [
      ...hostportReferences(spec),
      ...modulesOf(spec)
        .filter((module) => wantsModule(spec, module))
        .flatMap((module) => module.references(spec)),
    ],
    namedValues: literalHosts,
  },
  problems: (spec) =>
    modulesOf(spec)
      .filter((module) => wantsModule(spec, module))
      .flatMap((module) => module.problems(spec)),
  fields: {
    ...plainFields,
    // What a rule or an action leaves out, the service may fill in. A disabled module may have to keep what it refers
    // to.
    open: edgeModules.map(({ name }) => name),
    setBy: (spec) => {
      const named = modulesOf(spec).filter(({ field }) => spec[field] !== undefined)
      return [
        ...namesOf({ hostports: spec.hostports }),
        ...named.flatMap((module) => [module.name, ...module.members(spec)]),
      ]
    },
    desire: (desired, remote) => ({
      hostports: hostportTexts(desired),
      ...Object.fromEntries(
        modulesOf(desired.spec).map((module) => [module.name, desiredModule(desired, module, remote)]),
      ),
    }),
    observe: (remote) => comparable({ hostports: remote.hostports, ...heldModules(remote) }),
    comparable,
    alternatives,
    risks: edgeRisks,
  },
  status: {
    shown: status,
    readiness: () => available('the edge has every module that its spec names'),
  },
  manifest: {
    namedAfter: ({ description, hostports }) => [textOf(description), ...textsOf(hostports)],
    specOf: writtenEdge,
  },
  modules: {
    named: (spec) => modulesOf(spec).flatMap(({ field }) => (spec[field] === undefined ? [] : [field])),
    held: (remote) => edgeModules.filter((module) => holdsModule(remote, module)).map(({ field }) => field),
    created: wantedModules,
  },
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
 * A module that the spec disables keeps its contents. One that was removed from the spec is disabled and emptied, since
 * an update cannot remove it (`management-api.md § Endpoints`, special rule 1), but only if Culvert added it. Undefined
 * leaves the module alone.
 */
function desiredModule(
  desired: Desired<EdgeSpec>,
  module: EdgeModule,
  remote: RemoteObject | undefined,
): Fields | undefined {
  const { spec } = desired
  if (wantsModule(spec, module)) return module.sent(desired, remote && heldModule(remote, module))
  // To a new edge, a disabled module says nothing, and a service may want one to have contents.
  if (spec[module.field] !== undefined) return remote && switchedOff(remote, module)
  return remote !== undefined && isOurs(desired, module.field) ? DISABLED : undefined
}

/**
 * For an API that wants other forms of modules: first of what is in them, then also of disabled ones as a whole, since
 * one may want these with their contents, or without.
 */
function alternatives(body: Fields, remote?: RemoteObject): readonly Fields[] {
  const inAnotherForm = changed(body, (module, sent) => module.otherwise?.(sent))
  const others = changed(inAnotherForm ?? body, (module, sent) => otherwiseDisabled(module, sent, remote))
  return [inAnotherForm, others].filter((each) => each !== undefined)
}

/** The body with other forms of the modules that have one; undefined if none has. */
function changed(body: Fields, formOf: (module: EdgeModule, sent: Fields) => Fields | undefined): Fields | undefined {
  const others = edgeModules.flatMap((module) => {
    const sent = objectOf(body[module.name])
    const other = sent && formOf(module, sent)
    return other === undefined || equalJSON(other, sent) ? [] : [[module.name, other] as const]
  })
  return others.length === 0 ? undefined : { ...body, ...Object.fromEntries(others) }
}

/** A disabled module without its contents, or with them if it was sent without. */
function otherwiseDisabled(module: EdgeModule, sent: Fields, remote?: RemoteObject): Fields | undefined {
  if (sent.enabled !== false) return undefined
  if (Object.keys(sent).length > 1) return DISABLED
  const kept = remote && switchedOff(remote, module)
  return kept !== undefined && Object.keys(kept).length > 1 ? (module.otherwise?.(kept) ?? kept) : undefined
}

/** Hostports and lists of ids are sets; the API may return them in any order. */
function comparable(fields: Fields): Fields {
  const compared = edgeModules.map((module): [string, unknown] => {
    const value = objectOf(fields[module.name])
    return [module.name, value && comparableModule(module, value)]
  })
  const hostports = sorted(textsOf(fields.hostports).map((hostport) => hostport.toLowerCase()))
  return { ...fields, hostports, ...Object.fromEntries(compared) }
}

/** Enabled modules that no spec of this resource named were added outside Culvert. */
function status(remote: RemoteObject, { appliedModules = [] }: InternalStatus): Fields {
  const foreign = presentModules(remote).filter((field) => !appliedModules.includes(field))
  return given({
    hostports: shownTexts(textsOf(remote.hostports), SHOWN_HOSTPORTS),
    access: accessOf(remote),
    modules: shownModules(remote),
    foreignModules: foreign.length === 0 ? undefined : sorted(foreign),
  })
}

function presentModules(remote: RemoteObject): readonly string[] {
  return edgeModules.filter((module) => enabledModule(remote, module) !== undefined).map(({ field }) => field)
}

/** Who may connect. An empty module does not count as protection. */
function accessOf({ ip_restriction, mutual_tls }: RemoteObject): 'Restricted' | 'MutualTLS' | 'Public' {
  if (isApplied(ip_restriction, 'ip_policies')) return 'Restricted'
  return isApplied(mutual_tls, 'certificate_authorities') ? 'MutualTLS' : 'Public'
}

function isApplied(module: unknown, references: string): boolean {
  const fields = objectOf(module)
  return fields !== undefined && fields.enabled !== false && refIds(fields[references]).length > 0
}
