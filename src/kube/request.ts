import type { HttpRequest } from '../http-client/send.ts'
import { KubeError } from './kube-error.ts'
import type { ObjectKey, ResourceType } from './types.ts'

/** What a request does, as RBAC and metrics name it. */
export type KubeVerb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'apply' | 'delete'

/** A request to the API server. */
export interface KubeRequest extends HttpRequest {
  readonly verb: KubeVerb
  readonly resource: string
  readonly subresource?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export type QueryParameters = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Path of one object.
 *
 * @throws TypeError for an empty name or a namespaced type without a namespace: the call would reach something else.
 * @throws KubeError `Invalid` for a name that no object can have.
 */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new TypeError(`an empty name would address the whole collection of ${type.plural}`)
  if (type.namespaced && !key.namespace)
    throw new TypeError(`${type.plural} are namespaced: ${key.name} needs a namespace`)
  if (!canBeNamed(key)) {
    const name = JSON.stringify(key.name)
    throw new KubeError('Invalid', `${name} is not a valid name for an object of ${type.plural}: nothing was sent`)
  }
  const path = `${collectionPath(type, key.namespace)}/${encodeURIComponent(key.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/**
 * Whether an object can have that name. Kubernetes allows no name that is `.` or `..` or contains `/` or `%`. Names
 * come from specs that people write, and in a path these would lead to a subresource or, behind a proxy that normalises
 * paths, into another namespace.
 */
export function canBeNamed({ name, namespace = '' }: ObjectKey): boolean {
  return isSegment(name) && (namespace === '' || isSegment(namespace))
}

function isSegment(text: string): boolean {
  return text !== '.' && text !== '..' && !/[/%\\\p{Cc}]/u.test(text) && text.isWellFormed()
}

/** Path of a collection; without a namespace, of all namespaces. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${scope}/${type.plural}`
}

/** `group/version`, or only `version` for the core group. */
export function apiVersion(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

/** Path with a query; undefined parameters are left out. */
export function withQuery(path: string, parameters: QueryParameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
