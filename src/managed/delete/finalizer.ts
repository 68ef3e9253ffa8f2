import { hasFinalizer, internalOf, statusOf, withFinalizer } from '../cr.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/**
 * Puts the finalizer back that somebody took off a CR with an object of its own, by hand or by `culvert operator --release`:
 * without it a deletion would leave the object behind.
 */
export async function keepFinalizer(run: Reconciliation): Promise<void> {
  const { id } = statusOf(run.cr)
  const { create } = internalOf(run.cr)
  if (id === undefined || create === undefined || hasFinalizer(run.cr)) return
  await run.patchMetadata({ finalizers: withFinalizer(run.cr) })
}
