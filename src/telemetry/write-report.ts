import type { WriteOrigin } from './write-origin.ts'

/**
 * How a request that changes something ended:
 * - `done`: the API carried it out
 * - `absent`: what was to be deleted was not there
 * - `refused`: the API surely did not carry it out
 * - `unknown`: no answer, or none that can be relied on: it may have been carried out
 */
export type WriteOutcome = 'done' | 'absent' | 'refused' | 'unknown'

/** One request that changes something at the API, and was or may have been sent. Holds no value of any field. */
export interface WriteReport {
  /** Undefined where the caller said none. */
  readonly origin: WriteOrigin | undefined
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly collection: string
  /** Of a create the id that the API gave; undefined where it gave none. */
  readonly objectId: string | undefined
  /** What a tunnel session is told to do (`management-api.md § Tunnel sessions`). */
  readonly command: string | undefined
  /** Names of the fields sent, in alphabetical order, without the `id` that every update carries. */
  readonly fields: readonly string[]
  readonly outcome: WriteOutcome
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** Code of the `ApiError`, where it was one. */
  readonly error: string | undefined
  /** `error_code` of the answer's body (`api-decisions.md § Errors`). */
  readonly apiErrorCode: string | undefined
  /** As the API names the request (`api-decisions.md § Errors`). */
  readonly operationId: string | undefined
  /** From the sending to the end of the answer, waits for the rate budget aside. */
  readonly seconds: number
}
