/** Why Culvert writes to the management API. A closed set, on which readers of audit records and spans may rely. */
export const writeReasons = {
  /** A resource is new, or its spec changed. */
  spec: 'spec',
  /** Something behind a reference, Secret or ConfigMap that the spec names changed. */
  dependency: 'dependency',
  /** The object was changed or deleted at the API and is restored. */
  drift: 'drift',
  /** A field that is fixed at create changed: a new object replaces the current one. */
  replacement: 'replacement',
  /** A new token replaces the current one, on schedule or on request. */
  rotation: 'rotation',
  /** A new certificate replaces the current one before it expires. */
  renewal: 'renewal',
  /** The issued token was lost or altered: another is issued. */
  reissue: 'reissue',
  /** A replaced object is deleted because nothing uses it any more. */
  superseded: 'superseded',
  /** The resource is being deleted. */
  deletion: 'deletion',
  /** A second object of the same resource is deleted: a copy, a placeholder, or one whose token was never delivered. */
  copy: 'copy',
  /** An object that Culvert did not create is made to match the spec for the first time. */
  adoption: 'adoption',
  /** An earlier create was not carried out or its answer was lost, or a resource came back without its status. */
  recovery: 'recovery',
  /** A person's command to a tunnel session. */
  command: 'command',
} as const

export type WriteReason = (typeof writeReasons)[keyof typeof writeReasons]

/** The custom resource for which a request to the API is made. */
export interface OriginResource {
  readonly kind: string
  /** Undefined for cluster-scoped resources. */
  readonly namespace?: string | undefined
  readonly name: string
  readonly uid: string
}

/** For whom and why a request that changes something at the API is made. */
export interface WriteOrigin {
  readonly resource: OriginResource
  readonly reason: WriteReason
}

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
