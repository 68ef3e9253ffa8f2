import type { Clock } from '../../util/clock.ts'

const MINUTE_MS = 60_000

/**
 * A share of an account's requests: so many a minute on average. Whoever has a turn may send what it takes, since
 * nothing that was begun is broken off; what exceeds the share is made up for before the next turn. Nobody holds a
 * worker while they wait: they are told when to come back, one after the other.
 */
export class RequestShare {
  readonly perMinute: number
  readonly #clock: Clock
  /** Monotonic time when nothing is owed any more. */
  #settledAt = Number.NEGATIVE_INFINITY
  /** When those who wait were told to come back, the last one last. */
  readonly #turns = new Map<string, number>()
  #lastTurn = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock
    this.perMinute = perMinute
  }

  /** One request more. */
  spend(): void {
    this.#settledAt = Math.max(this.#settledAt, this.#clock.monotonic()) + this.#pauseMs
  }

  /**
   * How long `who` has to wait for a turn, in milliseconds; 0: it begins. Who comes back earlier is told the same time
   * again.
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

  /** What may be sent at once after a rest: three seconds' worth, and one request at least. */
  get #burstMs(): number {
    return (Math.max(1, Math.floor(this.perMinute / 20)) - 1) * this.#pauseMs
  }

  /** Who has not come back is gone. */
  #forgetLost(now: number): void {
    for (const [who, turn] of this.#turns) {
      if (turn > now - MINUTE_MS) return
      this.#turns.delete(who)
    }
  }
}
