import type { Attempt, CreateAnswer } from '../attempt.ts'
import { type CustomResource, internalOf, statusOf, unresolvedAttempt } from '../cr.ts'
import type { ProtocolTimes } from '../run/context.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { IdentityMemory } from './identity-memory.ts'

/**
 * The next step of the create protocol. The API has no idempotency keys, so "exactly one object at rest" takes a
 * durable attempt before each POST and a marker in each object; docs/decisions gives the reasons.
 */
export type CreateStep =
  /** The object is known and no attempt is open. */
  | { readonly type: 'settled'; readonly id: string }
  /** This process received the answer to the POST and must store it. */
  | { readonly type: 'store'; readonly attempt: Attempt; readonly answer: CreateAnswer }
  /** A POST may have been sent and its answer is unknown: list the collection, twice with a pause. */
  | { readonly type: 'resolve'; readonly attempt: Attempt; readonly scan: Scan }
  /** No object is known: search for one that this CR created before it lost its status, then make the first attempt. */
  | { readonly type: 'begin' }
  /** The last attempt certainly did nothing: make the next one with the same nonce. */
  | { readonly type: 'attempt'; readonly nonce: string; readonly number: number }

/** A list that is to show whether a POST without an answer made an object. Times are monotonic, in milliseconds. */
export interface Scan {
  /** A list that began earlier proves nothing: the last request may still have been in flight. */
  readonly notBefore: number
  /** How long to wait until then; 0 if it may begin. */
  readonly waitMs: number
  /** The second list: an object that it does not show either does not exist. */
  readonly isLast: boolean
}

/** What a process knows of its requests for an attempt. */
export type AttemptMemory = Pick<IdentityMemory, 'answer' | 'voidAttempt' | 'unknownUntil' | 'firstScanAt'>

/** When the step is decided. Times are monotonic, in milliseconds. */
export interface Moment {
  readonly now: number
  /** Since when this process leads: earlier requests may be a former leader's. */
  readonly leadingSince: number
  readonly times: Pick<ProtocolTimes, 'requestTimeoutMs' | 'scanPauseMs'>
}

/** The CR's step in the protocol, from what is durable, what this process remembers, and the time. */
export function createStep(cr: CustomResource, memory: AttemptMemory, moment: Moment): CreateStep {
  const attempt = unresolvedAttempt(cr)
  if (attempt === undefined) {
    const { id } = statusOf(cr)
    const { create } = internalOf(cr)
    // An object that was only observed is not the CR's own.
    return id === undefined || create === undefined ? { type: 'begin' } : { type: 'settled', id }
  }
  const { answer, voidAttempt } = memory
  if (answer !== undefined && isFor(answer, attempt)) return { type: 'store', attempt, answer }
  if (voidAttempt !== undefined && isFor(voidAttempt, attempt)) {
    return { type: 'attempt', nonce: attempt.nonce, number: attempt.number + 1 }
  }
  return { type: 'resolve', attempt, scan: nextScan(memory, moment) }
}

/** The step of the run, at this moment. */
export function stepOf({ context: { clock, leadership, times }, cr, memory }: Reconciliation): CreateStep {
  return createStep(cr, memory.of(IdentityMemory), {
    now: clock.monotonic(),
    leadingSince: leadership.leadingSince(cr),
    times,
  })
}

function nextScan({ firstScanAt, unknownUntil = 0 }: AttemptMemory, { now, leadingSince, times }: Moment): Scan {
  const isLast = firstScanAt !== undefined
  const quietFrom = Math.max(leadingSince + times.requestTimeoutMs, unknownUntil)
  const notBefore = isLast ? firstScanAt + times.scanPauseMs : quietFrom
  return { notBefore, waitMs: Math.max(0, notBefore - now), isLast }
}

function isFor(memory: { readonly nonce: string; readonly number: number }, attempt: Attempt): boolean {
  return memory.nonce === attempt.nonce && memory.number === attempt.number
}
