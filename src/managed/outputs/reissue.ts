/** How often a token was issued anew of late. Kept in memory: a restart forgets it, and issues one more. */
export interface Reissues {
  readonly count: number
  /** Monotonic time of the last one. */
  readonly at: number
}

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000

/**
 * How long a lost token has to wait until it is issued anew, in milliseconds. The first is issued at once; while something goes on
 * taking or overwriting them, each waits twice as long as the one before, an hour at most.
 */
export function reissuePause(before: Reissues | undefined, now: number): number {
  if (before === undefined) return 0
  return Math.max(0, before.at + pauseAfter(before.count) - now)
}

/** Counts one more. Who was left in peace for twice the pause starts over. */
export function reissued(before: Reissues | undefined, now: number): Reissues {
  const calm = before === undefined || now - before.at > 2 * pauseAfter(before.count)
  return { count: calm ? 1 : before.count + 1, at: now }
}

function pauseAfter(count: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1))
}
