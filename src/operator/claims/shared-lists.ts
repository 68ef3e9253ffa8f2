import { type Clock, sleep } from '../../util/clock.ts'

/**
 * Minimum time between two lists of everything, from start to start: a user who changes the labels of one account again
 * and again makes the cluster list everything no more often than this. Milliseconds.
 */
const PAUSE_MS = 5_000

/** Lists everything once for all accounts that ask before that begins. */
export class SharedLists {
  readonly #refresh: (since: number) => Promise<void>
  readonly #clock: Clock
  /** What to call for the accounts that wait, by `Kind/namespace/name`. */
  readonly #waiting = new Map<string, () => void>()
  #isListing: boolean = false
  #begunAt = Number.NEGATIVE_INFINITY

  /** @param refresh resolves when everything is known as of that monotonic time or later */
  constructor(refresh: (since: number) => Promise<void>, clock: Clock) {
    this.#refresh = refresh
    this.#clock = clock
  }

  /** Monotonic time at which the latest complete lists began; minus infinity before the first. */
  get begunAt(): number {
    return this.#begunAt
  }

  /** Calls `listed` after the next lists, unless `signal` is aborted before. */
  request(account: string, listed: () => void, signal: AbortSignal): void {
    this.#waiting.set(account, listed)
    if (!this.#isListing) void this.#list(signal)
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#isListing = true
    while (this.#waiting.size > 0 && !signal.aborted) {
      const dueMs = this.#begunAt + PAUSE_MS - this.#clock.monotonic()
      if (dueMs > 0) await sleep(this.#clock, dueMs, signal).catch(() => undefined)
      const waiting = [...this.#waiting.values()]
      this.#waiting.clear()
      const since = this.#clock.monotonic()
      await this.#refresh(since)
      this.#begunAt = since
      for (const listed of waiting) listed()
    }
    this.#isListing = false
  }
}
