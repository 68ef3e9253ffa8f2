import type { Clock } from '../../util/clock.ts'

/** A clock that can be put forward: what the operator would wait for in a plan has then passed. */
export class DryClock implements Clock {
  readonly #clock: Clock
  #aheadMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs
  }

  monotonic(): number {
    return this.#clock.monotonic() + this.#aheadMs
  }

  setTimer(ms: number, callback: () => void): () => void {
    return this.#clock.setTimer(ms, callback)
  }

  /** How far the clock was put forward in all, in milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  putForward(ms: number): void {
    this.#aheadMs += Math.max(0, ms)
  }
}
