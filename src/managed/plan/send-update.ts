import { ApiError, isRefusal } from '../../api/errors.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import type { Fields } from '../descriptor/fields.ts'
import { settle } from '../identity/gone.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { lastingAbsence } from './lasting-absence.ts'
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
  const send = (each: Fields): Promise<unknown> => updateOne(run, id, each, reason)
  try {
    await send(body)
  } catch (error) {
    if (otherwise === undefined || !isRefusal(error)) throw error
    try {
      await send(otherwise)
    } catch (failure) {
      throw isRefusal(failure) ? error : failure
    }
  }
}

async function updateOne(run: Reconciliation, id: string, body: Fields, reason: WriteReason): Promise<void> {
  const { collection, memory, session } = run
  try {
    await session.cache.update(collection, id, body, run.because(reason))
    memory.plan.written()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NotFound') throw error
    const { type } = await settle(run, collection, id)
    throw type === 'there' ? lastingAbsence(run, `PATCH ${id}`, error) : error
  }
}
