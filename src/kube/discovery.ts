import { KubeError } from './kube-error.ts'
import type { KubeRequest } from './request.ts'
import type { ResourceType } from './types.ts'

/** Sends one request and returns the parsed body of its answer. */
type Call = (request: KubeRequest) => Promise<unknown>

/**
 * Whether the API server serves the type, according to discovery, which any authenticated user may read by default. The
 * 404 for a type that is not installed carries no Status, and neither does that of a proxy without a route to the
 * server: only discovery tells them apart.
 *
 * @throws KubeError `Unavailable` when it is not an API server that answers.
 */
export async function isServed(call: Call, type: ResourceType): Promise<boolean> {
  // Every API server serves the core group.
  if (type.group === '') return true
  const version = await read(call, type, `/apis/${type.group}/${type.version}`)
  if (version !== undefined) return namesIn(version, 'resources', 'name').includes(type.plural)
  const all = await read(call, type, '/apis')
  const groups = all === undefined ? [] : namesIn(all, 'groups', 'name')
  // Every API server has some groups. If the group is among them, either this version of it was removed, or the earlier
  // answer came from a proxy.
  if (groups.length === 0) throw notApiServer('GET /apis')
  if (!groups.includes(type.group)) return false
  const versions = groupsOf(all).filter(({ name }) => name === type.group)
  if (versions.some((group) => namesIn(group, 'versions', 'version').includes(type.version)))
    throw notApiServer(`GET /apis/${type.group}/${type.version}`)
  return false
}

/** The error for a 404 that does not come from an API server. */
export function notApiServer(call: string): KubeError {
  return new KubeError('Unavailable', `${call}: something that is not the API server answered 404`, { status: 404 })
}

async function read(call: Call, { plural }: ResourceType, path: string): Promise<object | undefined> {
  try {
    const body = await call({ verb: 'get', method: 'GET', resource: plural, path })
    return typeof body === 'object' && body !== null ? body : undefined
  } catch (error) {
    if (error instanceof KubeError && error.code === 'NotFound') return undefined
    throw error
  }
}

function groupsOf(body: object | undefined): readonly { readonly name?: unknown }[] {
  const groups: unknown = body !== undefined && 'groups' in body ? body.groups : undefined
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'object' && group !== null) : []
}

/** The names in a list of a discovery document. */
function namesIn(body: object, list: string, field: string): readonly unknown[] {
  const items: unknown = (body as Readonly<Record<string, unknown>>)[list]
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => (item as Readonly<Record<string, unknown>> | null)?.[field])
}
