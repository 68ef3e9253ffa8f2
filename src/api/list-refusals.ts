import { ApiError } from './errors.ts'
import type { Collection } from './types.ts'

/** The statuses that answer for a collection. 401, 408, 429 and 5xx concern the key, the moment or the whole API. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([403, 404, 405, 410, 501])

/**
 * Whether a list failed with a definite answer about its collection: the key may not list it, or the server does not
 * have it. The status alone decides, since the contract shows no error bodies (`management-api.md § Errors`).
 */
export function isListRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && REFUSALS.has(error.status)
}

/** A call that was not made, or a list that was refused, because its collection cannot be listed. */
export class UnlistableError extends ApiError {
  readonly collection: Collection

  constructor(collection: Collection, { errorCode, message, operationId, status }: ApiError, cause?: ApiError) {
    super('Unlistable', message, { definite: true, errorCode, operationId, status, cause })
    this.collection = collection
  }
}

interface Refusal {
  readonly error: UnlistableError
  /** When the refused list was asked for, on the monotonic clock. */
  readonly at: number
}

/** The collections of one account whose last list was refused. */
export class ListRefusals {
  readonly #refusals = new Map<string, Refusal>()

  of({ path }: Collection): UnlistableError | undefined {
    return this.#refusals.get(path)?.error
  }

  all(): readonly UnlistableError[] {
    return [...this.#refusals.values()].map(({ error }) => error)
  }

  /** Notes a refused list. While the status stays the same, so does the error: its message is shown in conditions. */
  refused(collection: Collection, error: ApiError, at: number): void {
    const known = this.#refusals.get(collection.path)?.error
    const kept = known?.status === error.status ? known : undefined
    this.#refusals.set(collection.path, { error: kept ?? new UnlistableError(collection, error, error), at })
  }

  /** Notes a complete list that began at `beganAt`. One that began before a refusal does not refute it. */
  listed({ path }: Collection, beganAt: number): void {
    const refusal = this.#refusals.get(path)
    if (refusal !== undefined && refusal.at <= beganAt) this.#refusals.delete(path)
  }
}
