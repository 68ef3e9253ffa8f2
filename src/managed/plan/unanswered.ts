import { ApiError } from '../../api/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/**
 * Sends an update. One that gets no answer may still take effect until its request times out: until then, what it
 * writes counts as our own.
 */
export async function noteUnanswered<T>(run: Reconciliation, send: () => Promise<T>): Promise<T> {
  const { clock, times } = run.context
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ApiError) || !error.definite) {
      run.memory.plan.updateUnknownUntil = clock.monotonic() + times.requestTimeoutMs
    }
    throw error
  }
}

/**
 * How long an update of the object that got no answer may still take effect, including one by a former leader.
 * Milliseconds.
 */
export function unansweredMs({ context: { clock, leadership, times }, memory }: Reconciliation): number {
  const former = leadership.leadingSince() + times.requestTimeoutMs
  return Math.max(0, Math.max(former, memory.plan.updateUnknownUntil ?? 0) - clock.monotonic())
}
