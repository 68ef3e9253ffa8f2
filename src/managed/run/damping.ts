/**
 * How often something that got lost was recently created again. Kept in memory: a restart resets it, which costs one
 * more repeat.
 */
export interface Repeats {
  readonly count: number
  /** Monotonic time of the last repeat. */
  readonly at: number
}

/** How the pauses between repeats grow, in milliseconds. */
export interface RepeatPace {
  /** The pause after the first repeat. Each further one is twice as long. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

/**
 * How long to wait before something that got lost is created again, in milliseconds. The first repeat is immediate;
 * while it keeps getting lost, each wait is twice the one before: a minute at first and an hour at most, unless the
 * pace says otherwise.
 */
export function pauseBeforeNext(before: Repeats | undefined, now: number, pace: RepeatPace = {}): number {
  if (before === undefined) return 0
  return Math.max(0, before.at + pauseAfter(before.count, pace) - now)
}

/** Counts one more repeat. The count starts over when nothing got lost for twice the pause. */
export function countedRepeat(before: Repeats | undefined, now: number, pace: RepeatPace = {}): Repeats {
  const calm = before === undefined || now - before.at > 2 * pauseAfter(before.count, pace)
  return { count: calm ? 1 : before.count + 1, at: now }
}

function pauseAfter(count: number, { firstPauseMs = 60_000, longestPauseMs = 3_600_000 }: RepeatPace): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (count - 1))
}
