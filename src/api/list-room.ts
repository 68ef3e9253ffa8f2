import { invalid } from './errors.ts'

/** Approximate memory for one value, beyond its text. */
const BYTES_PER_VALUE = 40

/** Size of one page of a list. */
export interface PageSize {
  /** Bytes of its text. */
  readonly bytes: number
  /** JSON values in it. */
  readonly values: number
}

/**
 * The memory that the lists of one account may take together, since their content is kept: an API that returns ever
 * more objects must not take the memory that other accounts need. A complete list replaces the previous one of its
 * collection.
 */
export class ListRoom {
  readonly maxBytes: number
  readonly #kept = new Map<string, number>()
  readonly #open = new Set<ListSize>()

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** For one list. The caller must end it, whether the list succeeds or fails. */
  begin(collection: string): ListSize {
    const size = new ListSize(this, collection)
    this.#open.add(size)
    return size
  }

  /** Bytes of all lists, kept or in flight; for each collection, the larger of the two. */
  get used(): number {
    const largest = new Map(this.#kept)
    for (const { collection, bytes } of this.#open) {
      largest.set(collection, Math.max(bytes, largest.get(collection) ?? 0))
    }
    return [...largest.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Releases the room of a list; the size of a complete one counts from now on. */
  end(size: ListSize, complete: boolean): void {
    this.#open.delete(size)
    if (complete) this.#kept.set(size.collection, size.bytes)
  }
}

/** One list while it is being read. */
export class ListSize {
  readonly collection: string
  readonly #room: ListRoom
  #bytes = 0

  constructor(room: ListRoom, collection: string) {
    this.#room = room
    this.collection = collection
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws ApiError InvalidResponse when the account's lists become too large. */
  add(page: PageSize, label: string): void {
    this.#bytes += page.bytes + page.values * BYTES_PER_VALUE
    const { used, maxBytes } = this.#room
    if (used > maxBytes) throw invalid(label, `the account's lists take more than ${maxBytes} bytes together`)
  }

  end(complete: boolean): void {
    this.#room.end(this, complete)
  }
}
