/**
 * How often something that got lost was recently created again. Kept in memory: a restart resets it, which costs one
 * more repeat.
 */
export interface Repeats {
  readonly count: number
  /** Monotonic time of the last repeat. */
  readonly at: number
}

/** The pause after the first repeat, unless another is given. */
const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000

/**
 * How long to wait before something that got lost is created again, in milliseconds. The first repeat is immediate;
 * while it keeps getting lost, each wait is twice the one before, at most an hour.
 */
export function pauseBeforeNext(
  before: Repeats | undefined,
  now: number,
  firstPauseMs: number = FIRST_PAUSE_MS,
): number {
  if (before === undefined) return 0
  return Math.max(0, before.at + pauseAfter(before.count, firstPauseMs) - now)
}

/** Counts one more repeat. The count starts over when nothing got lost for twice the pause. */
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
