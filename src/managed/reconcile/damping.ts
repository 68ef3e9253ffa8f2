/** How often something was made again of late because it had got lost. Kept in memory: a restart forgets it, and makes one more. */
export interface Repeats {
  readonly count: number
  /** Monotonic time of the last one. */
  readonly at: number
}

/** The pause after the first time, unless another is given. */
const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000

/**
 * How long what got lost has to wait until it is made again, in milliseconds. The first time is at once; while something goes on
 * taking it away, each waits twice as long as the one before, an hour at most.
 */
export function pauseBeforeNext(
  before: Repeats | undefined,
  now: number,
  firstPauseMs: number = FIRST_PAUSE_MS,
): number {
  if (before === undefined) return 0
  return Math.max(0, before.at + pauseAfter(before.count, firstPauseMs) - now)
}

/** Counts one more. After twice the pause in peace the count starts over. */
export function countedRepeat(
  before: Repeats | undefined,
  now: number,
  firstPauseMs: number = FIRST_PAUSE_MS,
): Repeats {
  const calm = before === undefined || now - before.at > 2 * pauseAfter(before.count, firstPauseMs)
  return { count: calm ? 1 : before.count + 1, at: now }
}

function pauseAfter(count: number, firstPauseMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, firstPauseMs * 2 ** (count - 1))
}
