import { ApiError } from '../../api/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/**
 * Sends a write. One that gets no answer may still take effect until its request times out: this is remembered for
 * writes of that sort.
 */
export async function noteUnanswered<T>(
  { context: { clock, times }, memory }: Reconciliation,
  sort: 'update' | 'child' | 'placeholder',
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send()
  } catch (error) {
    const isAnswered = error instanceof ApiError && error.definite
    if (!isAnswered) memory.plan[`${sort}UnknownUntil`] = clock.monotonic() + times.requestTimeoutMs
    throw error
  }
}

/**
 * How long an update of the object that got no answer may still take effect, including one by a former leader: until
 * then, what it writes counts as our own. Milliseconds.
 */
export function unansweredMs({ context: { clock, leadership, times }, memory }: Reconciliation): number {
  const former = leadership.leadingSince() + times.requestTimeoutMs
  return Math.max(0, Math.max(former, memory.plan.updateUnknownUntil ?? 0) - clock.monotonic())
}
