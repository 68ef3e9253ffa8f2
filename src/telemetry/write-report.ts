import type { WriteOrigin } from './write-origin.ts'

/**
 * How a request that changes something ended:
 * - `done`: the API carried it out
 * - `absent`: the object to delete was not there
 * - `refused`: the API certainly did not carry it out
 * - `unknown`: no answer, or none that can be relied on: it may have been carried out
 */
export type WriteOutcome = 'done' | 'absent' | 'refused' | 'unknown'

/** One request that changes something at the API and was, or may have been, sent. Holds no field values. */
export interface WriteReport {
  /** Undefined if the caller gave none. */
  readonly origin: WriteOrigin | undefined
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly collection: string
  /** For a create, the id that the API gave; undefined if it gave none. */
  readonly objectId: string | undefined
  /** The command sent to a tunnel session (`management-api.md § Tunnel sessions`). */
  readonly command: string | undefined
  /** Names of the fields sent, in alphabetical order, without the `id` that every update carries. */
  readonly fields: readonly string[]
  readonly outcome: WriteOutcome
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** Code of the `ApiError`, if it was one. */
  readonly error: string | undefined
  /** `error_code` of the answer's body (`api-decisions.md § Errors`). */
  readonly apiErrorCode: string | undefined
  /** The API's id of the request (`api-decisions.md § Errors`). */
  readonly operationId: string | undefined
  /** From sending the request to the end of the answer, without waits for the rate budget. */
  readonly seconds: number
}
