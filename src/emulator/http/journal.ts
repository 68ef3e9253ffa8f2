import type { Json } from '../values/json.ts'

/** One request to the API. `seq` and `answeredSeq` come from one counter, so they order arrivals and answers. */
export interface JournalEntry {
  /** Number of the arrival. */
  readonly seq: number
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly query: string
  /** Arrival by the machine's clock, RFC 3339 with milliseconds. */
  readonly time: string
  /** Id of the API key used; null when the token is unknown. */
  keyId: string | null
  account: string | null
  /** The body without secrets; null if there was none or it was not read; `[n bytes]` if it is larger than 64 KiB. */
  body: Json
  /** The status of the answer; null if there is none (dropped unread, or still open). */
  status: number | null
  /** `id` in the answer: the object created, read or changed. */
  responseId: string | null
  /** Number of the answer, assigned when it was handed to the network; null until then. */
  answeredSeq: number | null
  /** Id of the fault that acted on the request. */
  fault: string | null
  readonly operationId: string
}

/** How many entries are kept; the oldest are dropped. */
const CAPACITY = 50_000

/** Every request to the API in order of arrival, in memory. The admin surface is not recorded. */
export class Journal {
  #entries: JournalEntry[] = []
  #sequence = 0

  /** The next number of the counter that orders arrivals and answers. */
  next(): number {
    this.#sequence += 1
    return this.#sequence
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry)
    if (this.#entries.length > 2 * CAPACITY) this.#entries = this.#entries.slice(-CAPACITY)
  }

  /** Entries with a `seq` greater than `since`, oldest first. */
  entries(since = 0): readonly JournalEntry[] {
    return this.#entries.filter((entry) => entry.seq > since)
  }

  /** Drops the entries; the numbering continues. */
  clear(): void {
    this.#entries = []
  }
}

const SECRET_NAMES = new Set(['token', 'api_key', 'cloud_secret_access_key', 'private_key'])

/** A copy of a body with the values of secrets replaced. */
export function withoutSecrets(body: Json): Json {
  if (Array.isArray(body)) return body.map(withoutSecrets)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      SECRET_NAMES.has(name) && value !== null ? '[removed]' : withoutSecrets(value),
    ]),
  )
}
