import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import type { Fields } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Desired } from '../managed/descriptor/desired.ts'
import type { InternalStatus } from '../managed/descriptor/internal.ts'
import type { KindCondition, ReadinessView } from '../managed/descriptor/readiness.ts'
import { reasons } from '../managed/descriptor/reasons.ts'
import type { ReferenceKind } from '../managed/descriptor/references.ts'
import { equalJSON } from '../util/json.ts'
import { answerOf } from './backend/backend-status.ts'
import { available, plain, plainFields } from './building-blocks/plain-kind.ts'
import {
  given,
  namesOf,
  objectOf,
  refId,
  refIds,
  shownTexts,
  sorted,
  textOf,
  textsOf,
} from './building-blocks/remote.ts'
import { isOurs } from './building-blocks/spec-fields.ts'
import {
  comparableModule,
  comparableWanted,
  DISABLED,
  type EdgeModule,
  edgeModules,
  enabledModule,
  heldModule,
  holdsModule,
  modulesOf,
  namesContents,
  showsContents,
  switchedOff,
  wantsModule,
} from './edge/edge-modules.ts'
import { edgeRisks } from './edge/edge-risks.ts'
import { type EdgeSpec, edgeDefinition, HOSTPORTS_IN_ROW, SERVING, SHOWN_HOSTPORTS } from './edge/edge-schema.ts'
import {
  addressesUsed,
  domainsUsed,
  hostportNeeds,
  hostportReferences,
  hostportTexts,
  literalHosts,
} from './edge/hostports.ts'
import { shownModules } from './edge/module-status.ts'
import { writtenEdge } from './edge/written.ts'

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
      ...modulesOf(spec).flatMap((module) => {
        // Nothing keeps a live edge from having a module disabled.
        return module.references(spec).map((each) => ({ ...each, optional: !wantsModule(spec, module) }))
      }),
    ],
    namedValues: literalHosts,
  },
  problems: (spec) =>
    modulesOf(spec)
      .filter((module) => wantsModule(spec, module))
      .flatMap((module) => module.problems(spec)),
  fields: {
    ...plainFields,
    // What a rule or an action leaves out, the service may fill in. Of a disabled module, it may keep nothing.
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
    mayStand,
    alternatives,
    risks: edgeRisks,
  },
  status: {
    shown: status,
    readiness: ({ spec, remote, holderOf }) => ({
      ...available(modulesText(spec, remote)),
      conditions: servingOf(remote, holderOf),
    }),
  },
  manifest: {
    namedAfter: ({ description, hostports }) => [textOf(description), ...textsOf(hostports)],
    specOf: writtenEdge,
  },
  modules: {
    named: (spec) => modulesOf(spec).flatMap(({ field }) => (spec[field] === undefined ? [] : [field])),
    held: (remote) => edgeModules.filter((module) => holdsModule(remote, module)).map(({ field }) => field),
  },
}

/** Whether a connection that is admitted can be answered; none while that is unknown. */
function servingOf({ backend }: RemoteObject, holderOf: ReadinessView<EdgeSpec>['holderOf']): readonly KindCondition[] {
  const { type } = SERVING
  const module = objectOf(backend)
  const id = refId(module?.backend)
  if (id !== undefined && module?.enabled !== false)
    return answerOf(id, holderOf).map((answer) => ({ type, ...answer }))
  const message = 'the edge has no enabled backend: set spec.backend.name, and spec.backend.enabled to true'
  return [{ type, status: 'False', reason: reasons.BackendDisabled, message }]
}

/** The message of Ready. An API may keep nothing of a disabled module, or refuse what is in it. */
function modulesText(spec: EdgeSpec, remote: RemoteObject): string {
  const emptied = modulesOf(spec)
    .filter((module) => spec[module.field]?.enabled === false && namesContents(spec, module))
    .filter((module) => !showsContents(remote, module))
    .map(({ field }) => `spec.${field}`)
  if (emptied.length === 0) return 'the edge has every module set in its spec'
  const all = emptied.join(', ')
  return `the edge has every module enabled in its spec; the API does not return the contents of ${all} while disabled: Culvert sends them when enabled is true`
}

function heldModules(remote: RemoteObject): Fields {
  return Object.fromEntries(edgeModules.map((module) => [module.name, heldModule(remote, module)]))
}

/**
 * A module that the spec disables has its contents in the spec, or keeps those that it has. One that was removed from
 * the spec is disabled and emptied, since an update cannot remove it (`management-api.md § Endpoints`, special rule 1),
 * but only if Culvert added it. Undefined leaves the module alone.
 */
function desiredModule(
  desired: Desired<EdgeSpec>,
  module: EdgeModule,
  remote: RemoteObject | undefined,
): Fields | undefined {
  const { spec } = desired
  if (wantsModule(spec, module)) return module.sent(desired, remote && heldModule(remote, module))
  if (spec[module.field] !== undefined) return switchedOff(desired, module, remote)
  return remote !== undefined && isOurs(desired, module.field) ? DISABLED : undefined
}

/**
 * For an API that wants other forms of modules: of what is in them, and of disabled ones as a whole, since one may want
 * these with their contents, or without. A new edge says nothing by a disabled module, least by one without contents.
 */
function alternatives(body: Fields, remote?: RemoteObject): readonly Fields[] {
  const fewer =
    remote === undefined
      ? [without(body, (module) => equalJSON(module, DISABLED)), without(body, (module) => module.enabled === false)]
      : [changed(body, otherwiseDisabled(remote)) ?? body]
  const all = edgeModules.reduce<readonly Fields[]>(
    (forms, { name, otherwise }) =>
      forms.flatMap((form) => {
        const sent = objectOf(form[name])
        const other = sent && otherwise?.(sent)
        return other === undefined ? [form] : [form, { ...form, [name]: other }]
      }),
    [body, ...fewer],
  )
  return all.filter((each, index) => all.findIndex((other) => equalJSON(other, each)) === index).slice(1)
}

function without(body: Fields, isLeftOut: (module: Fields) => boolean): Fields {
  const isKept = ([, value]: readonly [string, unknown]): boolean => {
    const module = objectOf(value)
    return module === undefined || !isLeftOut(module)
  }
  return Object.fromEntries(Object.entries(body).filter(isKept))
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

/** A disabled module without its contents, or with those that the edge has if it was sent without. */
function otherwiseDisabled(edge: RemoteObject) {
  return (module: EdgeModule, sent: Fields): Fields | undefined => {
    if (sent.enabled !== false) return undefined
    if (Object.keys(sent).length > 1) return DISABLED
    const kept = { ...heldModule(edge, module), ...DISABLED }
    return Object.keys(kept).length > 1 ? (module.otherwise?.(kept) ?? kept) : undefined
  }
}

/** A service need not keep what is in a disabled module, as long as it keeps no other references. */
function mayStand(field: string, sent: unknown, found: unknown): boolean {
  const module = edgeModules.find(({ name }) => name === field)
  const [wanted, there] = [objectOf(sent), objectOf(found)]
  if (module === undefined || wanted?.enabled !== false || there?.enabled !== false) return false
  return module.ids(there).length === 0
}

/** Hostports and lists of ids are sets; the API may return them in any order. */
function comparable(fields: Fields, remote?: RemoteObject): Fields {
  const compared = edgeModules.map((module): [string, unknown] => {
    const value = objectOf(fields[module.name])
    return [
      module.name,
      value && (remote === undefined ? comparableModule(module, value) : comparableWanted(module, value, remote)),
    ]
  })
  const hostports = sorted(textsOf(fields.hostports).map((hostport) => hostport.toLowerCase()))
  return { ...fields, hostports, ...Object.fromEntries(compared) }
}

/** Enabled modules that no spec of this resource named were added outside Culvert. */
function status(remote: RemoteObject, { appliedModules = [] }: InternalStatus): Fields {
  const foreign = presentModules(remote).filter((field) => !appliedModules.includes(field))
  const hostports = shownTexts(textsOf(remote.hostports), SHOWN_HOSTPORTS)
  return given({
    hostports,
    hostportSummary: summaryOf(hostports),
    access: accessOf(remote),
    modules: shownModules(remote),
    foreignModules: foreign.length === 0 ? undefined : sorted(foreign),
  })
}

/** A column of `kubectl get` shows a list as JSON. */
function summaryOf(hostports: readonly string[]): string | undefined {
  if (hostports.length === 0) return undefined
  const shown = sorted(hostports)
  const more = shown.length > HOSTPORTS_IN_ROW ? ` + ${shown.length - HOSTPORTS_IN_ROW} more` : ''
  return `${shown.slice(0, HOSTPORTS_IN_ROW).join(',')}${more}`
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
