import { isDefinite } from '../../api/errors.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { UnansweredMemory } from './unanswered-memory.ts'

/**
 * Sends a write. One that gets no answer may still take effect until its request times out: this is remembered for
 * writes of that sort.
 */
export async function noteUnanswered<T>(
  { context: { clock, times }, memory }: Reconciliation,
  sort: Sort,
  send: () => Promise<T>,
): Promise<T> {
  try {
    if (sort === 'update' || sort === 'deletion') return await send()
    const made = await memory.of(UnansweredMemory).createsOf(sort).send(clock.monotonic(), send)
    memory.of(UnansweredMemory).createsOf(sort).succeeded()
    return made
  } catch (error) {
    const isAnswered = isDefinite(error) || error instanceof WaitError
    if (!isAnswered) memory.of(UnansweredMemory)[NOTED_IN[sort]] = clock.monotonic() + times.requestTimeoutMs
    throw error
  }
}

const NOTED_IN = {
  update: 'updateUnknownUntil',
  child: 'childUnknownUntil',
  deletion: 'childUnknownUntil',
  placeholder: 'placeholderUnknownUntil',
} as const

/** Sorts of writes: of the object itself, creates and deletions of its children, creates of placeholders. */
type Sort = keyof typeof NOTED_IN

/** @throws WaitError while it is too early for another create of that sort, after some without an answer. */
export function waitBeforeCreate({ context, memory }: Reconciliation, sort: 'child' | 'placeholder'): void {
  const creates = memory.of(UnansweredMemory).createsOf(sort)
  const pauseMs = creates.pauseMs(context.clock.monotonic())
  if (creates.failure === undefined || pauseMs === 0) return
  throw new WaitError(reasons.ApiError, creates.failure.message, Math.ceil(pauseMs))
}

/**
 * How long an update of the object that got no answer may still take effect, including one by a former leader: until
 * then, what it writes counts as our own. Milliseconds.
 */
export function unansweredMs({ context: { clock, leadership, times }, cr, memory }: Reconciliation): number {
  const former = leadership.leadingSince(cr) + times.requestTimeoutMs
  return Math.max(0, Math.max(former, memory.of(UnansweredMemory).updateUnknownUntil ?? 0) - clock.monotonic())
}
