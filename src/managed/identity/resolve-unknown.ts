import type { RemoteObject } from '../../api/types.ts'
import type { Attempt } from '../attempt.ts'
import { isDeleting, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { recordedOwnership } from '../markers/sealed-note.ts'
import { objectInSecret, withItsToken } from '../outputs/token-recovery.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { reportLookalikes } from './alike.ts'
import { deleteCopies, recallPlaceholder } from './copies.ts'
import { type Scan, stepOf } from './create-step.ts'
import { IdentityMemory } from './identity-memory.ts'
import { refuseUnfitFound } from './issued.ts'
import { recordedObject, recoverMarked } from './recovery.ts'
import { scanFor, take } from './take-object.ts'

/**
 * A POST was, or may have been, sent and its answer is unknown. Once the last request must have ended, the whole
 * collection is listed, twice with a pause. If the object is found, it is ours; if it is absent twice, the next attempt
 * may be made.
 */
export async function resolveUnknown(run: Reconciliation, attempt: Attempt, scan: Scan): Promise<string | undefined> {
  recallPlaceholder(run)
  const stored = await objectInSecret(run, attempt.nonce)
  if (stored !== undefined) return take(run, stored, attempt)
  if (scan.waitMs > 0) throw unresolved(scan.waitMs)
  const found = await scanFor(run, attempt.nonce, scan.notBefore)
  if (found.length > 0) return takeFound(run, found, attempt)
  if (!scan.isLast) {
    run.memory.of(IdentityMemory).firstScanAt = run.context.clock.monotonic()
    const next = stepOf(run)
    throw unresolved(next.type === 'resolve' ? next.scan.waitMs : 0)
  }
  // An object with `rawMetadata` has no marker to be found by; the CR's own annotation names it.
  const note = recordedOwnership(run.cr, (text) => run.session.seal(text))
  const former = statusOf(run.cr).id
  const noted = note.type === 'own' && note.id !== former ? await recordedObject(run, note.id) : undefined
  if (noted !== undefined) return take(run, noted, attempt)
  const marked = await recoverMarked(run)
  if (marked !== undefined) return marked
  // If the cluster was restored to an older state, the attempt may have ended long ago, with an object that no longer
  // carries a marker.
  if (!isDeleting(run.cr)) reportLookalikes(run)
  return nextAttempt(run, attempt)
}

/**
 * Takes the object that the attempt made. Copies are deleted, and so is an object whose token is lost: it is of no use.
 */
async function takeFound(
  run: Reconciliation,
  found: readonly RemoteObject[],
  attempt: Attempt,
): Promise<string | undefined> {
  const { collection, session } = run
  const own = await withItsToken(run, found)
  const others = found.filter((object) => object !== own)
  await deleteCopies(run, others, own === undefined ? 'whose token was lost' : undefined)
  if (own !== undefined) {
    if (!isDeleting(run.cr)) await refuseUnfitFound(run, { ...attempt, object: own })
    return take(run, own, attempt)
  }
  const isLeft = others.some(({ id }) => session.cache.get(collection, id)?.object !== undefined)
  if (isLeft) throw unresolved(run.context.times.scanPauseMs)
  return nextAttempt(run, attempt)
}

/** The attempt left nothing behind: another may be made. @returns the id of the object to replace, if any. */
function nextAttempt(run: Reconciliation, { nonce, number }: Attempt): string | undefined {
  run.memory.of(IdentityMemory).voidAttempt = { nonce, number }
  run.memory.of(IdentityMemory).unknownUntil = undefined
  return statusOf(run.cr).id
}

function unresolved(ms: number): WaitError {
  return new WaitError(
    reasons.CreateUnresolved,
    'the response to a create was lost: finding out whether the object exists',
    Math.ceil(ms),
  )
}
