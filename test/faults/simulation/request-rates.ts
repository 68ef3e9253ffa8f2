import type { Sighting } from './faults.ts'
import type { VirtualTime } from './virtual-time.ts'

const WINDOW_MS = 60_000
/** Far more than backoff allows for one object, and than resources that share a list need. */
const MOST_IN_WINDOW = 100

/** Notices requests to the API that are repeated without a pause, however they are answered. */
export class RequestRates {
  readonly violations: string[] = []
  readonly #time: VirtualTime
  /** Times of the last requests, by method, path and query: each page of a list is a request of its own. */
  readonly #sent = new Map<string, number[]>()

  constructor(time: VirtualTime) {
    this.#time = time
  }

  sent({ server, method, path, query }: Sighting): void {
    if (server !== 'api') return
    const request = query.size === 0 ? `${method} ${path}` : `${method} ${path}?${query}`
    const times = this.#sent.get(request) ?? []
    this.#sent.set(request, times)
    times.push(this.#time.now)
    if (times.length <= MOST_IN_WINDOW) return
    const first = times.shift() ?? 0
    if (this.#time.now - first > WINDOW_MS) return
    this.violations.push(`${request} was sent more than ${MOST_IN_WINDOW} times within a minute`)
    times.length = 0
  }
}
