import type { ObjectKey, StoredObject } from './store.ts'

interface Change {
  readonly key: ObjectKey
  /** Emulated time of the change, in milliseconds. */
  readonly at: number
  /** The object as it was before; undefined when it did not exist. */
  readonly before: StoredObject | undefined
}

/** How many changes are remembered; older ones can no longer be undone. */
const CAPACITY = 20_000

/**
 * What each write replaced, newest last, kept in memory. A list "as of t seconds ago" is today's list with the changes
 * since then undone; that serves the stale-list fault and costs nothing while nobody asks.
 */
export class ChangeLog {
  readonly #now: () => number
  #changes: Change[] = []
  #pending: Change[] = []
  readonly #revisions = new Map<string, number>()
  #clears = 0

  constructor(now: () => number) {
    this.#now = now
  }

  record(key: ObjectKey, before: StoredObject | undefined): void {
    this.#pending.push({ key, at: this.#now(), before })
    this.#touch(key.collection)
  }

  /**
   * A number that grows with each change to a collection, of whichever account, and when one is undone. Whoever keeps what it
   * made of the collection learns from it that this is out of date.
   */
  revision(collection: string): number {
    return this.#clears + (this.#revisions.get(collection) ?? 0)
  }

  commit(): void {
    this.#changes.push(...this.#pending)
    this.#pending = []
    // Trimmed in large steps, so that a write stays cheap.
    if (this.#changes.length > 2 * CAPACITY) this.#changes = this.#changes.slice(-CAPACITY)
  }

  rollback(): void {
    for (const { key } of this.#pending) this.#touch(key.collection)
    this.#pending = []
  }

  clear(): void {
    this.#changes = []
    this.#pending = []
    this.#clears += 1
  }

  /**
   * What differs from today in a collection as it was at `time`: per id the old object, or undefined where there was none.
   */
  differencesSince(account: string, collection: string, time: number): Map<string, StoredObject | undefined> {
    const differences = new Map<string, StoredObject | undefined>()
    for (const change of this.#changes.toReversed()) {
      // Not a break: the clock may have been set back, and then the times are not in order.
      if (change.at <= time) continue
      if (change.key.account !== account || change.key.collection !== collection) continue
      differences.set(change.key.id, change.before)
    }
    return differences
  }

  #touch(collection: string): void {
    this.#revisions.set(collection, (this.#revisions.get(collection) ?? 0) + 1)
  }
}
