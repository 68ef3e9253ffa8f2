import type { Method } from '../http-client/send.ts'
import type { CallOptions, RequestBody } from './types.ts'

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
export interface Answer {
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
