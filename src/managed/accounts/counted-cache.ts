import type { ListOptions } from '../../api/account-cache.ts'
import type { Known } from '../../api/collection-cache.ts'
import type { UnlistableError } from '../../api/list-refusals.ts'
import type { CallOptions, Collection, RemoteObject, RequestBody, WriteOptions } from '../../api/types.ts'
import type { SessionCache, SessionCalls } from '../run/session.ts'

/**
 * An account's cache for members that share its requests: calls `spend` for each request. A list counts for the caller
 * that begins it.
 */
export class CountedCache implements SessionCache {
  readonly #cache: SessionCache
  readonly #spend: () => void

  constructor(cache: SessionCache, spend: () => void) {
    this.#cache = cache
    this.#spend = spend
  }

  get stats(): SessionCache['stats'] {
    return this.#cache.stats
  }

  async ensureListed(collection: Collection, options?: ListOptions): Promise<boolean> {
    const began = await this.#cache.ensureListed(collection, options)
    if (began) this.#spend()
    return began
  }

  refresh(collection: Collection, priority?: Parameters<SessionCache['refresh']>[1]): Promise<void> {
    this.#spend()
    return this.#cache.refresh(collection, priority)
  }

  refusalOf(collection: Collection): UnlistableError | undefined {
    return this.#cache.refusalOf(collection)
  }

  refusals(): readonly UnlistableError[] {
    return this.#cache.refusals()
  }

  isListed(collection: Collection): boolean {
    return this.#cache.isListed(collection)
  }

  get(collection: Collection, id: string): Known | undefined {
    return this.#cache.get(collection, id)
  }

  find(collection: Collection, key: string): readonly RemoteObject[] {
    return this.#cache.find(collection, key)
  }

  all(collection: Collection): readonly RemoteObject[] {
    return this.#cache.all(collection)
  }

  shows(id: string): boolean {
    return this.#cache.shows(id)
  }

  isDeleted(collection: Collection, id: string): boolean {
    return this.#cache.isDeleted(collection, id)
  }

  isDeletedSinceList(collection: Collection, id: string, listed: Collection): boolean {
    return this.#cache.isDeletedSinceList(collection, id, listed)
  }

  missesOf(collection: Collection, id: string): readonly number[] {
    return this.#cache.missesOf(collection, id)
  }

  fetch(collection: Collection, id: string, options?: CallOptions): Promise<RemoteObject | undefined> {
    this.#spend()
    return this.#cache.fetch(collection, id, options)
  }

  create(collection: Collection, body: RequestBody, options: WriteOptions): Promise<RemoteObject> {
    this.#spend()
    return this.#cache.create(collection, body, options)
  }

  update(collection: Collection, id: string, body: RequestBody, options: WriteOptions): Promise<RemoteObject> {
    this.#spend()
    return this.#cache.update(collection, id, body, options)
  }

  delete(collection: Collection, id: string, options: WriteOptions): Promise<'deleted' | 'absent'> {
    this.#spend()
    return this.#cache.delete(collection, id, options)
  }

  subscribe(listener: Parameters<SessionCache['subscribe']>[0]): () => void {
    return this.#cache.subscribe(listener)
  }
}

/** Counts the requests that bypass the cache. */
export function countedCalls(calls: SessionCalls, spend: () => void): SessionCalls {
  return {
    get: (...args) => {
      spend()
      return calls.get(...args)
    },
    list: (...args) => {
      spend()
      return calls.list(...args)
    },
    command: (...args) => {
      spend()
      return calls.command(...args)
    },
  }
}
