import type { Clock } from '../util/clock.ts'

const PAUSE_MS = 300_000

/**
 * Reports something that may happen constantly: at once the first time, then at most every five minutes, with the
 * number of times it happened.
 */
export class Rarely {
  readonly #clock: Clock
  readonly #tell: (last: unknown, times: number) => void
  #toldAt: number | undefined
  #untold = 0

  constructor(clock: Clock, tell: (last: unknown, times: number) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  happened(what: unknown): void {
    this.#untold++
    const now = this.#clock.monotonic()
    if (this.#toldAt !== undefined && now - this.#toldAt < PAUSE_MS) return
    this.#toldAt = now
    this.#tell(what, this.#untold)
    this.#untold = 0
  }
}
