import type { Clock } from './clock.ts'

/** By how much the clocks of two machines may differ without one of them counting as wrong. Milliseconds. */
export const CLOCK_SKEW_MS = 300_000

/**
 * A time that was noted of something past. A clock that was ahead has noted one that is still to come; counted from there, everything that
 * follows would be blocked for as long as the clock was ahead. Such a time counts as now, and whoever keeps it notes that, so that it
 * does not move on with the clock. Every durable time that something is counted from is read by this rule.
 *
 * @param noted wall time in milliseconds
 * @param now wall time in milliseconds
 */
export function notedTime(noted: number, now: number): number {
  return noted > now + CLOCK_SKEW_MS ? now : noted
}

/** Whether the time is one that a wrong clock has noted, so that it has to be noted anew. */
export function isNotedAhead(noted: number, now: number): boolean {
  return notedTime(noted, now) !== noted
}

/**
 * How far wall time is from the clock that never steps, in milliseconds. It changes when the wall clock is set: what was planned by another
 * offset waits for the wrong moment, since timers never step.
 */
export function clockOffset(clock: Clock): number {
  return clock.now() - clock.monotonic()
}

/** Whether the wall clock was set since the offset was noted. */
export function wasClockSet(noted: number, clock: Clock): boolean {
  return Math.abs(clockOffset(clock) - noted) > CLOCK_SKEW_MS
}
