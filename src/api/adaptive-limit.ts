/**
 * Where a limit begins, and what nothing lowers it below: requests to a part of the API that hangs must leave places to
 * those for the rest of it.
 */
const FIRST = 8
/** An API is slow when its answers take this many times as long as the quickest of the last one or two minutes. */
const SLOW = 2
/** A difference that is noise, of the network or of a busy process. Milliseconds. */
const SLACK_MS = 10
/** Weight of one answer in the mean. */
const WEIGHT = 0.1
/**
 * After this time the limit starts over, for a few rounds: the quickest answers come while few requests are in flight,
 * and an API that stays slow because of our requests would otherwise pass for one that is slow by itself.
 */
const SPAN_MS = 60_000

/** How a request ended: in whole, or with a 429, a 5xx or no answer at all. */
export type Ending = 'answered' | 'refused' | 'failed'

/** A request that has ended. Monotonic milliseconds. */
export interface Ended {
  readonly how: Ending
  readonly beganAt: number
  readonly endedAt: number
  /** Requests that take equally long, such as one of the same method to the same collection. */
  readonly sort: string
  /** Whether others wait for a turn: a limit that nothing reaches says nothing, and stays. */
  readonly isWanted: boolean
}

/**
 * How many requests may be in flight at once at an API whose capacity is unknown. While answers come as quickly as
 * they do at rest, the limit rises: at first it doubles with each round of requests, and after the first sign of
 * strain by one a round. A refusal or failure halves it; answers that have become slow take a fifth of it. Signs of one
 * round count once: requests that were sent before the limit was last lowered say nothing of the lower one.
 */
export class AdaptiveLimit {
  readonly #most: number
  readonly #times = new Map<string, Times>()
  #limit: number
  #isDoubling: boolean = true
  #loweredAt = Number.NEGATIVE_INFINITY
  #spanFrom = Number.NEGATIVE_INFINITY

  /** @param most never more than this; at least 1 */
  constructor(most: number) {
    this.#most = Math.max(1, most)
    this.#limit = Math.min(FIRST, this.#most)
  }

  /** Requests that may be in flight now: at least one. */
  get value(): number {
    return Math.floor(this.#limit)
  }

  ended({ how, beganAt, endedAt, sort, isWanted }: Ended): void {
    if (endedAt - this.#spanFrom >= SPAN_MS) this.#beginSpan(endedAt)
    if (how !== 'answered') {
      this.#lower(0.5, beganAt, endedAt)
      return
    }
    const ms = endedAt - beganAt
    const times = this.#timesOf(sort)
    times.add(ms)
    // Doubling ends with the first slow answer: the mean shows it a round later, when the limit is twice as high.
    if (times.isSlow(ms)) this.#isDoubling = false
    if (times.isSlow(times.mean)) this.#lower(0.8, beganAt, endedAt)
    else if (isWanted) this.#limit = Math.min(this.#most, this.#limit + (this.#isDoubling ? 1 : 1 / this.#limit))
  }

  #beginSpan(now: number): void {
    this.#spanFrom = now
    for (const times of this.#times.values()) times.beginSpan()
    this.#limit = Math.min(this.#limit, FIRST)
    this.#isDoubling = true
  }

  #lower(factor: number, beganAt: number, endedAt: number): void {
    this.#isDoubling = false
    if (beganAt < this.#loweredAt || this.#limit <= FIRST) return
    this.#limit = Math.max(FIRST, this.#limit * factor)
    this.#loweredAt = endedAt
  }

  #timesOf(sort: string): Times {
    const times = this.#times.get(sort) ?? new Times()
    this.#times.set(sort, times)
    return times
  }
}

/** How long requests of one sort take. Milliseconds. */
class Times {
  mean = Number.NaN
  #quickest = Number.POSITIVE_INFINITY
  #quickestBefore = Number.POSITIVE_INFINITY

  beginSpan(): void {
    this.#quickestBefore = this.#quickest
    this.#quickest = Number.POSITIVE_INFINITY
  }

  add(ms: number): void {
    this.mean = Number.isNaN(this.mean) ? ms : this.mean + WEIGHT * (ms - this.mean)
    this.#quickest = Math.min(this.#quickest, ms)
  }

  isSlow(ms: number): boolean {
    return ms > SLOW * Math.min(this.#quickest, this.#quickestBefore) + SLACK_MS
  }
}
