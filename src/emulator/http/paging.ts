import { createHash } from 'node:crypto'
import type { Choices } from '../choices/choices.ts'
import { type JsonSchema, TEXT } from '../fields/json-schema.ts'
import type { Resource } from '../objects/resource.ts'
import { render, type View } from '../objects/view.ts'
import type { StoredObject } from '../store/database.ts'
import type { Store } from '../store/emulator-store.ts'
import type { JsonObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'

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

const PAGE_SIZES: Readonly<Record<Choices['page-size'], number>> = { hundred: LARGEST_PAGE, three: 3, one: 1 }

/** Reads `limit` (1 to 100, default 100) and `before_id`; other parameters are ignored (`api-decisions.md § Lists`). */
export function readPageRequest(query: Readonly<Record<string, unknown>>, choices: Choices): PageRequest {
  const limit = Math.min(readLimit(query.limit), PAGE_SIZES[choices['page-size']])
  return { limit, beforeId: readBeforeId(query.before_id) }
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
 * One page, newest first unless chosen otherwise. The cursor is the id of an existing object, so a page costs one
 * lookup and one range scan, whatever the size of the collection; in another order, a scan of the whole collection.
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
  const order = view.choices['list-order']
  const objects =
    order === 'newest-first'
      ? store.page(account, resource.path, limit + 1, beforeId)
      : following(inOrder(order, store.page(account, resource.path, Number.MAX_SAFE_INTEGER)), beforeId)
  return envelope(resource, objects, limit, view)
}

/** The same page as of `time` (emulated milliseconds): what a lagging replica would answer. */
export function listPastPage(
  resource: Resource,
  account: string,
  request: PageRequest & { time: number },
  store: Store,
  view: View,
): JsonObject {
  const objects = inOrder(view.choices['list-order'], objectsAt(resource, account, request.time, store))
  const { limit, beforeId } = request
  if (beforeId !== undefined && !objects.some((object) => object.id === beforeId))
    throw unknownCursor(resource, beforeId)
  return envelope(resource, following(objects, beforeId), limit, view)
}

/** Objects, newest first, in the chosen order. */
function inOrder(order: Choices['list-order'], objects: readonly StoredObject[]): readonly StoredObject[] {
  switch (order) {
    case 'newest-first':
      return objects
    case 'oldest-first':
      return objects.toReversed()
    case 'shuffled':
      return objects.toSorted((left, right) => (digestOf(left) < digestOf(right) ? -1 : 1))
  }
}

function digestOf({ id }: StoredObject): string {
  return createHash('sha256').update(id).digest('hex')
}

/** The objects after the last one of the previous page. */
function following(objects: readonly StoredObject[], beforeId: string | undefined): readonly StoredObject[] {
  return objects.slice(objects.findIndex(({ id }) => id === beforeId) + 1)
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
  const next = objects.length > limit && last !== undefined ? nextPage(resource, last.id, limit, view) : undefined
  const isNull = view.choices['empty-lists'] === 'null'
  const end = view.choices['last-page'] === 'absent' ? {} : { next_page_uri: null }
  return {
    [resource.listKey]: page.length === 0 && isNull ? null : page.map((object) => render(resource, object, view)),
    uri,
    ...(next === undefined ? end : { next_page_uri: next }),
  }
}

function nextPage({ path }: Resource, lastId: string, limit: number, { baseUrl, choices }: View): string {
  const query = `?${new URLSearchParams({ before_id: lastId, limit: String(limit) })}`
  switch (choices['next-page-uri']) {
    case 'absolute':
      return `${baseUrl}/${path}${query}`
    case 'path':
      return `/${path}${query}`
    case 'relative':
      return `${path}${query}`
    case 'query':
      return query
  }
}
