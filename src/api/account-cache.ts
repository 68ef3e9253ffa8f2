import { type Clock, sleep } from '../util/clock.ts'
import { PRIORITIES, type Priority } from '../util/priority.ts'
import { type CacheDifference, CollectionCache, type Known } from './collection-cache.ts'
import { ApiError, invalid, isDefinite } from './errors.ts'
import { isListRefusal, ListRefusals, UnlistableError } from './list-refusals.ts'
import type { ObjectKeys } from './object-index.ts'
import type { ApiClient, CallOptions, Collection, CompleteList, RemoteObject, RequestBody } from './types.ts'

/** A difference between the cache and a list. Our own writes are not differences. */
export type Change = CacheDifference & { readonly collection: Collection }

/** Called for each difference once a list is complete. It must not throw. */
export type ChangeListener = (change: Change) => void

export interface ListOptions {
  /** The list must have begun at or after this time of the monotonic clock. Default: any complete list will do. */
  readonly since?: number | undefined
  /** Priority of the list, if one has to be started. Default `edit`. */
  readonly priority?: Priority | undefined
}

export type MayHaveMade = (body: RequestBody, object: RemoteObject) => boolean

export interface CacheOptions {
  /**
   * Whether a create with this body can have made the object; if not, the answer belongs to another request. Default:
   * it always can.
   */
  readonly mayHaveMade?: MayHaveMade
  /** Keys by which `find` finds the objects of a collection. Default: none. */
  readonly keysOf?: (collection: Collection) => ObjectKeys
  /** Called when a list that `ensureListed` made is refused. Default: nothing. */
  readonly onRefusal?: () => void
}

interface ListFlight {
  readonly priority: Priority
  readonly startedAt: number
  readonly done: Promise<void>
}

interface Shelf {
  readonly collection: Collection
  readonly cache: CollectionCache
  /** Ids of objects that we are writing to, and the number of writes in flight to each. */
  readonly writing: Map<string, number>
  /** Creates of ours in flight, whose ids are not known yet. */
  readonly creating: Set<Promise<unknown>>
  flight: ListFlight | undefined
}

const FETCH_ATTEMPTS = 3

/**
 * What the server last said about one account, collection by collection. Reconcilers read it instead of the API, write
 * through it, and learn from it which objects to reconcile.
 *
 * It never shows anything older than our own last answered write: a list or GET that began before that answer is
 * ignored for the object.
 *
 * A collection whose list was refused is closed: what was known of it stays, and until `refresh` succeeds nothing in it
 * is read or written, since nothing would show what exists there.
 *
 * ```ts
 * await cache.ensureListed(collections.ipPolicies)
 * const known = cache.get(collections.ipPolicies, id) // undefined: no such object in the last complete list
 * ```
 */
export class AccountCache {
  readonly #client: ApiClient
  readonly #clock: Clock
  readonly #mayHaveMade: MayHaveMade
  readonly #keysOf: (collection: Collection) => ObjectKeys
  readonly #onRefusal: () => void
  readonly #refusals = new ListRefusals()
  readonly #shelves = new Map<string, Shelf>()
  readonly #listeners = new Set<ChangeListener>()
  readonly #keyListeners = new Set<(key: string) => void>()
  #lists = 0
  #pages = 0

  /** @param clock the client's own, since times of both are compared */
  constructor(client: ApiClient, clock: Clock, { mayHaveMade, keysOf, onRefusal }: CacheOptions = {}) {
    this.#client = client
    this.#clock = clock
    this.#mayHaveMade = mayHaveMade ?? (() => true)
    this.#keysOf = keysOf ?? (() => () => [])
    this.#onRefusal = onRefusal ?? (() => undefined)
  }

  /** Complete lists and their pages since the start. */
  get stats(): { readonly lists: number; readonly pages: number } {
    return { lists: this.#lists, pages: this.#pages }
  }

  /**
   * Resolves when a complete list that satisfies `since` has arrived. Callers share the list in flight if it satisfies
   * `since` and its priority is at least theirs. With a `since` in the future, the call waits until then.
   *
   * @returns whether this call started the list.
   * @throws ApiError when the list fails; the cache keeps what it held. UnlistableError when it is refused, and without
   *   a call if the last one was.
   */
  async ensureListed(collection: Collection, options: ListOptions = {}): Promise<boolean> {
    const shelf = this.#shelf(collection)
    const { since = Number.NEGATIVE_INFINITY, priority = 'edit' } = options
    const early = since - this.#clock.monotonic()
    if (early > 0) await sleep(this.#clock, early)
    const { listedAt } = shelf.cache
    if (listedAt !== undefined && listedAt >= since) return false
    this.#refuseClosed(collection)
    const { flight } = shelf
    // An edit that joined a list of drift priority would wait behind all other edits.
    const joins =
      flight !== undefined &&
      flight.startedAt >= since &&
      PRIORITIES.indexOf(flight.priority) <= PRIORITIES.indexOf(priority)
    try {
      await (joins ? flight : this.#beginList(shelf, priority)).done
    } catch (error) {
      if (!isListRefusal(error)) throw error
      this.#onRefusal()
      throw this.#refusals.of(collection) ?? new UnlistableError(collection, error, error)
    }
    return !joins
  }

  /** Lists the collection once, now, as a resync does, also if its last list was refused. */
  refresh(collection: Collection, priority: Priority = 'drift'): Promise<void> {
    const shelf = this.#shelf(collection)
    return this.#beginList(shelf, priority).done
  }

  /** Why the collection is closed; undefined unless its last list was refused. */
  refusalOf(collection: Collection): UnlistableError | undefined {
    return this.#refusals.of(collection)
  }

  /** Why each closed collection is. */
  refusals(): readonly UnlistableError[] {
    return this.#refusals.all()
  }

  isListed(collection: Collection): boolean {
    return this.#shelf(collection).cache.listedAt !== undefined
  }

  /**
   * What is known of an object. Undefined when it is unknown or known to be absent, which is the same once the
   * collection has been listed.
   */
  get(collection: Collection, id: string): Known | undefined {
    return this.#shelf(collection).cache.get(id)
  }

  /** Whether the server has shown an object with that id, in any collection, and not since shown it to be gone. */
  shows(id: string): boolean {
    return [...this.#shelves.values()].some(({ cache }) => cache.get(id)?.object !== undefined)
  }

  /** The objects present that have a key, one of those that `keysOf` returned for them. */
  find(collection: Collection, key: string): readonly RemoteObject[] {
    return this.#shelf(collection).cache.find(key)
  }

  /**
   * Every object present, as the server last said. It is a walk of all objects: a reconcile of one resource uses
   * `find`. Do not keep the array: a change makes a new one.
   */
  all(collection: Collection): readonly RemoteObject[] {
    return this.#shelf(collection).cache.all()
  }

  /** Whether we have deleted the object with a DELETE that succeeded; lists add nothing to that. */
  isDeleted(collection: Collection, id: string): boolean {
    return this.#shelf(collection).cache.isDeleted(id)
  }

  /** Whether we have deleted the object since the last list of `listed` began, which shows what that took with it. */
  isDeletedSinceList(collection: Collection, id: string, listed: Collection): boolean {
    return this.#shelf(collection).cache.isDeleted(id, this.#shelf(listed).cache.listedAt)
  }

  /**
   * When the complete lists began, in an unbroken row up to the last one, that did not hold the object; all began after
   * the last 404 for it. Asking for an object that nothing is known of makes the cache expect it from now on.
   */
  missesOf(collection: Collection, id: string): readonly number[] {
    return this.#shelf(collection).cache.missesOf(id)
  }

  /**
   * A live GET. Undefined for a 404, after which the object, if it is known, stays a suspect (`missed`) until lists
   * settle it.
   */
  async fetch(collection: Collection, id: string, options?: CallOptions): Promise<RemoteObject | undefined> {
    this.#refuseClosed(collection)
    const { cache } = this.#shelf(collection)
    for (let attempt = 1; ; attempt++) {
      const beganAt = this.#clock.monotonic()
      const object = await this.#client.get(collection, id, options)
      const isNews = cache.fetched(id, object, beganAt, this.#clock.monotonic())
      if (isNews) return object && cache.get(id)?.object
      // A write or list that ended meanwhile overtook this answer, which may be the older one.
      if (attempt >= FETCH_ATTEMPTS) return cache.get(id)?.object
    }
  }

  /**
   * Returns the whole answer, but does not cache fields that the API returns only once.
   *
   * @throws ApiError those of the client, and InvalidResponse for an answer about an object that is not new or cannot
   * be the one created: if a connection delivers one answer twice, the second is taken for the answer to the next
   * request. The outcome of this request is then unknown.
   */
  async create(collection: Collection, body: RequestBody, options: CallOptions = {}): Promise<RemoteObject> {
    this.#refuseClosed(collection)
    const { cache, creating } = this.#shelf(collection)
    const creation = this.#client.create(collection, body, options).then((object) => {
      if (this.#isAnswered(object.id) || !this.#mayHaveMade(body, object)) {
        throw invalid(`POST ${collection.path}`, `the answer describes ${object.id}, which another request created`)
      }
      cache.wrote(object.id, withoutOneTimeFields(collection, object), this.#clock.monotonic())
      return object
    })
    const settled = creation.then(ignore, ignore)
    creating.add(settled)
    try {
      return await creation
    } finally {
      creating.delete(settled)
    }
  }

  async update(collection: Collection, id: string, body: RequestBody, options?: CallOptions): Promise<RemoteObject> {
    this.#refuseClosed(collection)
    const shelf = this.#shelf(collection)
    return await this.#writing(shelf, id, async () => {
      const object = await this.#client.update(collection, id, body, options)
      shelf.cache.wrote(id, object, this.#clock.monotonic())
      return object
    })
  }

  /** 'absent' is a suspicion, as is a GET that is answered 404. */
  async delete(collection: Collection, id: string, options?: CallOptions): Promise<'deleted' | 'absent'> {
    this.#refuseClosed(collection)
    const shelf = this.#shelf(collection)
    return await this.#writing(shelf, id, async () => {
      const result = await this.#client.delete(collection, id, options)
      if (result === 'absent') {
        shelf.cache.missed(id, this.#clock.monotonic())
        return result
      }
      shelf.cache.wrote(id, undefined, this.#clock.monotonic())
      return result
    })
  }

  /** The returned function ends the subscription. The first list of a collection reports every object as appeared. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back with each key, of those that `keysOf` returns, that an object had and has no longer. */
  subscribeLostKeys(listener: (key: string) => void): void {
    this.#keyListeners.add(listener)
  }

  async #writing<T>(shelf: Shelf, id: string, write: () => Promise<T>): Promise<T> {
    shelf.writing.set(id, (shelf.writing.get(id) ?? 0) + 1)
    try {
      return await write()
    } catch (error) {
      const endedAt = this.#clock.monotonic()
      if (error instanceof ApiError && error.code === 'NotFound') shelf.cache.missed(id, endedAt)
      else if (!isDefinite(error)) shelf.cache.wroteUnknown(id, endedAt)
      throw error
    } finally {
      const others = (shelf.writing.get(id) ?? 1) - 1
      if (others === 0) shelf.writing.delete(id)
      else shelf.writing.set(id, others)
    }
  }

  #beginList(shelf: Shelf, priority: Priority): ListFlight {
    const startedAt = this.#clock.monotonic()
    const done = this.#list(shelf, priority, startedAt).finally(() => {
      if (shelf.flight === flight) shelf.flight = undefined
    })
    const flight: ListFlight = { priority, startedAt, done }
    shelf.flight = flight
    return flight
  }

  async #list(shelf: Shelf, priority: Priority, startedAt: number): Promise<void> {
    const list = await this.#completeList(shelf, priority, startedAt)
    // Before the differences are told: what vanished from a collection that opens is known to be gone.
    this.#refusals.listed(shelf.collection, list.beganAt)
    this.#lists++
    this.#pages += list.pages
    // Ids that we are writing to are no news: the answer to the write says more than a list that overlapped it.
    const differences = shelf.cache.listed(list).filter(({ id }) => !shelf.writing.has(id))
    const [appeared, others] = [differences.filter(isAppeared), differences.filter((one) => !isAppeared(one))]
    this.#notify(shelf, others)
    if (shelf.creating.size === 0) {
      this.#notify(shelf, appeared)
      return
    }
    // One of these may be what we are creating, and only the answer to the create says which. None of the promises
    // rejects.
    void Promise.all(shelf.creating).then(() => {
      this.#notify(
        shelf,
        appeared.filter(({ id }) => !shelf.cache.wroteSince(id, list.beganAt)),
      )
    })
  }

  async #completeList({ cache, collection }: Shelf, priority: Priority, startedAt: number): Promise<CompleteList> {
    try {
      return await this.#client.list(collection, { priority })
    } catch (error) {
      // Another list, which was complete, may have begun meanwhile.
      const isOvertaken = cache.listedAt !== undefined && cache.listedAt > startedAt
      if (isListRefusal(error) && !isOvertaken) this.#refusals.refused(collection, error, startedAt)
      throw error
    }
  }

  /** @throws UnlistableError for a closed collection */
  #refuseClosed(collection: Collection): void {
    const refusal = this.#refusals.of(collection)
    if (refusal !== undefined) throw refusal
  }

  #notify(shelf: Shelf, differences: readonly CacheDifference[]): void {
    const { collection } = shelf
    for (const difference of differences) {
      for (const listener of this.#listeners) listener({ ...difference, collection })
    }
  }

  /** Of any collection, since a repeated answer may be that to a request for another one. */
  #isAnswered(id: string): boolean {
    return [...this.#shelves.values()].some(({ cache }) => cache.isAnswered(id))
  }

  #shelf(collection: Collection): Shelf {
    const known = this.#shelves.get(collection.path)
    if (known !== undefined) return known
    const shelf: Shelf = {
      collection,
      cache: new CollectionCache(this.#keysOf(collection), (key) => {
        for (const listener of this.#keyListeners) listener(key)
      }),
      writing: new Map(),
      creating: new Set(),
      flight: undefined,
    }
    this.#shelves.set(collection.path, shelf)
    return shelf
  }
}

/** If kept, a token would stay in memory, and the next list, where it is null, would seem to show a change. */
function withoutOneTimeFields(collection: Collection, object: RemoteObject): RemoteObject {
  const fields = collection.oneTimeFields ?? []
  if (fields.length === 0) return object
  return { ...object, ...Object.fromEntries(fields.map((field) => [field, null])) }
}

function isAppeared(difference: CacheDifference): boolean {
  return difference.type === 'appeared'
}

function ignore(): void {
  // The caller of the create handles its failure; whoever waits here only needs to know that it ended.
}
