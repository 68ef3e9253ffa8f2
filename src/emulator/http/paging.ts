import { RequestError } from '../errors.ts'
import { type JsonSchema, TEXT } from '../fields/json-schema.ts'
import type { JsonObject } from '../json.ts'
import { render } from '../objects/render.ts'
import type { View } from '../objects/view.ts'
import type { Resource } from '../resources/resource.ts'
import type { Store, StoredObject } from '../store/store.ts'

const LARGEST_PAGE = 100

/** The query parameters of every list. */
export const PAGE_QUERY: Readonly<Record<string, JsonSchema>> = {
  limit: { type: 'integer', minimum: 1, maximum: LARGEST_PAGE, default: LARGEST_PAGE },
  before_id: TEXT,
}

export interface PageRequest {
  readonly limit: number
  readonly beforeId: string | undefined
}

/** Reads `limit` (1 to 100, default 100) and `before_id`; other parameters are ignored (`api-decisions.md § Lists`). */
export function readPageRequest(query: Readonly<Record<string, unknown>>): PageRequest {
  return { limit: readLimit(query.limit), beforeId: readBeforeId(query.before_id) }
}

function readLimit(value: unknown): number {
  if (value === undefined) return LARGEST_PAGE
  const limit = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 0
  if (limit < 1 || limit > LARGEST_PAGE) {
    throw new RequestError('query', `limit must be a whole number from 1 to ${LARGEST_PAGE}`, { field: 'limit' })
  }
  return limit
}

function readBeforeId(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw new RequestError('query', 'before_id must be given once', { field: 'before_id' })
  return value
}

/**
 * One page, newest first. The cursor is the id of an object that exists, so a page costs one lookup and one range scan,
 * whatever the size of the collection.
 */
export function listPage(
  resource: Resource,
  account: string,
  request: PageRequest,
  store: Store,
  view: View,
): JsonObject {
  const { limit, beforeId } = request
  if (beforeId !== undefined && store.get(account, resource.path, beforeId) === undefined) {
    throw unknownCursor(resource, beforeId)
  }
  return envelope(resource, store.page(account, resource.path, limit + 1, beforeId), limit, view)
}

/** The same page as it was at `time` (emulated milliseconds): what a lagging replica would answer. */
export function listPastPage(
  resource: Resource,
  account: string,
  request: PageRequest & { time: number },
  store: Store,
  view: View,
): JsonObject {
  const objects = objectsAt(resource, account, request.time, store)
  const { limit, beforeId } = request
  if (beforeId !== undefined && !objects.some((object) => object.id === beforeId))
    throw unknownCursor(resource, beforeId)
  const older = beforeId === undefined ? objects : objects.filter((object) => object.id < beforeId)
  return envelope(resource, older.slice(0, limit + 1), limit, view)
}

function objectsAt(resource: Resource, account: string, time: number, store: Store): StoredObject[] {
  const differences = store.changes.differencesSince(account, resource.path, time)
  const today = store.page(account, resource.path, Number.MAX_SAFE_INTEGER)
  const unchanged = today.filter((object) => !differences.has(object.id))
  const former = [...differences.values()].filter((object) => object !== undefined)
  return [...unchanged, ...former].toSorted((left, right) => (left.id < right.id ? 1 : -1))
}

function unknownCursor(resource: Resource, beforeId: string): RequestError {
  return new RequestError('query', `before_id: nothing in ${resource.path} has the id ${JSON.stringify(beforeId)}`, {
    field: 'before_id',
    id: beforeId,
  })
}

/** The list answer for up to `limit` of `objects`; one more than that means that there is a next page. */
function envelope(resource: Resource, objects: readonly StoredObject[], limit: number, view: View): JsonObject {
  const page = objects.slice(0, limit)
  const last = page.at(-1)
  const uri = view.uri(resource.path)
  const hasMore = objects.length > limit && last !== undefined
  return {
    [resource.listKey]: page.map((object) => render(resource, object, view)),
    uri,
    next_page_uri: hasMore ? `${uri}?${new URLSearchParams({ before_id: last.id, limit: String(limit) })}` : null,
  }
}
