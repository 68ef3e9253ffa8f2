import { ApiError } from '../../api/errors.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { UpdateOperation } from './plan.ts'

/**
 * Sends an update of the object `id`, and where the API refuses it as invalid, what the plan has in its place.
 * @throws ApiError as the first was refused, where both are; as the second failed otherwise.
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
    if (otherwise === undefined || !isInvalid(error)) throw error
    try {
      await session.cache.update(collection, id, otherwise, run.because(reason))
    } catch (failure) {
      throw isInvalid(failure) ? error : failure
    }
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'Invalid'
}
