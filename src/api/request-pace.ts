/** Length of the window that a limit applies to. */
export const WINDOW_MS = 60_000

/** How far two clocks may drift apart over a window, plus the error of rounding to whole milliseconds. */
const MARGIN_MS = 100

/** Without a limit, requests are counted only to learn one; more than this teaches nothing. */
const MAX_REMEMBERED = 10_000

/**
 * Keeps requests under a limit per minute for a server whose way of counting is unknown. Two rules hold at once:
 *
 * - Smooth: after a burst, one request every `60 s / limit` (a token bucket), so that servers with short windows or
 *   buckets of their own are not overrun.
 * - Exact: at most `limit` in any minute. A bucket alone admits `limit + burst` in some minute, which a sliding window
 *   refuses. A finished request counts from the time of its answer: the server counted it no later than that, and a
 *   request sent a minute later is counted no earlier, so latency cannot squeeze two minutes' requests into one window.
 */
export class RequestPace {
  #burst: number | undefined
  /** When each request of the last minute was answered, oldest first. */
  readonly #answeredAt: number[] = []
  /** When the bucket would be full again, the "theoretical arrival time" of a leaky bucket. */
  #fullAt = Number.NEGATIVE_INFINITY

  /** `burst`: requests that may start together after a rest. Default a twentieth of the limit, three seconds' worth. */
  constructor(burst: number | undefined) {
    this.#burst = burst
  }

  /** The limit has changed: what follows from the former one is forgotten, the requests of the last minute are not. */
  restart(burst: number | undefined): void {
    this.#burst = burst
    this.#fullAt = Number.NEGATIVE_INFINITY
  }

  /** Milliseconds until one more request may start; infinite while room appears only when a request in flight ends. */
  waitMs(now: number, limit: number, inFlight: number): number {
    this.#forget(now)
    const smooth = Math.max(0, this.#fullAt - this.#depthMs(limit) - now)
    const excess = inFlight + this.#answeredAt.length + 1 - Math.max(1, Math.floor(limit))
    if (excess <= 0) return smooth
    const leaves = this.#answeredAt[excess - 1]
    return leaves === undefined ? Number.POSITIVE_INFINITY : Math.max(smooth, leaves + WINDOW_MS + MARGIN_MS - now)
  }

  started(now: number, limit: number): void {
    this.#fullAt = Math.max(this.#fullAt, now) + WINDOW_MS / limit
  }

  finished(now: number): void {
    this.#forget(now)
    this.#answeredAt.push(now)
    if (this.#answeredAt.length > MAX_REMEMBERED) this.#answeredAt.shift()
  }

  /** Makes requests start one by one from `time` on, so that no burst follows a refusal. */
  restUntil(time: number, limit: number): void {
    this.#fullAt = Math.max(this.#fullAt, time + this.#depthMs(limit))
  }

  /** Requests answered within the last minute, and when the first of them was answered. */
  recent(now: number): { readonly count: number; readonly since: number } {
    this.#forget(now)
    return { count: this.#answeredAt.length, since: this.#answeredAt[0] ?? now }
  }

  /** Requests answered after `time`, which must be within the last minute. */
  answeredSince(time: number): number {
    return this.#answeredAt.filter((answeredAt) => answeredAt > time).length
  }

  #depthMs(limit: number): number {
    const burst = this.#burst ?? Math.floor(limit / 20)
    return ((Math.max(1, burst) - 1) * WINDOW_MS) / limit
  }

  #forget(now: number): void {
    const stays = this.#answeredAt.findIndex((answeredAt) => answeredAt + WINDOW_MS + MARGIN_MS > now)
    this.#answeredAt.splice(0, stays === -1 ? this.#answeredAt.length : stays)
  }
}
