import { DESCRIBED_WITHOUT_LIMITS, ids, refuseEmpty, SHOWN_TEXTS } from '../fields/conventions.ts'
import { optional, type Reader, reader } from '../fields/field.ts'
import { nullable, REFS, TEXT, TEXT_MAP, TEXTS } from '../fields/json-schema.ts'
import { integer, mapOf, string } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type Json, type JsonObject, textOf, textsOf } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'

/** Paths of all backend collections, to which an edge or a parent backend may refer. */
export const BACKENDS: readonly string[] = [
  'backends/tunnel_group',
  'backends/http_response',
  'backends/weighted',
  'backends/failover',
]

/** Ids of a parent backend's children, from its `backends`: the keys of a map of weights, or a list in order. */
function childrenOf(backends: Json | undefined): string[] {
  return isJsonObject(backends) ? Object.keys(backends) : textsOf(backends)
}

/**
 * Children must exist, and no backend may contain itself, at any depth (`api-decisions.md § Behaviour`).
 *
 * @throws RequestError `unknownReference` or `cycle`
 */
function checkChildren(parent: StoredObject, context: WriteContext): void {
  for (const id of childrenOf(parent.backends)) {
    if (id !== parent.id) context.resolve(BACKENDS, id, 'backends')
  }
  const cycle = pathTo(parent.id, childrenOf(parent.backends), context)
  if (cycle !== undefined) {
    const route = [parent.id, ...cycle].join(' → ')
    throw new RequestError('cycle', `backends: ${route} is a cycle`, { field: 'backends', id: cycle[0] ?? parent.id })
  }
}

/** A path from one of `starts` down to `goal`, or undefined. Each backend is visited once. */
function pathTo(goal: string, starts: readonly string[], context: WriteContext): string[] | undefined {
  const visited = new Set<string>()
  const trails = starts.map((id) => [id])
  for (let trail = trails.pop(); trail !== undefined; trail = trails.pop()) {
    const id = trail.at(-1) ?? ''
    if (id === goal) return trail
    if (visited.has(id)) continue
    visited.add(id)
    const backend = context.resolve(BACKENDS, id, 'backends')
    for (const child of childrenOf(backend.backends)) trails.push([...trail, child])
  }
  return undefined
}

/**
 * Backends that select the tunnels with all their labels; one without labels selects none (`api-decisions.md § Agents
 * and tunnel sessions in the emulator`).
 */
export const tunnelGroupBackends: Resource = {
  path: 'backends/tunnel_group',
  listKey: 'backends',
  idPrefix: 'bkdtg',
  eventName: 'tunnel_group_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, labels: optional(mapOf(string), {}) },
  shows: { ...SHOWN_TEXTS, labels: TEXT_MAP, tunnels: REFS },
  render: (backend, view) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    labels: backend.labels ?? {},
    tunnels: view.labelled(backend.labels),
  }),
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Header names are returned lower-cased (`api-decisions.md § Values`); names that differ only in case are the same. */
const headers: Reader<JsonObject> = reader(TEXT_MAP, (value, at) => {
  const result: JsonObject = {}
  for (const [name, content] of Object.entries(mapOf(string)(value, at))) {
    const lower = name.toLowerCase()
    if (!HEADER_NAME.test(name)) throw invalid(`${at}.${name}`, 'is not a header name')
    if (Object.hasOwn(result, lower)) throw invalid(`${at}.${name}`, 'is named twice')
    if (/[\r\n\0]/.test(content)) throw invalid(`${at}.${name}`, 'a header value must not contain line breaks')
    result[lower] = content
  }
  return result
})

/** The headers with a `content-type`. */
function typed(given: Json | undefined): JsonObject {
  return { 'content-type': 'text/plain', ...(isJsonObject(given) ? given : {}) }
}

/** Backends that answer every request with fixed content. */
export const httpResponseBackends: Resource = {
  path: 'backends/http_response',
  listKey: 'backends',
  idPrefix: 'bkdhr',
  eventName: 'http_response_backend',
  served: true,
  fields: {
    ...DESCRIBED_WITHOUT_LIMITS,
    body: optional(string, null),
    headers: optional(headers, null),
    status_code: optional(integer(200, 999), 200),
  },
  shows: { ...SHOWN_TEXTS, body: nullable(TEXT), headers: nullable(TEXT_MAP), status_code: integer(200, 999).schema },
  render: (backend, { choices }) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    body: backend.body ?? null,
    headers: choices['content-type'] === 'added' ? typed(backend.headers) : (backend.headers ?? null),
    status_code: backend.status_code ?? 200,
  }),
}

/** Backends that split traffic by weight, 0 to 10000 each (`management-api.md § Limits`). */
export const weightedBackends: Resource = {
  path: 'backends/weighted',
  listKey: 'backends',
  idPrefix: 'bkdwd',
  eventName: 'weighted_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, backends: optional(mapOf(integer(0, 10_000)), {}) },
  refuse: (body, choices) => {
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['backends'])
  },
  prepare: ({ given, next }, context) => {
    if (given.backends !== undefined) checkChildren(next, context)
  },
  links: (backend) => childrenOf(backend.backends).map((target) => ({ target, onDelete: 'restrict' })),
  shows: { ...SHOWN_TEXTS, backends: mapOf(integer(0, 10_000)).schema },
  render: (backend) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    backends: backend.backends ?? {},
  }),
}

/** Backends that send traffic to the first child that can take it. */
export const failoverBackends: Resource = {
  path: 'backends/failover',
  listKey: 'backends',
  idPrefix: 'bkdfo',
  eventName: 'failover_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, backends: optional(ids, []) },
  refuse: (body, choices) => {
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['backends'])
  },
  prepare: ({ given, next }, context) => {
    if (given.backends !== undefined) checkChildren(next, context)
  },
  links: (backend) => childrenOf(backend.backends).map((target) => ({ target, onDelete: 'restrict' })),
  shows: { ...SHOWN_TEXTS, backends: TEXTS },
  render: (backend) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    backends: backend.backends ?? [],
  }),
}
