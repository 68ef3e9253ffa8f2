import type { Clock } from '../../util/clock.ts'

const MINUTE_MS = 60_000

/**
 * A share of an account's requests: an average per minute. A member whose turn it is may send whatever it needs,
 * since work that has begun is not interrupted; requests beyond the share delay the next turn. Waiting members hold no
 * worker: each gets a time to return, one after another.
 */
export class RequestShare {
  readonly perMinute: number
  readonly #clock: Clock
  /** Monotonic time when the debt is paid off. */
  #settledAt = Number.NEGATIVE_INFINITY
  /** Return times of waiting members, in order. */
  readonly #turns = new Map<string, number>()
  #lastTurn = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock
    this.perMinute = perMinute
  }

  /** Counts one request. */
  spend(): void {
    this.#settledAt = Math.max(this.#settledAt, this.#clock.monotonic()) + this.#pauseMs
  }

  /**
   * How long `who` has to wait for a turn, in milliseconds; 0: it may begin. A member that comes back early gets the
   * same time again.
   */
  waitMs(who: string): number {
    const now = this.#clock.monotonic()
    this.#forgetLost(now)
    const told = this.#turns.get(who)
    if (told !== undefined && told > now) return told - now
    const owedMs = this.#settledAt - this.#burstMs - now
    if (owedMs <= 0 && (told !== undefined || this.#turns.size === 0)) {
      this.#turns.delete(who)
      return 0
    }
    this.#turns.delete(who)
    this.#lastTurn = Math.max(now + Math.max(0, owedMs), this.#lastTurn + this.#pauseMs)
    this.#turns.set(who, this.#lastTurn)
    return Math.max(1, this.#lastTurn - now)
  }

  get #pauseMs(): number {
    return MINUTE_MS / this.perMinute
  }

  /** Requests that may be sent at once after a pause, as time: three seconds' worth, and at least one request. */
  get #burstMs(): number {
    return (Math.max(1, Math.floor(this.perMinute / 20)) - 1) * this.#pauseMs
  }

  /** Forgets members that did not come back. */
  #forgetLost(now: number): void {
    for (const [who, turn] of this.#turns) {
      if (turn > now - MINUTE_MS) return
      this.#turns.delete(who)
    }
  }
}
