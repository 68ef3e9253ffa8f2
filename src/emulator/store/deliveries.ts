import { type JsonObject, parseStoredObject, rfc3339 } from '../values/json.ts'
import { type Store, text } from './emulator-store.ts'

/** The events of one type that a subscription sends to one destination. */
export interface Route {
  readonly type: string
  readonly destination: string
}

/** One event handed to one destination by one subscription. */
export interface Delivery {
  /** Number of the delivery; increases with time and is never reused. */
  readonly seq: number
  readonly account: string
  /** Id of the event destination. */
  readonly destination: string
  /** Id of the event subscription that routed the event there. */
  readonly subscription: string
  /** The event type, `ip_policy_created.v0`. */
  readonly type: string
  /** Number of attempts; the first one succeeds, since nothing leaves the machine. */
  readonly attempt: number
  readonly outcome: string
  /** When it was delivered, by the emulated clock. */
  readonly time: string
  /** What the destination received. */
  readonly event: JsonObject
}

/** Which deliveries to show. */
export interface DeliveryFilter {
  /** Those with a greater `seq`; default 0, all. */
  readonly since?: number | undefined
  readonly destination?: string | undefined
  readonly type?: string | undefined
  /** The most deliveries to show; default 100. */
  readonly limit?: number | undefined
}

/** How many deliveries are kept; the oldest are dropped. */
const KEPT = 10_000

/**
 * Which subscription sends what where, and what was sent. Both are tables, so that a change and its deliveries are
 * committed together, and an index shows whether any subscription wants a type.
 */
export class Deliveries {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Replaces the routes of a subscription. */
  setRoutes(account: string, subscription: string, routes: readonly Route[]): void {
    this.#store.run('DELETE FROM routes WHERE account = ? AND subscription = ?', [account, subscription])
    for (const { type, destination } of routes) {
      this.#store.run('INSERT OR IGNORE INTO routes (account, type, subscription, destination) VALUES (?, ?, ?, ?)', [
        account,
        type,
        subscription,
        destination,
      ])
    }
  }

  /** The destinations of a type of event, in order of the subscriptions. */
  routesOf(account: string, type: string): readonly { subscription: string; destination: string }[] {
    return this.#store
      .all('SELECT subscription, destination FROM routes WHERE account = ? AND type = ?', [account, type])
      .map((row) => ({ subscription: text(row, 'subscription'), destination: text(row, 'destination') }))
  }

  /** Records a delivery. Must run in the transaction of the change that the event reports. */
  add(delivery: Omit<Delivery, 'seq' | 'time'> & { readonly at: number }): void {
    this.#store.run(
      `INSERT INTO deliveries (account, destination, subscription, type, attempt, outcome, at, event)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        delivery.account,
        delivery.destination,
        delivery.subscription,
        delivery.type,
        delivery.attempt,
        delivery.outcome,
        delivery.at,
        JSON.stringify(delivery.event),
      ],
    )
    this.#store.run('DELETE FROM deliveries WHERE seq <= last_insert_rowid() - ?', [KEPT])
  }

  /** Deliveries that pass the filter, oldest first. */
  list({ since = 0, destination, type, limit = 100 }: DeliveryFilter = {}): readonly Delivery[] {
    return this.#store
      .all(
        `SELECT * FROM deliveries WHERE seq > ?1 AND (?2 IS NULL OR destination = ?2) AND (?3 IS NULL OR type = ?3)
         ORDER BY seq LIMIT ?4`,
        [since, destination ?? null, type ?? null, limit],
      )
      .map((row) => ({
        seq: Number(row.seq),
        account: text(row, 'account'),
        destination: text(row, 'destination'),
        subscription: text(row, 'subscription'),
        type: text(row, 'type'),
        attempt: Number(row.attempt),
        outcome: text(row, 'outcome'),
        time: rfc3339(Number(row.at)),
        event: parseStoredObject(text(row, 'event')),
      }))
  }

  /** Drops the deliveries; the numbering continues. */
  clear(): void {
    this.#store.run('DELETE FROM deliveries', [])
  }
}
