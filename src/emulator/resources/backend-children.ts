import { RequestError } from '../errors.ts'
import { isJsonObject, type Json, textsOf } from '../json.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/stored-object.ts'

/** Paths of all backend collections, to which an edge or a parent backend may refer. */
export const BACKENDS: readonly string[] = [
  'backends/tunnel_group',
  'backends/http_response',
  'backends/weighted',
  'backends/failover',
]

/** Ids of a parent backend's children, from its `backends`: the keys of a map of weights, or a list in order. */
export function childrenOf(backends: Json | undefined): string[] {
  return isJsonObject(backends) ? Object.keys(backends) : textsOf(backends)
}

/**
 * Children must exist, and no backend may contain itself, at any depth (`api-decisions.md § Behaviour`).
 *
 * @throws RequestError `unknownReference` or `cycle`
 */
export function checkChildren(parent: StoredObject, context: WriteContext): void {
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
