import type { RemoteObject } from '../../api/types.ts'
import { isDeleting, ownAttempt, withFinalizer } from '../cr.ts'
import { CREATE_ATTEMPT } from '../names.ts'
import { withItsToken } from '../outputs/token-recovery.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'
import { tellAlike } from './alike.ts'
import { deleteCopies } from './copies.ts'
import { copiesOf, ownershipClaim, recoverable } from './create-step.ts'
import { markerOf, PLACEHOLDER_NONCE } from './marker.ts'
import { ownNote } from './ownership.ts'
import { sought } from './read-object.ts'

/** A CR without id and without an attempt of its own: new, or come back without its status. */
export async function recoverObject(run: Reconciliation): Promise<string | undefined> {
  const { collection, context, cr, session } = run
  const marked = await takeNewest(run, recoverable(session.cache.all(collection), cr, context.installation))
  if (marked !== undefined) return marked
  const noted = await ownedByNote(run)
  if (noted === undefined && !isDeleting(run.cr)) tellAlike(run)
  return noted
}

/**
 * Takes an object that this very CR made, of which its status knows nothing: one of a history of Kubernetes that was lost. Undefined
 * without any. What a namesake made is not searched for: it may be at work in another cluster.
 */
export async function findSuccessor(run: Reconciliation): Promise<string | undefined> {
  const { collection, context, cr, session, status } = run
  const copies = copiesOf(session.cache.all(collection), cr.metadata.uid, status, context.installation)
  return await takeNewest(
    run,
    copies.filter((object) => markerOf(object)?.nonce !== PLACEHOLDER_NONCE),
  )
}

/** Takes the newest of these that nobody holds, one whose token is at hand first; the others of the same life go. */
async function takeNewest(run: Reconciliation, candidates: readonly RemoteObject[]): Promise<string | undefined> {
  const { context, cr } = run
  const { key } = run.session
  const free = candidates.filter(({ id }) => context.resources.holderOf(key, id) === undefined)
  const own = (await withItsToken(run, [...free].reverse())) ?? free.at(-1)
  if (own === undefined) return undefined
  // Nothing is deleted or taken on the word of an old copy of the CR. An attempt of which another object came would count as open again.
  const isOther = ownAttempt(cr) !== undefined && ownAttempt(cr)?.nonce !== markerOf(own)?.nonce
  await run.patchMetadata({
    finalizers: withFinalizer(cr),
    ...(isOther ? { annotations: { [CREATE_ATTEMPT]: null } } : {}),
  })
  // What yet another life left may be at work in another cluster: it is reported, like all that nobody here holds.
  const uid = markerOf(own)?.uid
  await deleteCopies(
    run,
    free.filter((object) => object !== own && markerOf(object)?.uid === uid),
  )
  context.events.record(cr, {
    type: 'Normal',
    reason: 'Recovered',
    message: `found ${own.id}, which this resource created before`,
  })
  return takeMarked(run, own)
}

async function ownedByNote(run: Reconciliation): Promise<string | undefined> {
  const claim = ownershipClaim(run.cr, (text) => run.session.seal(text))
  const object = claim.type === 'none' ? undefined : await notedObject(run, claim.id)
  if (claim.type === 'none' || object === undefined) return undefined
  if (claim.type === 'hint') {
    // No licence to delete either.
    if (isDeleting(run.cr)) return undefined
    throw new TerminalError(
      reasons.AlreadyExists,
      `a former resource of this name owned ${claim.id}, which still exists: to have it again, set ` +
        `spec.externalID: ${claim.id} and spec.managementPolicy: Manage; to have a new object made, remove the annotation ` +
        'internal.culvert.dev/id, or delete that object',
    )
  }
  await run.patchMetadata({ finalizers: withFinalizer(run.cr) })
  return takeMarked(run, object)
}

/** The object that the annotation `internal.culvert.dev/id` names, unless another CR holds it or its marker names one. */
export async function notedObject(run: Reconciliation, id: string) {
  const { collection, context, cr, session } = run
  const holder = context.resources.holderOf(session.key, id)
  // One whose own annotation names another object has the status of somebody else.
  const isMisplaced = holder !== undefined && (ownNote(holder)?.id ?? id) !== id
  if (holder !== undefined && !isMisplaced) return undefined
  const object = (await session.cache.fetch(collection, id)) ?? (await sought(run, collection, id))
  if (object === undefined || markerOf(object) !== undefined) return undefined
  return isMisplaced || context.resources.claim(session.key, id, cr) === undefined ? object : undefined
}

/** Takes an object whose create is long over; the nonce in its marker is recorded as the last one known. */
function takeMarked(run: Reconciliation, object: RemoteObject): string {
  const nonce = markerOf(object)?.nonce ?? run.context.random.hex(16)
  run.noteObject(object, { nonce, attempt: 0 })
  return object.id
}
