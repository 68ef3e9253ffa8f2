import { type Choices, DECIDED } from '../choices/choices.ts'
import { readCreate, readUpdate } from '../fields/field.ts'
import type { StoredObject } from '../store/database.ts'
import { type JsonObject, rfc3339 } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { announce, announceUpdate } from './announce.ts'
import type { Resource } from './resource.ts'
import { type Services, WriteContext } from './write-context.ts'

/** An object that was just stored, and response fields that are shown only once. */
interface Created {
  readonly object: StoredObject
  readonly revealed: JsonObject
}

/**
 * Creates an object from a request body and fires its event. Slow values are made first, and only when every field is
 * valid; then everything is decided and stored in one turn.
 */
export async function create(resource: Resource, body: JsonObject, context: WriteContext): Promise<Created> {
  const given = givenCreate(resource, body, context.services.choices)
  const made = resource.beforeCreate === undefined ? {} : await resource.beforeCreate(given)
  // The emulator may have been stopped meanwhile.
  if (!context.store.database.isOpen) throw new RequestError('unavailable', 'the emulator is stopping')
  return context.store.transaction(() => {
    const created = place(resource, { given, made }, context)
    announce('created', resource, created.object, context)
    return created
  })
}

/**
 * Creates an object without an event, for seeds: with the decided defaults, whatever was chosen.
 *
 * @param wantedId the id to give it; a fresh one by default
 */
export function insert(resource: Resource, body: JsonObject, context: WriteContext, wantedId?: string): Created {
  const given = givenCreate(resource, body, DECIDED)
  return context.store.transaction(() => place(resource, { given, made: {} }, context, wantedId))
}

interface Values {
  /** The fields of the body, checked, and the absent values of the rest. */
  readonly given: JsonObject
  /** What `beforeCreate` made from them. */
  readonly made: JsonObject
}

function place(resource: Resource, { given, made }: Values, context: WriteContext, wantedId?: string): Created {
  const id = wantedId ?? context.services.ids.next(resource.idPrefix)
  const next: StoredObject = { ...given, ...made, id, created_at: rfc3339(context.now()) }
  resource.prepare?.({ given, before: undefined, next }, context)
  save(resource, next, context)
  return { object: next, revealed: resource.reveal?.(next, context) ?? {} }
}

/** Applies an update body: absent fields stay unchanged, null clears where allowed. */
export function update(resource: Resource, id: string, body: JsonObject, context: WriteContext): StoredObject {
  const before = find(resource, id, context)
  const given = givenUpdate(resource, body, context.services.choices)
  return context.store.transaction(() => replace(resource, before, given, context))
}

/** Sets fields without the rules of update bodies, which cannot remove an edge module; for `DELETE` of a part. */
export function setFields(resource: Resource, id: string, changes: JsonObject, context: WriteContext): StoredObject {
  const before = find(resource, id, context)
  return context.store.transaction(() => replace(resource, before, changes, context))
}

function replace(resource: Resource, before: StoredObject, given: JsonObject, context: WriteContext): StoredObject {
  const next: StoredObject = { ...before, ...given, id: before.id, created_at: before.created_at }
  resource.prepare?.({ given, before, next }, context)
  save(resource, next, context)
  announceUpdate(resource, before, next, context)
  return next
}

/** Deletes an object together with what it owns. 409 while another object's link restricts it. */
export function remove(resource: Resource, id: string, context: WriteContext): void {
  const object = find(resource, id, context)
  const { store, account } = context
  const holders = store.holders(account, id, 'restrict')
  if (holders.length > 0) {
    throw new RequestError('inUse', `${id} is in use by ${holders.join(', ')}`, { id, ids: holders.join(',') })
  }
  store.transaction(() => {
    for (const ownedId of store.holders(account, id, 'cascade')) {
      const owned = context.services.resources.ofId(ownedId)
      erase(owned, find(owned, ownedId, context), context)
    }
    erase(resource, object, context)
  })
}

/**
 * Removes an object from the store. Like every event, its event follows: a subscription does not receive its own
 * deletion.
 */
function erase(resource: Resource, object: StoredObject, context: WriteContext): void {
  context.store.remove(context.account, resource.path, object.id)
  announce('deleted', resource, object, context)
}

/** The object with the id of the path, or 404. */
export function find(resource: Resource, id: string, context: WriteContext): StoredObject {
  const object = context.store.get(context.account, resource.path, id)
  if (object === undefined) {
    throw new RequestError('notFound', `nothing in ${resource.path} has the id ${JSON.stringify(id)}`, { id })
  }
  return object
}

/**
 * Stores an object with its claims, links, labels, routes and next due time, without an event. Must run inside a
 * transaction.
 */
export function save(resource: Resource, object: StoredObject, context: WriteContext): void {
  const { store, account } = context
  const claims = resource.claims?.(object, context.services.choices) ?? []
  for (const claim of claims) {
    const holder = store.claimant(claim)
    if (holder !== undefined && holder.id !== object.id) {
      const details: Record<string, string> = { field: claim.field }
      // The holder is not named when it belongs to another account.
      if (holder.account === account) details.id = holder.id
      throw new RequestError('taken', `${claim.field}: ${JSON.stringify(claim.value)} is taken`, details)
    }
  }
  store.put(account, resource.path, object)
  store.setClaims(account, object.id, claims)
  store.setLinks(account, object.id, resource.links?.(object, context) ?? [])
  if (resource.labels !== undefined) store.setLabels(account, object.id, resource.labels(object))
  if (resource.routes !== undefined) {
    context.services.deliveries.setRoutes(account, object.id, resource.routes(object))
  }
  if (resource.dueAt !== undefined) {
    store.setDue({ account, collection: resource.path, id: object.id }, resource.dueAt(object))
  }
}

/**
 * Applies everything that fell due up to now by the emulated clock, in order of time. Called before each request, so
 * that a caller always sees the current state. Nothing runs on timers, so moving the clock is enough to see the future.
 */
export function applyDue(services: Services): void {
  const { store, resources, clock } = services
  const now = clock.now()
  if (store.firstDue(now) === undefined) return
  store.transaction(() => {
    for (let due = store.firstDue(now); due !== undefined; due = store.firstDue(now)) {
      const resource = resources.byPath(due.collection)
      const object = store.get(due.account, due.collection, due.id)
      if (resource?.onDue === undefined || object === undefined) {
        store.setDue(due, undefined)
        continue
      }
      const context = new WriteContext(services, { account: due.account, keyId: '', ownerId: '', admin: false })
      const next = resource.onDue(object, due.at, context)
      save(resource, next, context)
      announceUpdate(resource, object, next, context, due.at)
    }
  })
}

/** Longest description, where descriptions are cut. */
const MOST_BYTES = 255

/** The fields of a new object, as stored. */
function givenCreate(resource: Resource, body: JsonObject, choices: Choices): JsonObject {
  resource.refuse?.(body, choices)
  return kept(readCreate(resource.fields, body, resource.defaults?.(choices)), choices)
}

/** The fields that an update changes, as stored. */
function givenUpdate(resource: Resource, body: JsonObject, choices: Choices): JsonObject {
  resource.refuse?.(body, choices)
  return kept(readUpdate(resource.fields, body), choices)
}

/** Texts that people write; `name` is that of a bot. */
const TEXTS = ['description', 'metadata', 'name'] as const

/** What the service stores for texts that people write. */
function kept(given: JsonObject, choices: Choices): JsonObject {
  const result = { ...given }
  for (const name of TEXTS) {
    const text = given[name]
    if (typeof text !== 'string') continue
    const trimmed = choices.texts === 'trimmed' ? text.trim() : text
    result[name] = name === 'description' && choices['long-descriptions'] === 'cut' ? cut(trimmed) : trimmed
  }
  return result
}

/** Cuts between characters. */
function cut(text: string): string {
  let end = 0
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > MOST_BYTES) break
    end += character.length
  }
  return text.slice(0, end)
}
