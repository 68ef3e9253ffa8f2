import { isDefinite } from '../../api/errors.ts'
import type { Clock } from '../../util/clock.ts'

interface Flights {
  /** Monotonic times when the requests in flight began. */
  readonly open: Map<symbol, number>
  /** Monotonic time from which no request that has ended can take effect any more. */
  settledAt: number
}

/** The scope in which ids are unique: one API. Another API may assign the same ids, by chance or on purpose. */
export interface IdSpace {
  /** Base URL of the API. */
  readonly address: string
}

/**
 * Ids that requests of this process name in their bodies. While such a request is in flight, neither a spec, which may
 * have been edited since, nor a list shows that the object is about to be referred to. Accounts at one API count
 * together: two of them may be the same account, opened with two keys.
 */
export class IdsInFlight {
  readonly #clock: Clock
  readonly #requestTimeoutMs: number
  readonly #flights = new Map<string, Flights>()

  /** @param requestTimeoutMs how long a request without an answer may still take effect */
  constructor(clock: Clock, requestTimeoutMs: number) {
    this.#clock = clock
    this.#requestTimeoutMs = requestTimeoutMs
  }

  /** Sends a request that names `ids`. */
  async during<T>(at: IdSpace, ids: readonly string[], send: () => Promise<T>): Promise<T> {
    const flight = Symbol('flight')
    for (const id of ids) this.#flightsOf(at, id).open.set(flight, this.#clock.monotonic())
    let late = 0
    try {
      return await send()
    } catch (error) {
      if (!isDefinite(error)) late = this.#requestTimeoutMs
      throw error
    } finally {
      const settledAt = this.#clock.monotonic() + late
      for (const id of ids) {
        const flights = this.#flightsOf(at, id)
        flights.open.delete(flight)
        flights.settledAt = Math.max(flights.settledAt, settledAt)
      }
    }
  }

  /**
   * Monotonic time from which a list shows the effect of every request that named the id and began before `since`; at
   * least `since`. Undefined while one is in flight.
   */
  settledAt(at: IdSpace, id: string, since: number): number | undefined {
    const flights = this.#flights.get(nameOf(at, id))
    if (flights === undefined) return since
    const isOpen = [...flights.open.values()].some((begunAt) => begunAt <= since)
    return isOpen ? undefined : Math.max(since, flights.settledAt)
  }

  /** The object of that id is gone. */
  forget(at: IdSpace, id: string): void {
    this.#flights.delete(nameOf(at, id))
  }

  #flightsOf(at: IdSpace, id: string): Flights {
    const flights = this.#flights.get(nameOf(at, id)) ?? { open: new Map(), settledAt: Number.NEGATIVE_INFINITY }
    this.#flights.set(nameOf(at, id), flights)
    return flights
  }
}

/** A blank separates the two: addresses contain none. */
function nameOf({ address }: IdSpace, id: string): string {
  return `${address} ${id}`
}
