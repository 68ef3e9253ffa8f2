import { ApiError, isRefusal } from '../../api/errors.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import type { Fields } from '../descriptor/common.ts'
import { checkExistence } from '../identity/gone.ts'
import { lastingAbsence, UnansweredMemory } from '../identity/unanswered.ts'
import type { UpdateOperation } from '../plan/plan.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

/**
 * Updates the object `id`. If the API refuses the update, sends the plan's alternatives in its place, until it takes
 * one.
 * @throws ApiError of the first request if all are refused; otherwise that of the one that failed.
 */
export async function sendUpdate(
  run: Reconciliation,
  id: string,
  { body, alternatives }: UpdateOperation,
  reason: WriteReason,
): Promise<void> {
  let refusal: unknown
  for (const each of [body, ...alternatives]) {
    try {
      await updateOne(run, id, each, reason)
      return
    } catch (error) {
      if (!isRefusal(error)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

async function updateOne(run: Reconciliation, id: string, body: Fields, reason: WriteReason): Promise<void> {
  const { collection, memory, session } = run
  try {
    await session.cache.update(collection, id, body, run.originFor(reason))
    memory.of(UnansweredMemory).written()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NotFound') throw error
    const { type } = await checkExistence(run, collection, id)
    throw type === 'there' ? lastingAbsence(run, `PATCH ${id}`, error) : error
  }
}
