import { ApiError, isDefinite } from '../../api/errors.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import { FailedCreates } from '../run/damping.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

/**
 * Sends a write. One that gets no answer may still take effect until its request times out: this is remembered for
 * writes of that sort.
 */
export async function recordUnanswered<T>(
  { context: { clock, times }, memory }: Reconciliation,
  sort: Sort,
  send: () => Promise<T>,
): Promise<T> {
  try {
    if (sort === 'update' || sort === 'deletion') return await send()
    const made = await memory.of(UnansweredMemory).createsOf(sort).send(clock.monotonic(), send)
    memory.of(UnansweredMemory).createsOf(sort).succeeded()
    return made
  } catch (error) {
    const isAnswered = isDefinite(error) || error instanceof WaitError
    if (!isAnswered) memory.of(UnansweredMemory)[NOTED_IN[sort]] = clock.monotonic() + times.requestTimeoutMs
    throw error
  }
}

const NOTED_IN = {
  update: 'updateUnknownUntil',
  child: 'childUnknownUntil',
  deletion: 'childUnknownUntil',
  placeholder: 'placeholderUnknownUntil',
} as const

/** Sorts of writes: of the object itself, creates and deletions of its children, creates of placeholders. */
type Sort = keyof typeof NOTED_IN

/** @throws WaitError while it is too early for another create of that sort, after some without an answer. */
export function waitBeforeCreate({ context, memory }: Reconciliation, sort: 'child' | 'placeholder'): void {
  const creates = memory.of(UnansweredMemory).createsOf(sort)
  const pauseMs = creates.pauseMs(context.clock.monotonic())
  if (creates.failure === undefined || pauseMs === 0) return
  throw new WaitError(reasons.ApiError, creates.failure.message, Math.ceil(pauseMs))
}

/**
 * How long an update of the object that got no answer may still take effect, including one by a former leader: until
 * then, what it writes counts as our own. Milliseconds.
 */
export function unansweredMs({ context: { clock, leadership, times }, cr, memory }: Reconciliation): number {
  const former = leadership.leadingSince(cr) + times.requestTimeoutMs
  return Math.max(0, Math.max(former, memory.of(UnansweredMemory).updateUnknownUntil ?? 0) - clock.monotonic())
}

/**
 * What this process knows of writes to the object of one CR, and to its children, that may or may not have been carried
 * out.
 */
export class UnansweredMemory {
  /** Monotonic time by which a child's POST or DELETE that got no answer must have ended. */
  childUnknownUntil?: number | undefined
  /** Monotonic time until which an update that got no answer may still take effect. */
  updateUnknownUntil?: number | undefined
  /** Monotonic time by which the POST of a placeholder that got no answer must have ended. */
  placeholderUnknownUntil?: number | undefined
  /** A write that was answered with 404 although what it is about exists, and since when, on the monotonic clock. */
  absence?: { readonly about: string; readonly since: number } | undefined

  #creates: Partial<Record<'child' | 'placeholder', FailedCreates>> | undefined

  /** Creates of children, or of placeholders, that were not answered. Most kinds have neither. */
  createsOf(sort: 'child' | 'placeholder'): FailedCreates {
    this.#creates ??= {}
    this.#creates[sort] ??= new FailedCreates()
    return this.#creates[sort]
  }

  /** A write was carried out. */
  written(): void {
    this.absence = undefined
  }

  /** Writes of this process may still take effect, whatever the CR says. */
  rollBack(): void {}
}

/**
 * The error for a write that was answered with 404 although what it is about exists. A replica that lags behind may
 * have answered, so that trying again helps; if it lasts, it is a refusal: the body names an id that does not exist
 * (`management-api.md § Errors` shows no status codes).
 *
 * @param about the request: another one restarts the count
 */
export function lastingAbsence({ context, memory }: Reconciliation, about: string, error: ApiError): ApiError {
  const now = context.clock.monotonic()
  const before = memory.of(UnansweredMemory).absence
  const { since } = before?.about === about ? before : { since: now }
  memory.of(UnansweredMemory).absence = { about, since }
  if (now - since < context.times.readLagMs) return error
  const { definite, errorCode, operationId, status } = error
  return new ApiError('Invalid', error.message, { definite, errorCode, operationId, status, cause: error })
}
