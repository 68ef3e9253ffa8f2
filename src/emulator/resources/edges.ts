import type { Choices } from '../choices/choices.ts'
import { DESCRIBED, keptPolicies, SHOWN_TEXTS } from '../fields/conventions.ts'
import { type Field, type Fields, missingField, optional, unknownField } from '../fields/field.ts'
import { coveringNames, hostport } from '../fields/hostname.ts'
import { type JsonSchema, members, nullable, TEXT, TEXTS } from '../fields/json-schema.ts'
import { distinct } from '../fields/readers.ts'
import type { Draft, Part, Resource } from '../objects/resource.ts'
import type { View } from '../objects/view.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { Link, StoredObject } from '../store/database.ts'
import { isJsonObject, type Json, type JsonObject, textOf, textsOf } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'
import {
  backendModule,
  type EdgeModule,
  ipRestrictionModule,
  mutualTlsModule,
  policyModule,
  tlsTerminationModule,
} from './edge-modules.ts'

/**
 * The id of the account's reserved address or domain that lets an edge listen on `hostport`: an address with exactly
 * that host and port, a domain of that name, or a wildcard one label above (`api-decisions.md § Behaviour`).
 */
function reservationOf(hostport: string, context: WriteContext): string | undefined {
  const host = hostport.slice(0, hostport.lastIndexOf(':'))
  const claims = [
    { scope: 'addr', value: hostport },
    ...coveringNames(host).map((name) => ({ scope: 'domain', value: name })),
  ]
  return claims.map((claim) => context.store.claimant(claim)).find((owner) => owner?.account === context.account)?.id
}

/** Whether the account has reserved the address, or the domain, of a hostport. */
export function isReserved(hostport: string, context: WriteContext): boolean {
  return reservationOf(hostport, context) !== undefined
}

/** Refuses hostports whose host the account has not reserved. */
function checkHostports(edge: StoredObject, context: WriteContext): void {
  textsOf(edge.hostports).forEach((hostport, index) => {
    if (!isReserved(hostport, context)) {
      throw invalid(`hostports[${index}]`, `${hostport} is neither on a reserved domain nor a reserved address`)
    }
  })
}

/** Ids of the reservations for the edge's hostports. */
function reservationsOf(edge: StoredObject, context: WriteContext): string[] {
  const found = textsOf(edge.hostports).map((hostport) => reservationOf(hostport, context))
  return found.filter((id) => id !== undefined)
}

export const tcpEdges = edges({ path: 'edges/tcp', listKey: 'tcp_edges', idPrefix: 'edgtcp', eventName: 'tcp_edge' }, [
  backendModule,
  ipRestrictionModule,
  policyModule,
])

export const tlsEdges = edges(
  { path: 'edges/tls', listKey: 'tls_edges', idPrefix: 'edgtls', eventName: 'tls_edge', updateAnswer: 'unstated' },
  [backendModule, ipRestrictionModule, mutualTlsModule, tlsTerminationModule, policyModule],
)

type Names = Pick<Resource, 'path' | 'listKey' | 'idPrefix' | 'eventName' | 'updateAnswer'>

function edges(names: Names, modules: readonly EdgeModule[]): Resource {
  return {
    ...names,
    served: true,
    fields: fieldsOf(modules),
    refuse: (body, choices) => {
      if (choices['rules-taken'] === 'object') refuseLists(body.policy)
      if (choices['module-contents'] === 'refused') refuseContents(modules, body)
      refuseVersion(body.tls_termination, choices['version-names'])
    },
    prepare: (draft, context) => {
      if (draft.given.hostports !== undefined) checkHostports(draft.next, context)
      for (const module of modules) {
        checkReferences(module, draft, context)
        if (context.services.choices['module-contents'] === 'mandatory') checkContents(module, draft)
      }
      checkTermination(draft.next)
    },
    claims: (edge) => textsOf(edge.hostports).map((value) => ({ scope: 'hostport', value, field: 'hostports' })),
    links: (edge, context) => [
      ...reservationsOf(edge, context).map((target): Link => ({ target, onDelete: 'restrict' })),
      ...modules.flatMap((module) => restrictedBy(module, edge)),
    ],
    shows: {
      ...SHOWN_TEXTS,
      hostports: TEXTS,
      ...Object.fromEntries(modules.map(({ name, shows }) => [name, nullable(shows)])),
    },
    render: (edge, view) => ({
      description: textOf(edge, 'description'),
      metadata: textOf(edge, 'metadata'),
      hostports: edge.hostports ?? [],
      ...Object.fromEntries(modules.map((module) => [module.name, renderModule(module, edge, view)])),
    }),
    parts: modules.map(partOf),
  }
}

function fieldsOf(modules: readonly EdgeModule[]): Fields {
  const whenNull: Field['whenNull'] = { refuse: 'an update cannot remove a module; DELETE its sub-resource' }
  return {
    ...DESCRIBED,
    hostports: optional(distinct(hostport), []),
    ...Object.fromEntries(
      modules.map((module): [string, Field] => [module.name, { ...optional(module.read, null), whenNull }]),
    ),
  }
}

/** A module as `GET`, `PUT` (bare, or `{id, module}`) and `DELETE` of its own (`api-decisions.md § Behaviour`). */
function partOf(module: EdgeModule): Part {
  return {
    name: module.name,
    read: (edge, view) => renderModule(module, edge, view),
    shows: module.shows,
    replace: (body) => ({ [module.name]: unwrap(body) }),
    takes: { anyOf: [withId(module.read.schema), members({ id: TEXT, module: module.read.schema }, ['id'])] },
    clear: () => ({ [module.name]: null }),
  }
}

/** A bare module may carry an id, which is ignored. */
function withId(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema
  return { ...schema, properties: { id: TEXT, ...(isJsonObject(properties) ? properties : {}) } }
}

function unwrap(body: JsonObject): Json {
  if (body.module === undefined) return withoutId(body)
  for (const name of Object.keys(body)) {
    if (name !== 'id' && name !== 'module') throw unknownField(name)
  }
  return body.module
}

function withoutId(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'id'))
}

function renderModule(module: EdgeModule, edge: StoredObject, view: View): JsonObject | null {
  const value = edge[module.name]
  return isJsonObject(value) ? module.render(value, view) : null
}

function idsIn(module: EdgeModule, edge: JsonObject): string[] {
  const value = edge[module.name]
  if (module.references === undefined || !isJsonObject(value)) return []
  const held = value[module.references.member]
  return typeof held === 'string' ? [held] : textsOf(held)
}

function checkReferences(module: EdgeModule, draft: Draft, context: WriteContext): void {
  const { references } = module
  // A module that was not sent may name an IP policy that was deleted meanwhile; that is allowed.
  if (references === undefined || draft.given[module.name] === undefined) return
  const held = references.restricts || draft.before === undefined ? [] : idsIn(module, draft.before)
  const kept = keptPolicies(held, context.services.choices)
  for (const id of idsIn(module, draft.next)) {
    if (!kept.includes(id)) context.resolve(references.collections, id, `${module.name}.${references.member}`)
  }
}

function checkContents(module: EdgeModule, { given }: Draft): void {
  const sent = given[module.name]
  if (module.references === undefined || !isJsonObject(sent) || idsIn(module, given).length > 0) return
  throw missingField(`${module.name}.${module.references.member}`)
}

function refuseContents(modules: readonly EdgeModule[], body: JsonObject): void {
  for (const { name } of modules) {
    const sent = body[name]
    if (!isJsonObject(sent) || sent.enabled !== false || Object.keys(sent).length === 1) continue
    throw invalid(name, 'must hold nothing but enabled while the module is disabled')
  }
}

function refuseVersion(module: Json | undefined, names: Choices['version-names']): void {
  const version = isJsonObject(module) ? module.min_version : undefined
  if (names === 'any' || typeof version !== 'string' || version === '') return
  const form = names === 'tls' ? /^tls1\.[0-3]$/ : /^1\.[0-3]$/
  if (!form.test(version)) throw invalid('tls_termination.min_version', `must be of the form ${form.source}`)
}

function refuseLists(policy: Json | undefined): void {
  if (!isJsonObject(policy)) return
  for (const direction of ['inbound', 'outbound']) {
    refuseList(policy[direction], `policy.${direction}`)
    for (const rule of [policy[direction]].flat()) {
      if (isJsonObject(rule)) refuseList(rule.actions, `policy.${direction}.actions`)
    }
  }
}

function refuseList(value: Json | undefined, at: string): void {
  if (Array.isArray(value) && value.length < 2) throw invalid(at, 'must be an object, or a list of several')
}

function restrictedBy(module: EdgeModule, edge: StoredObject): Link[] {
  if (module.references?.restricts !== true) return []
  return idsIn(module, edge).map((target) => ({ target, onDelete: 'restrict' }))
}

/** These modules cannot inspect TLS that is passed through to the upstream. */
function checkTermination(edge: StoredObject): void {
  const termination = edge.tls_termination
  if (!isEnabled(termination) || termination.terminate_at !== 'upstream') return
  for (const name of ['mutual_tls', 'policy']) {
    if (isEnabled(edge[name])) {
      throw new RequestError('exclusiveFields', `${name} cannot be enabled while tls_termination ends at upstream`, {
        field: name,
      })
    }
  }
}

function isEnabled(module: Json | undefined): module is JsonObject {
  return isJsonObject(module) && module.enabled === true
}
