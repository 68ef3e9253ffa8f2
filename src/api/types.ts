import type { WriteOrigin } from '../telemetry/write-origin.ts'
import type { Priority } from '../util/priority.ts'

/** An object as the API holds it. Read defensively: unknown fields are kept, null means absent. */
export interface RemoteObject {
  readonly id: string
  readonly uri?: string | null
  readonly created_at?: string | null
  readonly description?: string | null
  readonly metadata?: string | null
  readonly [field: string]: unknown
}

/** One collection of `management-api.md § Standard operations`. */
export interface Collection {
  /** Path below the base URL without leading slash, also the collection's name in metrics: `edges/tcp`. */
  readonly path: string
  /** Key of the array in a list response. */
  readonly listKey: string
  /** Fields that only the create response holds, null in every later one: secrets that are told once. */
  readonly oneTimeFields?: readonly string[]
}

/** Body of a create or update; `id` is added to updates by the client. */
export type RequestBody = Readonly<Record<string, unknown>>

/** A complete listing and when it began, on the monotonic clock. Every write answered before `beganAt` is in it. */
export interface CompleteList {
  readonly objects: readonly RemoteObject[]
  readonly beganAt: number
  readonly pages: number
  /** How many objects the list showed beyond those that were to be kept. */
  readonly leftOut: number
}

/** Bounds what a list of thousands takes in memory. */
export interface KeptObjects {
  /** Most objects that are returned. */
  readonly limit: number
  /** Whether an object goes before others; among equals the lowest ids do. */
  readonly prefers: (id: string) => boolean
}

/** How urgent a call is and who may give it up. */
export interface CallOptions {
  /** Place in the account's rate budget. Default `edit`. */
  readonly priority?: Priority | undefined
  /** Gives the call up, also while it waits for the budget. A write already on the wire then has an unknown outcome. */
  readonly signal?: AbortSignal | undefined
  /** For whom and why something is changed: for audit records and traces, never sent. */
  readonly origin?: WriteOrigin | undefined
}

/** Options of a list. */
export interface ListCallOptions extends CallOptions {
  /** Absent: all objects are returned. */
  readonly keep?: KeptObjects | undefined
}

/** Options of a call that has to say why it changes something. */
export type WriteOptions = CallOptions & { readonly origin: WriteOrigin }

/**
 * Calls to one account at the API. Every failure is an `ApiError`. Only GETs are retried inside; a write is sent at most once per call.
 * Writes check leadership just before they are sent. An id that is empty or cannot stand in a path is refused before anything is sent.
 */
export interface ApiClient {
  /** GET one object; undefined for a 404 or 410 with any body, which is no proof that the object is gone: only lists prove that. */
  get(collection: Collection, id: string, options?: CallOptions): Promise<RemoteObject | undefined>
  /** Follows `next_page_uri` to the end; restarts when a cursor is lost; throws rather than return a part. Each id appears once. With `keep`, only so many objects are returned, and `leftOut` counts the others. */
  list(collection: Collection, options?: ListCallOptions): Promise<CompleteList>
  create(collection: Collection, body: RequestBody, options?: CallOptions): Promise<RemoteObject>
  /**
   * PATCH; the body is sent with `id` (`management-api.md § Standard operations`). Where the API answers without the
   * object, which the contract leaves open for some collections, a GET follows.
   */
  update(collection: Collection, id: string, body: RequestBody, options?: CallOptions): Promise<RemoteObject>
  /** DELETE; 'absent' for a 404 or 410 with any body, which is no proof that the object is gone. */
  delete(collection: Collection, id: string, options?: CallOptions): Promise<'deleted' | 'absent'>
}

/** Commands to what the API lists and does not let be changed otherwise (`management-api.md § Endpoints`, Tunnel sessions). */
export interface CommandClient {
  /** POST an empty JSON object to `{collection}/{id}/{command}`. Sent at most once for each call; its answer has no body. */
  command(collection: Collection, id: string, command: string, options?: CallOptions): Promise<void>
}
