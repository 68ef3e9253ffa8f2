import { hasFinalizer, internalOf, statusOf, withFinalizer } from '../cr.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/**
 * Restores the finalizer of a CR with an object of its own if it was removed, by hand or by `culvert operator
 * --release`: without it, a deletion would leave the object behind.
 */
export async function keepFinalizer(run: Reconciliation): Promise<void> {
  const { id } = statusOf(run.cr)
  const { create } = internalOf(run.cr)
  if (id === undefined || create === undefined || hasFinalizer(run.cr)) return
  await run.patchMetadata({ finalizers: withFinalizer(run.cr) })
}
