import type { RemoteObject } from '../../api/types.ts'
import { timeInMs } from '../../util/rfc3339.ts'
import { type CustomResource, heldIds, internalOf, nameOf, statusOf, unresolvedAttempt } from '../cr.ts'
import type { CommonStatus } from '../descriptor/common.ts'
import { REMOTE_ID } from '../names.ts'
import type { ProtocolTimes } from '../reconcile/context.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { Attempt } from './attempt.ts'
import type { Answer, IdentityMemory } from './identity-memory.ts'
import { isNamesake, type Marker, markerOf, PLACEHOLDER_NONCE } from './marker.ts'
import { isSealed, parseOwnership, type Seal } from './ownership.ts'

/**
 * The next step of the create protocol. The API has no idempotency keys, so "exactly one object at rest" takes a
 * durable attempt before each POST and a marker in each object; docs/decisions gives the reasons.
 */
export type CreateStep =
  /** The object is known and no attempt is open. */
  | { readonly type: 'settled'; readonly id: string }
  /** This process received the answer to the POST and must store it. */
  | { readonly type: 'store'; readonly attempt: Attempt; readonly answer: Answer }
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
  return createStep(cr, memory.identity, { now: clock.monotonic(), leadingSince: leadership.leadingSince(), times })
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

/** Objects that this very create made: installation, UID and nonce are ours. Oldest first; that one is kept. */
export function createdBy(
  objects: Iterable<RemoteObject>,
  own: { readonly installation: string; readonly uid: string; readonly nonce: string },
): readonly RemoteObject[] {
  return byAge(objects, (marker) => {
    return marker.installation === own.installation && marker.uid === own.uid && marker.nonce === own.nonce
  })
}

/**
 * Objects with the marker of the CR of this UID that its status does not know: copies left by a late or duplicated
 * POST.
 */
export function copiesOf(
  objects: Iterable<RemoteObject>,
  uid: string,
  status: CommonStatus,
  installation: string,
): readonly RemoteObject[] {
  const known = new Set(heldIds(status))
  return byAge(objects, (marker, object) => {
    return marker.installation === installation && marker.uid === uid && !known.has(object.id)
  })
}

/**
 * Objects that a CR of the same kind, namespace and name left in the account. The CR came back without its status
 * (restored from a backup, or created again by GitOps), so they are its own. Newest last; that one is taken.
 */
export function recoverable(
  objects: Iterable<RemoteObject>,
  cr: CustomResource,
  installation: string,
): readonly RemoteObject[] {
  return byAge(objects, (marker) => {
    return marker.installation === installation && isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE
  })
}

/** The claim in the annotation `internal.culvert.dev/id` of a CR that has no id in its status. */
export type OwnershipClaim =
  | { readonly type: 'none' }
  /** The CR itself held the object and lost its status. */
  | { readonly type: 'own'; readonly id: string }
  /**
   * A CR of the same name with another UID held the object, or that cannot be determined: only a hint, which permits
   * nothing.
   */
  | { readonly type: 'hint'; readonly id: string }

/**
 * Reads the annotation. One that names another CR was copied with a manifest and is ignored. One whose seal does not
 * match the account's key, because the key has changed or the annotation was forged, is only a hint.
 */
export function ownershipClaim(cr: CustomResource, seal: Seal): OwnershipClaim {
  const note = parseOwnership(cr.metadata.annotations?.[REMOTE_ID])
  const { namespace, name } = nameOf(cr)
  if (note === undefined || note.namespace !== namespace || note.name !== name) return { type: 'none' }
  const own = note.uid === cr.metadata.uid && isSealed(note, seal)
  return own ? { type: 'own', id: note.id } : { type: 'hint', id: note.id }
}

/**
 * The matching objects, oldest first. The contract gives ids no order (`management-api.md § Conventions`), so they
 * decide only between objects of the same time.
 */
function byAge(
  objects: Iterable<RemoteObject>,
  matches: (marker: Marker, object: RemoteObject) => boolean,
): readonly RemoteObject[] {
  const found: RemoteObject[] = []
  for (const object of objects) {
    const marker = markerOf(object)
    if (marker !== undefined && matches(marker, object)) found.push(object)
  }
  return found.sort((left, right) => createdMs(left) - createdMs(right) || (left.id < right.id ? -1 : 1))
}

/** In milliseconds; 0 where the API shows no such time. */
function createdMs({ created_at: created }: RemoteObject): number {
  return timeInMs(created) ?? 0
}
