import type { JsonObject } from '../values/json.ts'

/**
 * How a connection was answered.
 *
 * - `served`: by a tunnel or with a fixed answer.
 * - `unserved`: the edge has nothing that can serve it now.
 * - `refused`: by a rule.
 * - `failed`: by what the client sent, or did not send.
 */
export type TrafficVerdict = 'served' | 'unserved' | 'refused' | 'failed'

/** One connection from a client, as the admin surface shows it. */
export interface TrafficEntry extends JsonObject {
  /** Number of the arrival. */
  seq: number
  /** Arrival by the machine's clock, RFC 3339 with milliseconds. */
  time: string
  protocol: 'tcp' | 'tls'
  /** What the client connected to; null if it named no host that is served. */
  hostport: string | null
  /** Null for a name that an agent binds itself. */
  edge: string | null
  account: string | null
  /** Source address and port. */
  source: string
  sourcePort: number
  /** The proxy that named the source; null if the client connected itself. */
  proxy: string | null
  /** Null until it is decided. */
  verdict: TrafficVerdict | null
  /** Id of the rule or restriction that decided; null if none did. */
  rule: string | null
  /** The verdict in words. */
  reason: string
  /** Restrictions that are not enforced and do not admit the source. */
  warnings: string[]
  /** What the traffic policy of the edge notes. */
  notes: string[]
  backend: string | null
  tunnel: string | null
  /** Bytes from the client and to it, as on the wire; once it has ended. */
  bytesIn: number
  bytesOut: number
  /** Why it ended; null while it is open. */
  end: string | null
}

/** The newest connections, in order of arrival, in memory. */
export class TrafficJournal {
  readonly #capacity: number
  #entries: TrafficEntry[] = []
  #sequence = 0

  /** @param capacity how many lines are kept; the oldest are dropped */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Adds a line, which the caller completes as the connection goes on. */
  open(given: Pick<TrafficEntry, 'time' | 'protocol' | 'hostport' | 'source' | 'sourcePort'>): TrafficEntry {
    this.#sequence += 1
    const entry: TrafficEntry = {
      seq: this.#sequence,
      time: given.time,
      protocol: given.protocol,
      hostport: given.hostport,
      edge: null,
      account: null,
      source: given.source,
      sourcePort: given.sourcePort,
      proxy: null,
      verdict: null,
      rule: null,
      reason: '',
      warnings: [],
      notes: [],
      backend: null,
      tunnel: null,
      bytesIn: 0,
      bytesOut: 0,
      end: null,
    }
    this.#entries.push(entry)
    // In large steps, so that a connection stays cheap.
    if (this.#entries.length > 2 * this.#capacity) this.#entries = this.#entries.slice(-this.#capacity)
    return entry
  }

  /** Lines with a `seq` greater than `since`, oldest first. */
  entries(since: number, limit: number): readonly TrafficEntry[] {
    return this.#entries
      .slice(-this.#capacity)
      .filter(({ seq }) => seq > since)
      .slice(0, limit)
  }

  /** Drops the lines; the numbering continues. */
  clear(): void {
    this.#entries = []
  }
}
