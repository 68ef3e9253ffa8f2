import { isRefusal } from '../../api/errors.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { UpdateOperation } from './plan.ts'

/**
 * Updates the object `id`. If the API refuses the update, sends the plan's alternative body instead.
 * @throws ApiError of the first request if both are refused; otherwise that of the failed second one.
 */
export async function sendUpdate(
  run: Reconciliation,
  id: string,
  { body, otherwise }: UpdateOperation,
  reason: WriteReason,
): Promise<void> {
  const { collection, session } = run
  try {
    await session.cache.update(collection, id, body, run.because(reason))
  } catch (error) {
    if (otherwise === undefined || !isRefusal(error)) throw error
    try {
      await session.cache.update(collection, id, otherwise, run.because(reason))
    } catch (failure) {
      throw isRefusal(failure) ? error : failure
    }
  }
}
