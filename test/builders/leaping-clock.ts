import type { Clock } from '../../src/util/clock.ts'

interface Timer {
  /** Due time on the monotonic clock. */
  readonly due: number
  readonly callback: () => void
  timeout: NodeJS.Timeout
}

/**
 * The machine's clock, which a test can advance by days: real requests take their real time, and timers due within the
 * leap fire at once. Shared by all who must agree on the time.
 *
 * ```ts
 * const clock = new LeapingClock()
 * const emulator = await startEmulator({ clock })
 * clock.leap(86_400_000)
 * ```
 */
export class LeapingClock implements Clock {
  #ahead = 0
  readonly #timers = new Set<Timer>()

  now(): number {
    return Date.now() + this.#ahead
  }

  monotonic(): number {
    return performance.now() + this.#ahead
  }

  setTimer(ms: number, callback: () => void): () => void {
    const due = this.monotonic() + Math.max(0, ms)
    const timer: Timer = { due, callback, timeout: setTimeout(() => this.#fire(timer), cut(ms)) }
    this.#timers.add(timer)
    return () => this.#cancel(timer)
  }

  /** Whether a timer is due within `ms`: a request is in flight, or something waits to continue. */
  isDueWithin(ms: number): boolean {
    const end = this.monotonic() + ms
    return [...this.#timers].some(({ due }) => due <= end)
  }

  /** Advances both clocks by `ms`, and fires every timer then due, in the order of their times. */
  leap(ms: number): void {
    if (ms < 0) throw new RangeError(`time does not run backwards: ${ms} ms`)
    this.#ahead += ms
    const timers = [...this.#timers].sort((left, right) => left.due - right.due)
    for (const timer of timers) {
      const left = timer.due - this.monotonic()
      clearTimeout(timer.timeout)
      // An earlier timer may have cancelled it.
      if (!this.#timers.has(timer)) continue
      if (left > 0) timer.timeout = setTimeout(() => this.#fire(timer), cut(left))
      else this.#fire(timer)
    }
  }

  /** Advances both clocks to a wall time in milliseconds, unless it has passed. */
  leapTo(wall: number): void {
    this.leap(Math.max(0, wall - this.now()))
  }

  #fire(timer: Timer): void {
    this.#cancel(timer)
    timer.callback()
  }

  #cancel(timer: Timer): void {
    clearTimeout(timer.timeout)
    this.#timers.delete(timer)
  }
}

/** setTimeout fires at once beyond 2^31-1 ms; as with the machine's clock, a longer wait is checked again. */
function cut(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1)
}
