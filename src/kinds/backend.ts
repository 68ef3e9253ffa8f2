import { collections } from '../api/collections.ts'
import type { Collection, RemoteObject } from '../api/types.ts'
import type { AccessNeeds } from '../managed/descriptor/access.ts'
import type { Fields, Ref } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor, ManifestView } from '../managed/descriptor/descriptor.ts'
import type { Desired } from '../managed/descriptor/desired.ts'
import type { FoundReference } from '../managed/descriptor/references.ts'
import { type BackendSpec, backendDefinition } from './backend/backend-schema.ts'
import { shownBackend, tunnelsOnlineOf } from './backend/backend-status.ts'
import { available, plain, plainFields } from './building-blocks/plain-kind.ts'
import { namesOf, objectOf, textMapOf, textOf, textsOf } from './building-blocks/remote.ts'

/**
 * Backends of all four types (`management-api.md § Edges and backends`). Cycles are detected where references are
 * resolved.
 */
export const backend: ManagedDescriptor<BackendSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  needs,
  definition: backendDefinition,
  identity: {
    markedBy: 'metadata',
    collections: [
      collections.tunnelGroupBackends,
      collections.httpResponseBackends,
      collections.weightedBackends,
      collections.failoverBackends,
    ],
    collectionOf: ({ type }) => collectionOfType(type),
  },
  references: {
    // Groups may be many, and each deletion lists these collections.
    kinds: [
      {
        kind: 'Backend',
        idsIn: childIds,
        collections: [collections.weightedBackends, collections.failoverBackends],
      },
    ],
    of: references,
  },
  problems,
  fields: {
    ...plainFields,
    setBy,
    desire,
    observe,
    comparable: (fields) =>
      fields.headers === undefined ? fields : { ...fields, headers: lowerCaseNames(textMapOf(fields.headers)) },
    // A service may add headers that an answer needs, such as `content-type`.
    open: ['headers'],
  },
  manifest: {
    namedAfter: ({ description, labels }) => [textOf(description), Object.values(textMapOf(labels)).join('-')],
    specOf: writtenBackend,
  },
  status: {
    shown: (remote, _kept, spec) => shownBackend(remote, spec?.type),
    readiness: ({ remote, spec: { type }, holderOf }) => ({
      ...available('the backend exists and matches the spec'),
      conditions: tunnelsOnlineOf(remote, type, holderOf),
    }),
  },
}

function collectionOfType(type: BackendSpec['type']): Collection {
  switch (type) {
    case 'TunnelGroup':
      return collections.tunnelGroupBackends
    case 'HTTPResponse':
      return collections.httpResponseBackends
    case 'Weighted':
      return collections.weightedBackends
    case 'Failover':
      return collections.failoverBackends
  }
}

function references({ weighted, failover }: BackendSpec): readonly FoundReference[] {
  const total = (weighted?.backendRefs ?? []).reduce((sum, { weight }) => sum + weight, 0)
  return [
    ...children('spec.weighted.backendRefs', weighted?.backendRefs, ({ weight }) => {
      return total === 0 ? `weight ${weight}` : `weight ${weight}, ${Math.round((100 * weight) / total)} %`
    }),
    ...children('spec.failover.backendRefs', failover?.backendRefs, (_, index) => `choice ${index + 1}`),
  ]
}

function children<T extends Ref>(
  path: string,
  refs: readonly T[] = [],
  noteOf: (ref: T, index: number) => string,
): readonly FoundReference[] {
  return refs.map((ref, index) => {
    return { path: `${path}[${index}]`, kind: 'Backend', ref, once: true, note: noteOf(ref, index) }
  })
}

/** A group takes every tunnel with its labels, regardless of who runs the agent. */
function needs({ type, tunnelGroup }: BackendSpec): AccessNeeds {
  if (type !== 'TunnelGroup') return {}
  return { chosen: { path: 'spec.tunnelGroup.labels', labels: tunnelGroup?.labels ?? {} } }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** CEL could check these only at a cost that the apiserver refuses, since the length of map keys is unbounded. */
function problems({ httpResponse }: BackendSpec): readonly string[] {
  const names = Object.keys(httpResponse?.headers ?? {})
  const malformed = names.filter((name) => !HEADER_NAME.test(name))
  const twice = names.filter((name) =>
    names.some((other) => other < name && other.toLowerCase() === name.toLowerCase()),
  )
  return [
    ...malformed.map((name) => `spec.httpResponse.headers: ${JSON.stringify(name)} is not a header name: correct it`),
    ...twice.map((name) => `spec.httpResponse.headers: ${name} is named twice, in different case: remove one`),
  ]
}

function setBy({ tunnelGroup, httpResponse, weighted, failover }: BackendSpec): readonly string[] {
  return namesOf({
    labels: tunnelGroup?.labels,
    body: httpResponse?.body,
    headers: httpResponse?.headers,
    status_code: httpResponse?.statusCode,
    backends: weighted?.backendRefs ?? failover?.backendRefs,
  })
}

function desire(desired: Desired<BackendSpec>): Fields {
  const { spec } = desired
  switch (spec.type) {
    case 'TunnelGroup':
      return { labels: spec.tunnelGroup?.labels ?? {} }
    case 'HTTPResponse':
      return {
        body: spec.httpResponse?.body ?? '',
        headers: spec.httpResponse?.headers ?? {},
        status_code: spec.httpResponse?.statusCode ?? 200,
      }
    case 'Weighted': {
      const shares = spec.weighted?.backendRefs ?? []
      return { backends: Object.fromEntries(shares.map((ref) => [desired.id('Backend', ref), ref.weight])) }
    }
    case 'Failover':
      return { backends: (spec.failover?.backendRefs ?? []).map((ref) => desired.id('Backend', ref)) }
  }
}

/** The spec of an object; its type follows from where it is. */
function writtenBackend(remote: RemoteObject, { collection, ref }: ManifestView): Fields {
  const { labels, headers } = observe(remote)
  switch (collection.path) {
    case collections.tunnelGroupBackends.path:
      return { type: 'TunnelGroup', tunnelGroup: withoutEmpty({ labels }) }
    case collections.httpResponseBackends.path: {
      const { body, status_code: code } = remote
      const statusCode = code === 200 || code === null ? undefined : code
      return { type: 'HTTPResponse', httpResponse: withoutEmpty({ body: textOf(body), headers, statusCode }) }
    }
    case collections.weightedBackends.path: {
      const shares = Object.entries(objectOf(remote.backends) ?? {})
      const backendRefs = shares.map(([id, weight]) => ({ ...ref('Backend', id), weight }))
      return { type: 'Weighted', weighted: { backendRefs } }
    }
    default:
      return { type: 'Failover', failover: { backendRefs: textsOf(remote.backends).map((id) => ref('Backend', id)) } }
  }
}

/** Without absent members and empty maps. */
function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && Object.keys(objectOf(value) ?? { a: 1 }).length > 0,
    ),
  )
}

/** A backend has only the fields of its type; the others are read as empty and not compared. */
function observe(remote: RemoteObject): Fields {
  return {
    labels: textMapOf(remote.labels),
    body: textOf(remote.body) ?? '',
    headers: lowerCaseNames(textMapOf(remote.headers)),
    status_code: remote.status_code ?? 200,
    backends: remote.backends ?? null,
  }
}

/** The keys of a map for a weighted backend, the entries of a list for a failover one. */
function childIds({ backends }: RemoteObject): readonly string[] {
  return Array.isArray(backends) ? textsOf(backends) : Object.keys(objectOf(backends) ?? {})
}

/** Header names are case-insensitive and may be returned in lower case. */
function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
