import type { Clock } from '../../src/util/clock.ts'

interface Timer {
  readonly due: number
  readonly sequence: number
  readonly callback: () => void
}

interface Waiter {
  readonly count: number
  readonly resolve: () => void
}

/**
 * A clock that stands still until a test advances it. Timers fire in the order of their due times, and the event loop
 * turns once between two timers, so that the effects of a timer (promises, and further timers) happen at its time.
 *
 * ```ts
 * const clock = new FakeClock()
 * const slept = sleep(clock, 1_000)
 * await clock.advance(1_000)
 * await slept
 * ```
 */
export class FakeClock implements Clock {
  #wall: number
  #monotonic = 0
  #sequence = 0
  readonly #timers = new Set<Timer>()
  readonly #waiters = new Set<Waiter>()

  /** `start`: wall time in milliseconds since the epoch. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#wall = start
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimer(ms: number, callback: () => void): () => void {
    const timer: Timer = { due: this.#monotonic + Math.max(0, ms), sequence: this.#sequence++, callback }
    this.#timers.add(timer)
    this.#wakeWaiters()
    return () => this.#timers.delete(timer)
  }

  /** Timers that have not fired yet. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Milliseconds until the next timer is due; undefined without one. */
  get nextTimerIn(): number | undefined {
    const next = this.#nextDue(Number.POSITIVE_INFINITY)
    return next === undefined ? undefined : next.due - this.#monotonic
  }

  /** Advances both clocks by `ms`, firing every timer that becomes due, including those set meanwhile. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    await turn()
    for (let timer = this.#nextDue(end); timer !== undefined; timer = this.#nextDue(end)) {
      this.#moveTo(timer.due)
      this.#timers.delete(timer)
      timer.callback()
      await turn()
    }
    this.#moveTo(end)
  }

  /** Advances both clocks without firing a timer: the process was suspended, or its event loop hung. */
  freeze(ms: number): void {
    this.#moveTo(this.#monotonic + ms)
  }

  /** Steps only wall time, as when the machine's clock is set. */
  stepWall(ms: number): void {
    this.#wall += ms
  }

  /** Resolves as soon as at least `count` timers are pending: lets a test wait until real I/O has set a timer. */
  async untilTimers(count = 1): Promise<void> {
    if (this.#timers.size >= count) return
    await new Promise<void>((resolve) => this.#waiters.add({ count, resolve }))
  }

  #nextDue(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.due > end) continue
      const earlier =
        next === undefined || timer.due < next.due || (timer.due === next.due && timer.sequence < next.sequence)
      if (earlier) next = timer
    }
    return next
  }

  #moveTo(monotonic: number): void {
    // A timer that was frozen past its time is due in the past; time never runs backwards for it.
    const step = Math.max(0, monotonic - this.#monotonic)
    this.#monotonic += step
    this.#wall += step
  }

  #wakeWaiters(): void {
    for (const waiter of this.#waiters) {
      if (this.#timers.size < waiter.count) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}

/** One turn of the event loop, after which every promise that could settle has. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
