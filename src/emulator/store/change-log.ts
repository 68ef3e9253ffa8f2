import type { ObjectKey, StoredObject } from './database.ts'

interface Change {
  readonly key: ObjectKey
  /** Emulated time of the change, in milliseconds. */
  readonly at: number
  /** The object as it was before; undefined when it did not exist. */
  readonly before: StoredObject | undefined
}

/** A cache of values made from stored objects, which must drop them when the objects change. */
interface ChangeWatcher {
  /**
   * An object is being written, in a transaction that may still be rolled back; `states` holds the object before and
   * after, as far as it exists.
   */
  changed(key: ObjectKey, states: readonly StoredObject[]): void
  /** Everything is being replaced. */
  cleared(): void
}

/** How many changes are remembered; older ones can no longer be undone. */
const CAPACITY = 20_000

/**
 * What each write replaced, newest last, in memory. A list "as of t seconds ago" is the current list with the changes
 * since then undone; that serves the stale-list fault and costs nothing while unused.
 */
export class ChangeLog {
  readonly #now: () => number
  #changes: Change[] = []
  #pending: Change[] = []
  readonly #watchers: ChangeWatcher[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records a write: the object before and after it, undefined where there is none. */
  record(key: ObjectKey, before: StoredObject | undefined, after: StoredObject | undefined): void {
    this.#pending.push({ key, at: this.#now(), before })
    if (this.#pending.length > 2 * CAPACITY) this.#pending = this.#pending.slice(-CAPACITY)
    const states = [before, after].filter((state) => state !== undefined)
    for (const watcher of this.#watchers) watcher.changed(key, states)
  }

  /** Notifies `watcher` of every write from now on. */
  watch(watcher: ChangeWatcher): void {
    this.#watchers.push(watcher)
  }

  commit(): void {
    // One at a time: a seed makes more changes than a call accepts arguments.
    for (const change of this.#pending) this.#changes.push(change)
    this.#pending = []
    // Trimmed in large steps, so that a write stays cheap.
    if (this.#changes.length > 2 * CAPACITY) this.#changes = this.#changes.slice(-CAPACITY)
  }

  rollback(): void {
    this.#pending = []
  }

  /** Everything is about to be replaced. */
  clear(): void {
    this.#changes = []
    this.#pending = []
    for (const watcher of this.#watchers) watcher.cleared()
  }

  /** How a collection at `time` differs from now: per id the old object, or undefined if there was none. */
  differencesSince(account: string, collection: string, time: number): Map<string, StoredObject | undefined> {
    const differences = new Map<string, StoredObject | undefined>()
    for (const change of this.#changes.toReversed()) {
      // Not a break: after the clock was set back, the times are not in order.
      if (change.at <= time) continue
      if (change.key.account !== account || change.key.collection !== collection) continue
      differences.set(change.key.id, change.before)
    }
    return differences
  }
}
