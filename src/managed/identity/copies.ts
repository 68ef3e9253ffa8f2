import type { RemoteObject } from '../../api/types.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import { equalJSON } from '../../util/json.ts'
import { unresolvedAttempt } from '../cr.ts'
import { markerOf } from '../markers/marker.ts'
import { copiesOf } from '../markers/own-objects.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { deleteForSure } from './gone.ts'
import { IdentityMemory } from './identity-memory.ts'
import { searchFor } from './read-object.ts'
import { markedObjects } from './take-object.ts'

/**
 * Deletes objects with this CR's marker other than the one it keeps. The CR and each copy are read live first: a stale
 * cache must never cause a deletion.
 */
export async function deleteCopies(
  run: Reconciliation,
  copies: readonly RemoteObject[],
  about = 'a copy of this object',
): Promise<void> {
  if (copies.length === 0) return
  const { collection, context, cr, session } = run
  await run.assertUnchanged()
  for (const copy of copies) {
    const live = (await session.cache.fetch(collection, copy.id)) ?? (await searchFor(run, collection, copy.id))
    if (live === undefined || !equalJSON(markerOf(live), markerOf(copy))) continue
    await deleteForSure(run, collection, copy.id, writeReasons.copy)
    context.events.record(cr, {
      type: 'Normal',
      reason: 'CopyDeleted',
      message: `deleted ${copy.id}, ${about}`,
    })
  }
}

/**
 * Has placeholders of a replacement searched for once no attempt is open: a process that died cannot report that one
 * exists, and a resync does not classify the objects of a CR whose attempt is open.
 */
export function recallPlaceholder({ descriptor, memory }: Reconciliation): void {
  if (descriptor.replacement?.placeholder !== undefined) memory.of(IdentityMemory).copies ??= []
}

/** Deletes the copies that the resync found, once no attempt is open. */
export async function sweepCopies(run: Reconciliation): Promise<void> {
  const { context, cr, memory } = run
  if (memory.of(IdentityMemory).copies === undefined || run.unstored || unresolvedAttempt(cr) !== undefined) return
  const listed = copiesOf(markedObjects(run), cr.metadata.uid, run.status, context.installation)
  await deleteCopies(run, listed)
  memory.of(IdentityMemory).copies = undefined
}
