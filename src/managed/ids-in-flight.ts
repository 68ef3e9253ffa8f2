import { ApiError } from '../api/errors.ts'
import type { Clock } from '../util/clock.ts'

interface Flight {
  readonly begunAt: number
  /** Monotonic time from which it can no longer take effect; undefined while it is under way. */
  settledAt: number | undefined
}

/** What was settled so long ago is in every list that counts. Milliseconds. */
const FORGOTTEN_AFTER_MS = 15 * 60_000

/**
 * Ids that requests of this process name in their bodies. While one is under way, neither a spec, which may have been edited since, nor a list
 * shows that the object of that id is about to be used.
 */
export class IdsInFlight {
  readonly #clock: Clock
  readonly #requestTimeoutMs: number
  readonly #flights = new Map<string, readonly Flight[]>()

  /** @param requestTimeoutMs for how long a request without an answer may still take effect */
  constructor(clock: Clock, requestTimeoutMs: number) {
    this.#clock = clock
    this.#requestTimeoutMs = requestTimeoutMs
  }

  /** Sends a request that names `ids`. */
  async during<T>(ids: readonly string[], send: () => Promise<T>): Promise<T> {
    const flight: Flight = { begunAt: this.#clock.monotonic(), settledAt: undefined }
    for (const id of ids) this.#flights.set(id, [...this.#recent(id), flight])
    let late = 0
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiError && error.definite)) late = this.#requestTimeoutMs
      throw error
    } finally {
      flight.settledAt = this.#clock.monotonic() + late
    }
  }

  /**
   * Monotonic time from which a list shows what has come of every request that was begun before `since` and named the id; at least
   * `since`. Undefined while one is under way.
   */
  settledAt(id: string, since: number): number | undefined {
    const flights = (this.#flights.get(id) ?? []).filter(({ begunAt }) => begunAt <= since)
    return flights.reduce<number | undefined>((latest, { settledAt }) => {
      return latest === undefined || settledAt === undefined ? undefined : Math.max(latest, settledAt)
    }, since)
  }

  /** The object of that id is gone. */
  forget(id: string): void {
    this.#flights.delete(id)
  }

  #recent(id: string): readonly Flight[] {
    const before = this.#clock.monotonic() - FORGOTTEN_AFTER_MS
    return (this.#flights.get(id) ?? []).filter(({ settledAt = before }) => settledAt >= before)
  }
}
