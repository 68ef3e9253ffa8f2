import { jitter, type Random } from '../util/random.ts'

const FIRST_MS = 500
const LONGEST_MS = 30_000
/** Many agents lose the same gateway at once. */
const SPREAD = 0.5
/** A connection that lasted this long, in milliseconds, did work: the next failure is the first one. */
const WORKED_MS = 10_000

/** How often connecting has failed in a row. */
export class Backoff {
  readonly #random: Random
  #failures = 0

  constructor(random: Random) {
    this.#random = random
  }

  /**
   * How long to wait before the next attempt, in milliseconds: about 0.5 s after the first failure, then double each
   * time, up to about 30 s, spread by half.
   *
   * @param boundMs how long the tunnels were there before they were lost; 0 if they never were
   */
  next(boundMs: number): number {
    if (boundMs >= WORKED_MS) this.#failures = 0
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 16))
    this.#failures += 1
    return jitter(this.#random, wait, SPREAD)
  }
}
