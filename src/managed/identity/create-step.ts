import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, heldIds, internalOf, nameOf, statusOf, unresolvedAttempt } from '../cr.ts'
import type { CommonStatus } from '../descriptor/common.ts'
import { REMOTE_ID } from '../names.ts'
import type { Answer, Memory } from '../reconcile/memory.ts'
import type { Attempt } from './attempt.ts'
import { isNamesake, type Marker, markerOf, PLACEHOLDER_NONCE } from './marker.ts'
import { isSealed, parseOwnership, type Seal } from './ownership.ts'

/**
 * What the create protocol asks for next. The API has no idempotency keys, so exactly one object at rest is reached by a
 * durable attempt before each POST and a marker in each object; see docs/decisions for the reasoning.
 */
export type CreateStep =
  /** The object is known and nothing is open. */
  | { readonly type: 'settled'; readonly id: string }
  /** The POST was answered by this process; the answer is to be stored. */
  | { readonly type: 'store'; readonly attempt: Attempt; readonly answer: Answer }
  /** A POST may have been sent and its answer is unknown. */
  | { readonly type: 'resolve'; readonly attempt: Attempt }
  /** No object is known: look for one that a former life of this CR left, then make the first attempt. */
  | { readonly type: 'begin' }
  /** A former attempt surely did nothing: make the next one under the same nonce. */
  | { readonly type: 'attempt'; readonly nonce: string; readonly number: number }

/** Where the CR stands in the protocol, from what is durable and what this process remembers. */
export function createStep(cr: CustomResource, memory: Memory): CreateStep {
  const attempt = unresolvedAttempt(cr)
  if (attempt === undefined) {
    const { id } = statusOf(cr)
    const { create } = internalOf(cr)
    // An object that was only observed is not the CR's own.
    return id === undefined || create === undefined ? { type: 'begin' } : { type: 'settled', id }
  }
  const { answer, refused } = memory
  if (answer !== undefined && isFor(answer, attempt)) return { type: 'store', attempt, answer }
  if (refused !== undefined && isFor(refused, attempt)) {
    return { type: 'attempt', nonce: attempt.nonce, number: attempt.number + 1 }
  }
  return { type: 'resolve', attempt }
}

function isFor(memory: { readonly nonce: string; readonly number: number }, attempt: Attempt): boolean {
  return memory.nonce === attempt.nonce && memory.number === attempt.number
}

/** Objects that this very create made: installation, UID and nonce are all ours. Lowest id first; that one stays. */
export function createdBy(
  objects: Iterable<RemoteObject>,
  own: { readonly installation: string; readonly uid: string; readonly nonce: string },
): readonly RemoteObject[] {
  return sortedById(objects, (marker) => {
    return marker.installation === own.installation && marker.uid === own.uid && marker.nonce === own.nonce
  })
}

/** Marked objects of the CR with this UID other than those its status knows: copies that a late or doubled POST left. */
export function copiesOf(
  objects: Iterable<RemoteObject>,
  uid: string,
  status: CommonStatus,
  installation: string,
): readonly RemoteObject[] {
  const known = new Set(heldIds(status))
  return sortedById(objects, (marker, object) => {
    return marker.installation === installation && marker.uid === uid && !known.has(object.id)
  })
}

/**
 * Objects that a CR of the same kind, namespace and name left in the account: this CR came back without its status (restored
 * from a backup, or made again by GitOps), and they are its own. Newest last; that one is taken.
 */
export function recoverable(
  objects: Iterable<RemoteObject>,
  cr: CustomResource,
  installation: string,
): readonly RemoteObject[] {
  return sortedById(objects, (marker) => {
    return marker.installation === installation && isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE
  })
}

/** What the annotation `internal.culvert.dev/id` says about a CR that has no id in its status. */
export type OwnershipClaim =
  | { readonly type: 'none' }
  /** The CR itself held the object and lost its status. */
  | { readonly type: 'own'; readonly id: string }
  /** A namesake with another UID held it, or nobody can tell: only a hint, never a licence. */
  | { readonly type: 'hint'; readonly id: string }

/**
 * Reads the claim. An annotation that names another CR was copied with a manifest and says nothing; one whose seal is not the
 * account's, because the key has changed since or somebody made it up, is no more than a hint.
 */
export function ownershipClaim(cr: CustomResource, seal: Seal): OwnershipClaim {
  const note = parseOwnership(cr.metadata.annotations?.[REMOTE_ID])
  const { namespace, name } = nameOf(cr)
  if (note === undefined || note.namespace !== namespace || note.name !== name) return { type: 'none' }
  const own = note.uid === cr.metadata.uid && isSealed(note, seal)
  return own ? { type: 'own', id: note.id } : { type: 'hint', id: note.id }
}

function sortedById(
  objects: Iterable<RemoteObject>,
  matches: (marker: Marker, object: RemoteObject) => boolean,
): readonly RemoteObject[] {
  const found: RemoteObject[] = []
  for (const object of objects) {
    const marker = markerOf(object)
    if (marker !== undefined && matches(marker, object)) found.push(object)
  }
  return found.sort((left, right) => (left.id < right.id ? -1 : 1))
}
