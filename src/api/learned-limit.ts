import { WINDOW_MS } from './request-pace.ts'

/** A limit is not lowered below this: it would take hours to find out that the refusal had another cause. */
const LOWEST = 10
/** Assumed when a refusal comes before there are enough answers to learn from. */
const LEAST_LEARNED = 30
const GROWTH_PER_MINUTE = 1.05
/** A server that admits requests again this soon counts over short windows. */
const SHORT_WINDOW_MS = 10_000
const REPEATED_WITHIN_MS = 2 * 60_000

/** What is known at the time of a refusal. */
export interface Refusal {
  readonly now: number
  /** How long nothing will be sent from now. */
  readonly pauseMs: number
  /** Requests answered in the last minute, and when the first of them was answered. */
  readonly recent: { readonly count: number; readonly since: number }
  /** Requests admitted since the previous refusal, and how long ago that was. */
  readonly sinceLast: { readonly admitted: number; readonly ms: number }
}

/**
 * The limit to keep to, in requests per minute: the configured one, lowered after refusals, or, if none is configured,
 * one learned from the first refusal. It grows by 5% a minute, at most to the configured one, so that a limit learned
 * too low recovers and a raised one is found.
 */
export class LearnedLimit {
  readonly #configured: number | undefined
  #limit: number | undefined
  /** When `#limit` took effect: at the end of the pause. */
  #since = Number.NEGATIVE_INFINITY

  constructor(configured: number | undefined) {
    this.#configured = configured
  }

  /** Undefined while no limit is known. */
  at(now: number): number | undefined {
    if (this.#limit === undefined) return this.#configured
    const grown = this.#limit * GROWTH_PER_MINUTE ** (Math.max(0, now - this.#since) / WINDOW_MS)
    return Math.min(grown, this.#configured ?? Number.MAX_SAFE_INTEGER)
  }

  refused(refusal: Refusal): void {
    const current = this.at(refusal.now)
    this.#limit =
      current === undefined ? learn(refusal) : Math.max(Math.min(LOWEST, current), this.#lower(current, refusal))
    this.#since = refusal.now + refusal.pauseMs
  }

  /**
   * The first refusal under a configured limit is probably due to requests of an earlier process or of another user of
   * the key, which leave the window soon; a repeated one means that the limit is wrong.
   */
  #lower(current: number, { now, sinceLast }: Refusal): number {
    const repeated = now - this.#since < REPEATED_WITHIN_MS
    const lowered = current * (this.#configured !== undefined && !repeated ? 0.9 : 0.8)
    // The server's bucket was empty then and is empty now, so what it admitted in between is its refill rate.
    if (this.#configured !== undefined || sinceLast.ms > SHORT_WINDOW_MS) return lowered
    const filled = (0.95 * sinceLast.admitted * WINDOW_MS) / sinceLast.ms
    // With only a few admitted, some answers may still be in flight: do not go down too far at once.
    return sinceLast.admitted < 4 ? Math.min(lowered, Math.max(lowered / 4, filled)) : Math.min(current, filled)
  }
}

function learn({ now, pauseMs, recent }: Refusal): number {
  const windowMs = now - recent.since + pauseMs
  const perMinute = windowMs > SHORT_WINDOW_MS ? recent.count : (recent.count * WINDOW_MS) / Math.max(windowMs, 1_000)
  return Math.max(LEAST_LEARNED, perMinute)
}
