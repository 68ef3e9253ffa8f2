import type { Method } from '../http-client/send.ts'
import type { WriteOrigin } from '../telemetry/write-origin.ts'
import type { Priority } from '../util/priority.ts'

/** An object as the API returns it. Read defensively: unknown fields are kept, null means absent. */
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
  /** Path below the base URL without a leading slash; also the collection's name in metrics: `edges/tcp`. */
  readonly path: string
  /** Key of the array in a list response. */
  readonly listKey: string
  /**
   * Fields that only the create response holds and that are null in every later one: secrets that are returned once.
   */
  readonly oneTimeFields?: readonly string[]
}

/** Body of a create or update; the client adds `id` to updates. */
export type RequestBody = Readonly<Record<string, unknown>>

/**
 * A complete list and when it began, on the monotonic clock. It reflects every write that was answered before
 * `beganAt`.
 */
export interface CompleteList {
  readonly objects: readonly RemoteObject[]
  readonly beganAt: number
  readonly pages: number
  /** How many objects the list showed beyond those to keep. */
  readonly leftOut: number
}

/** Limits how much memory a list of thousands takes. */
export interface KeptObjects {
  /** The most objects that are returned. */
  readonly limit: number
  /** Whether an object takes precedence over others; among equals, the lowest ids do. */
  readonly prefers: (id: string) => boolean
}

/** How urgent a call is, who can abort it, and why it is made. */
export interface CallOptions {
  /** Priority in the account's rate budget. Default `edit`. */
  readonly priority?: Priority | undefined
  /**
   * Aborts the call, even while it waits for the budget. The outcome of a write that is already on the wire is then
   * unknown.
   */
  readonly signal?: AbortSignal | undefined
  /** For whom and why something is changed: for audit records and traces, never sent. */
  readonly origin?: WriteOrigin | undefined
}

/** Options of a list. */
export interface ListCallOptions extends CallOptions {
  /** Absent: all objects are returned. */
  readonly keep?: KeptObjects | undefined
}

/** Options of a call that must say why it changes something. */
export type WriteOptions = CallOptions & { readonly origin: WriteOrigin }

/**
 * Calls to one account at the API. Every failure is an `ApiError`. Only GETs are retried internally; a write is sent at
 * most once per call. Writes check leadership just before they are sent. An id that is empty or cannot be used in a
 * path is refused before anything is sent.
 */
export interface ApiClient {
  /**
   * GETs one object; undefined for a 404 or 410 with any body, which does not prove that the object is gone: only lists
   * do.
   */
  get(collection: Collection, id: string, options?: CallOptions): Promise<RemoteObject | undefined>
  /**
   * Follows `next_page_uri` to the end, restarts when a cursor is lost, and throws rather than return part of a list.
   * Each id appears once. With `keep`, only that many objects are returned, and `leftOut` counts the others.
   */
  list(collection: Collection, options?: ListCallOptions): Promise<CompleteList>
  create(collection: Collection, body: RequestBody, options?: CallOptions): Promise<RemoteObject>
  /**
   * PATCH; the body is sent with `id` (`management-api.md § Standard operations`). If the API answers without the
   * object, which the contract leaves open for some collections, a GET follows.
   */
  update(collection: Collection, id: string, body: RequestBody, options?: CallOptions): Promise<RemoteObject>
  /** DELETE; 'absent' for a 404 or 410 with any body, which does not prove that the object is gone. */
  delete(collection: Collection, id: string, options?: CallOptions): Promise<'deleted' | 'absent'>
}

/**
 * Commands to objects that the API lists but does not let clients change otherwise (`management-api.md § Endpoints`,
 * Tunnel sessions).
 */
export interface CommandClient {
  /**
   * POSTs an empty JSON object to `{collection}/{id}/{command}`. Sent at most once for each call; the answer has no
   * body.
   */
  command(collection: Collection, id: string, command: string, options?: CallOptions): Promise<void>
}

/** A request as it is sent, more than once if it is retried. */
export interface OutgoingRequest {
  readonly method: Method
  readonly url: URL
  /** Name of the collection in messages and metrics. */
  readonly collection: string
  /** Of the object that the request is about; undefined for a list or a create. */
  readonly id?: string
  /** The part of the path after the id. */
  readonly command?: string
  readonly body?: RequestBody
  /** Treat a 404 or 410, with any body, as an answer instead of an error. Default false. */
  readonly mayBeAbsent?: boolean
  readonly options: CallOptions
}

/** A 2xx answer, or a 404 or 410 where the object may be absent. */
export interface ApiAnswer {
  readonly status: number
  /** The parsed body; undefined when there is none. */
  readonly body: unknown
  /** The API's id of the request (`api-decisions.md § Errors`), if it gives one. */
  readonly operationId: string | undefined
  /** Size of the body in bytes, and the number of JSON values in it. */
  readonly size: { readonly bytes: number; readonly values: number }
  /** When the request that was answered was sent, on the monotonic clock. */
  readonly sentAt: number
}
