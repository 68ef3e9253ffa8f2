import { ApiError } from '../../api/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/** Sends an update. One that is not answered may be carried out yet, for as long as a request lasts: what it writes is ours until then. */
export async function noteUnanswered<T>(run: Reconciliation, send: () => Promise<T>): Promise<T> {
  const { clock, times } = run.context
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ApiError) || !error.definite) {
      run.memory.updateUnknownUntil = clock.monotonic() + times.requestTimeoutMs
    }
    throw error
  }
}

/** For how long an update of the object that was not answered may still be carried out, be it a former leader's. Milliseconds. */
export function unansweredMs({ context: { clock, leadership, times }, memory }: Reconciliation): number {
  const former = leadership.leadingSince() + times.requestTimeoutMs
  return Math.max(0, Math.max(former, memory.updateUnknownUntil ?? 0) - clock.monotonic())
}
