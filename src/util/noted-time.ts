import type { Clock } from './clock.ts'

/** How far the clocks of two machines may differ, in milliseconds, before one of them counts as wrong. */
export const CLOCK_SKEW_MS = 300_000

/**
 * A recorded time of a past event. A clock that was ahead may have recorded a time that is still in the future;
 * counting from there would block everything that follows for as long as the clock was ahead. Such a time counts as
 * now, and its owner records that instead, so that it does not move with the clock. Every stored time from
 * which something is counted is read by this rule.
 *
 * @param noted wall time in milliseconds
 * @param now wall time in milliseconds
 */
export function recordedTime(noted: number, now: number): number {
  return noted > now + CLOCK_SKEW_MS ? now : noted
}

/** Whether a wrong clock recorded the time, so that it must be recorded again. */
export function isNotedAhead(noted: number, now: number): boolean {
  return recordedTime(noted, now) !== noted
}

/**
 * By how much a clock was behind that recorded `noted` about something that happened at `happened` by another clock, in
 * milliseconds; 0 if the times agree, or if the other clock may be the one that is wrong, since it is ahead of this
 * one.
 */
export function recordedBehind(noted: number, happened: number, now: number): number {
  const behind = happened - noted
  return behind > CLOCK_SKEW_MS && !isNotedAhead(happened, now) ? behind : 0
}

/**
 * How far wall time is from the monotonic clock, in milliseconds. It changes when the wall clock is set: timers planned
 * at another offset then fire at the wrong moment, since timers never step.
 */
export function clockOffset(clock: Clock): number {
  return clock.now() - clock.monotonic()
}

/** Whether the wall clock was set since the offset was recorded. */
export function wasClockSet(noted: number, clock: Clock): boolean {
  return Math.abs(clockOffset(clock) - noted) > CLOCK_SKEW_MS
}
