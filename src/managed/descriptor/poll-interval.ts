/** Longest wait that a timer allows. */
const LONGEST_WAIT_MS = 20 * 24 * 60 * 60 * 1000

/** `pollMs` for something that happens in `ms`: then, or the longest wait that a timer allows if that is sooner. */
export function pollIn(ms: number): number {
  return Math.min(ms, LONGEST_WAIT_MS)
}
