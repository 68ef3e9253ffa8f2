/** Timers take no longer wait than this. */
const LONGEST_WAIT_MS = 20 * 24 * 60 * 60 * 1000

/** `pollMs` for something that happens in `ms`: then, or as late as a timer allows. */
export function pollIn(ms: number): number {
  return Math.min(ms, LONGEST_WAIT_MS)
}
