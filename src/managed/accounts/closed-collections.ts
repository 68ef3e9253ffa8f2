import type { UnlistableError } from '../../api/list-refusals.ts'
import type { Collection } from '../../api/types.ts'
import type { Clock } from '../../util/clock.ts'
import { nameText, type ResourceName } from '../cr.ts'
import { closedRemedy } from '../identity/await-list.ts'

interface Closed {
  readonly collection: Collection
  /** Lists refused in a row since the collection closed, beyond the first. */
  failures: number
  /** Monotonic time of the next try. */
  retryAt: number
}

interface Waiting {
  readonly resources: Map<string, ResourceName>
  /** Monotonic time when one of them last said so. */
  lastAt: number
}

/** The difference that a check of the account found. */
export interface ClosedChange {
  /** Collections that are closed since. */
  readonly closed: readonly Collection[]
  /** Resources that waited for a collection that is open now. */
  readonly ended: readonly ResourceName[]
}

/** A resource that waits says so again at each of its retries, which are more frequent than this. Milliseconds. */
const WAITS_MS = 5 * 60_000

/**
 * The collections of one account that are in use, and closed: the API refuses to list them. Keeps when each is tried
 * again, and which resources wait for it.
 */
export class ClosedCollections {
  readonly #clock: Clock
  readonly #closed = new Map<string, Closed>()
  readonly #waiting = new Map<string, Waiting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the last check of the account found the collection closed. */
  has(path: string): boolean {
    return this.#closed.has(path)
  }

  /** Those that the last check of the account found closed. */
  get collections(): readonly Collection[] {
    return [...this.#closed.values()].map(({ collection }) => collection)
  }

  /** Notes that a resource waits for the collection, whether its own kind uses it or not. */
  await(path: string, resource: ResourceName): void {
    const waiting = this.#waiting.get(path) ?? { resources: new Map(), lastAt: 0 }
    waiting.resources.set(nameText(resource), resource)
    waiting.lastAt = this.#clock.monotonic()
    this.#waiting.set(path, waiting)
  }

  /** Whether a resource waits for the collection, as far as is known. */
  isAwaited({ path }: Collection): boolean {
    const waiting = this.#waiting.get(path)
    return waiting !== undefined && this.#clock.monotonic() - waiting.lastAt < WAITS_MS
  }

  /**
   * Takes over what a check of the account found.
   * @param retryMs pause before the next try, after that many failed ones
   */
  note(refusals: readonly UnlistableError[], retryMs: (failures: number) => number): ClosedChange {
    const now = this.#clock.monotonic()
    const refused = new Map(refusals.map(({ collection }) => [collection.path, collection]))
    const closed = [...refused.values()].filter(({ path }) => !this.#closed.has(path))
    for (const collection of closed) {
      this.#closed.set(collection.path, { collection, failures: 0, retryAt: now + retryMs(0) })
    }
    for (const [path, each] of this.#closed) {
      if (!refused.has(path)) this.#closed.delete(path)
      else if (each.retryAt <= now) {
        each.failures++
        each.retryAt = now + retryMs(each.failures)
      }
    }
    return { closed, ended: this.#endWaits() }
  }

  /** The collections to try again now. */
  get due(): readonly Collection[] {
    const now = this.#clock.monotonic()
    return [...this.#closed.values()].filter(({ retryAt }) => retryAt <= now).map(({ collection }) => collection)
  }

  /** Monotonic time of the next try; infinite while none is closed. */
  get nextRetryAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#closed.values()].map(({ retryAt }) => retryAt))
  }

  #endWaits(): readonly ResourceName[] {
    const ended: ResourceName[] = []
    for (const [path, { resources }] of this.#waiting) {
      if (this.#closed.has(path)) continue
      ended.push(...resources.values())
      this.#waiting.delete(path)
    }
    return ended
  }
}

/** What an account's condition says about its closed collections. */
export function closedText(refusals: readonly UnlistableError[]): string {
  const names = refusals.map(({ collection, status }) => `${collection.path} (${status})`).join(', ')
  const remedies = refusals.map(closedRemedy).join('; ')
  return `the API refuses to list ${names}, so the resources in them wait: ${remedies}. Culvert retries`
}
