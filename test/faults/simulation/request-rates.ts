import type { KubeObject } from '../../../src/kube/types.ts'
import { shortName } from '../../../src/managed/cr.ts'
import type { Sighting } from './faults.ts'
import type { VirtualTime } from './virtual-time.ts'

const WINDOW_MS = 60_000
/** Far more than backoff allows for one object, and than resources that share a list need. */
const MOST_IN_WINDOW = 100

/**
 * Notices requests to the API that are repeated without a pause, however they are answered, and objects that are made
 * for one source again and again: each has another path or UID.
 */
export class RequestRates {
  readonly violations: string[] = []
  readonly #time: VirtualTime
  /** Times of the last requests, by method, path and query (each page of a list is one of its own), or by source. */
  readonly #sent = new Map<string, number[]>()

  constructor(time: VirtualTime) {
    this.#time = time
  }

  sent(sighting: Sighting): void {
    const { server, method, path, query } = sighting
    if (server === 'api') this.#count(query.size === 0 ? `${method} ${path}` : `${method} ${path}?${query}`)
    else if (method === 'POST') for (const source of sourcesOf(sighting)) this.#count(`a create for ${source}`)
  }

  #count(request: string): void {
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

/** The owners for which an object is made, such as `Service/web`. */
function sourcesOf({ body, query }: Sighting): readonly string[] {
  if (query.has('dryRun')) return []
  const { metadata } = JSON.parse(body) as Partial<KubeObject>
  return (metadata?.ownerReferences ?? []).map(shortName)
}
