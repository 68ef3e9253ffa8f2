import { RequestError } from '../values/request-error.ts'

/** Requests allowed per period, for each API key. */
export interface RateLimit {
  readonly requests: number
  readonly periodMs: number
}

/**
 * A token bucket per API key: a full period's requests may come at once, further ones at an even rate. Refused requests
 * take nothing from the bucket.
 */
export class RateLimiter {
  readonly #limit: RateLimit
  readonly #monotonic: () => number
  readonly #buckets = new Map<string, { level: number; at: number }>()

  constructor(limit: RateLimit, monotonic: () => number) {
    this.#limit = limit
    this.#monotonic = monotonic
  }

  /** @throws RequestError `rateLimited` with `Retry-After` in whole seconds */
  take(keyId: string): void {
    const now = this.#monotonic()
    const { requests, periodMs } = this.#limit
    const bucket = this.#buckets.get(keyId) ?? { level: requests, at: now }
    const level = Math.min(requests, bucket.level + ((now - bucket.at) * requests) / periodMs)
    if (level < 1) {
      this.#buckets.set(keyId, { level, at: now })
      const seconds = Math.max(1, Math.ceil(((1 - level) * periodMs) / requests / 1000))
      throw new RequestError(
        'rateLimited',
        `more than ${requests} requests per ${periodMs / 1000} s`,
        {},
        {
          'retry-after': String(seconds),
        },
      )
    }
    this.#buckets.set(keyId, { level: level - 1, at: now })
  }

  reset(): void {
    this.#buckets.clear()
  }
}
