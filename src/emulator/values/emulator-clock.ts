import type { Clock } from '../../util/clock.ts'

/**
 * The emulator's wall time: the injected clock, moved by an offset that the admin surface controls. Time-outs, latency
 * and rate limits stay on the injected clock; what the API shows follows this one.
 */
export class EmulatorClock {
  readonly #base: Clock
  #offset: number

  constructor(base: Clock) {
    this.#base = base
    this.#offset = 0
  }

  /** Emulated time in milliseconds since the epoch. */
  now(): number {
    return this.#base.now() + this.#offset
  }

  /** How far emulated time is ahead of the injected clock, in milliseconds. */
  get offset(): number {
    return this.#offset
  }

  /** Restores the offset of an earlier run. */
  restore(offset: number): void {
    this.#offset = offset
  }

  advance(seconds: number): void {
    this.#offset += seconds * 1000
  }

  /** Sets the time; it keeps running from there. */
  set(milliseconds: number): void {
    this.#offset = milliseconds - this.#base.now()
  }

  reset(): void {
    this.#offset = 0
  }
}
