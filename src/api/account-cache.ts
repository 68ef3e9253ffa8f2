import { type Clock, sleep } from '../util/clock.ts'
import { PRIORITIES, type Priority } from '../util/priority.ts'
import { CollectionCache, type Difference, type Known } from './collection-cache.ts'
import { ApiError } from './errors.ts'
import { invalid } from './invalid.ts'
import type { ApiClient, CallOptions, Collection, RemoteObject, RequestBody } from './types.ts'

/** A difference between what the cache held and what a list showed. Our own writes are none. */
export type Change = Difference & { readonly collection: Collection }

/** Called once a list is in, for each difference. It must not throw. */
export type ChangeListener = (change: Change) => void

export interface ListOptions {
  /** The list must have begun at or after this time of the monotonic clock. Default: any complete list will do. */
  readonly since?: number | undefined
  /** Priority of the list, if one has to be begun. Default `edit`. */
  readonly priority?: Priority | undefined
}

export type MayHaveMade = (body: RequestBody, object: RemoteObject) => boolean

interface ListFlight {
  readonly priority: Priority
  readonly startedAt: number
  readonly done: Promise<void>
}

interface Shelf {
  readonly collection: Collection
  readonly cache: CollectionCache
  /** Ids with a write of ours under way, and how many. */
  readonly writing: Map<string, number>
  /** Creates of ours under way, whose ids are not known yet. */
  readonly creating: Set<Promise<unknown>>
  flight: ListFlight | undefined
}

const FETCH_ATTEMPTS = 3

/**
 * What the server last said about one account, collection by collection. Reconcilers read it instead of the API, write
 * through it, and learn from it which objects to look at.
 *
 * Nothing older than our own last answered write is ever shown: a list or GET that began before that answer is not
 * believed for the object.
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
  readonly #shelves = new Map<string, Shelf>()
  readonly #listeners = new Set<ChangeListener>()
  /** Ids of objects that single answers were about, until we delete them. */
  readonly #answered = new Set<string>()
  #lists = 0
  #pages = 0

  /**
   * @param clock the client's own: the two compare times
   * @param mayHaveMade whether a create with this body can have made the object: if not, the answer is another request's
   */
  constructor(client: ApiClient, clock: Clock, mayHaveMade: MayHaveMade = () => true) {
    this.#client = client
    this.#clock = clock
    this.#mayHaveMade = mayHaveMade
  }

  /** Complete lists and their pages since the start. */
  get stats(): { readonly lists: number; readonly pages: number } {
    return { lists: this.#lists, pages: this.#pages }
  }

  /**
   * Resolves when a complete list that satisfies `since` is in. Callers share the list under way when it does and is as
   * urgent as they are. With a `since` in the future it waits until then.
   *
   * @returns whether this call has begun the list.
   * @throws ApiError when the list fails; what was known stays.
   */
  async ensureListed(collection: Collection, options: ListOptions = {}): Promise<boolean> {
    const shelf = this.#shelf(collection)
    const { since = Number.NEGATIVE_INFINITY, priority = 'edit' } = options
    const early = since - this.#clock.monotonic()
    if (early > 0) await sleep(this.#clock, early)
    const { listedAt } = shelf.cache
    if (listedAt !== undefined && listedAt >= since) return false
    const { flight } = shelf
    // An edit that joined a list of the drift priority would wait behind all other edits.
    const joins =
      flight !== undefined &&
      flight.startedAt >= since &&
      PRIORITIES.indexOf(flight.priority) <= PRIORITIES.indexOf(priority)
    await (joins ? flight : this.#beginList(shelf, priority)).done
    return !joins
  }

  /** One list now, as a drift pass makes it. */
  refresh(collection: Collection, priority: Priority = 'drift'): Promise<void> {
    const shelf = this.#shelf(collection)
    return this.#beginList(shelf, priority).done
  }

  isListed(collection: Collection): boolean {
    return this.#shelf(collection).cache.listedAt !== undefined
  }

  /** What is known of an object. Undefined when it is unknown or known to be absent, which are the same once the collection is listed. */
  get(collection: Collection, id: string): Known | undefined {
    return this.#shelf(collection).cache.get(id)
  }

  /** Whether the server has shown an object of that id, in whichever collection, and not taken it back. */
  shows(id: string): boolean {
    return [...this.#shelves.values()].some(({ cache }) => cache.get(id)?.object !== undefined)
  }

  /** Every object present as the server last said. The array is not to be kept: a change makes a new one. */
  all(collection: Collection): readonly RemoteObject[] {
    return this.#shelf(collection).cache.all()
  }

  /** Whether we have deleted the object, by a DELETE that was answered with success: lists have nothing to add. */
  isDeleted(collection: Collection, id: string): boolean {
    return this.#shelf(collection).cache.isDeleted(id)
  }

  /**
   * When complete lists began, in an unbroken row up to the last one, that did not hold the object: all of them later than the last 404
   * for it. Whoever asks for an object that nothing is known of makes it one to look out for.
   */
  missesOf(collection: Collection, id: string): readonly number[] {
    return this.#shelf(collection).cache.missesOf(id)
  }

  /** A live GET. Undefined for a 404, after which the object, if one is known, stays as a suspect (`missed`) until lists tell. */
  async fetch(collection: Collection, id: string, options?: CallOptions): Promise<RemoteObject | undefined> {
    const { cache } = this.#shelf(collection)
    for (let attempt = 1; ; attempt++) {
      const beganAt = this.#clock.monotonic()
      const object = await this.#client.get(collection, id, options)
      if (object !== undefined) this.#answered.add(id)
      const isNews = cache.fetched(id, object, beganAt, this.#clock.monotonic())
      if (isNews) return object && cache.get(id)?.object
      // Overtaken by a write or list that ended meanwhile, this answer may be the older one.
      if (attempt >= FETCH_ATTEMPTS) return cache.get(id)?.object
    }
  }

  /**
   * The answer is returned whole; fields that the API tells only once are not kept here.
   * @throws ApiError InvalidResponse, beside those of the client, for an answer that tells of an object which is not new, or cannot be what
   * was made: where one answer comes twice on a connection, the second is taken for that of the next request. What became of this one is
   * not known then.
   */
  async create(collection: Collection, body: RequestBody, options: CallOptions = {}): Promise<RemoteObject> {
    const { cache, creating } = this.#shelf(collection)
    const creation = this.#client.create(collection, body, options).then((object) => {
      if (this.#answered.has(object.id) || !this.#mayHaveMade(body, object)) {
        throw invalid(`POST ${collection.path}`, `the answer is about ${object.id}, which another request has made`)
      }
      this.#answered.add(object.id)
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
    const shelf = this.#shelf(collection)
    return await this.#writing(shelf, id, async () => {
      const object = await this.#client.update(collection, id, body, options)
      this.#answered.add(id)
      shelf.cache.wrote(id, object, this.#clock.monotonic())
      return object
    })
  }

  /** 'absent' is a suspicion, as a GET that is answered 404 is. */
  async delete(collection: Collection, id: string, options?: CallOptions): Promise<'deleted' | 'absent'> {
    const shelf = this.#shelf(collection)
    return await this.#writing(shelf, id, async () => {
      const result = await this.#client.delete(collection, id, options)
      if (result === 'absent') {
        shelf.cache.missed(id, this.#clock.monotonic())
        return result
      }
      this.#answered.delete(id)
      shelf.cache.wrote(id, undefined, this.#clock.monotonic())
      return result
    })
  }

  /** The returned function ends the subscription. At the first list of a collection every object appears. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #writing<T>(shelf: Shelf, id: string, write: () => Promise<T>): Promise<T> {
    shelf.writing.set(id, (shelf.writing.get(id) ?? 0) + 1)
    try {
      return await write()
    } catch (error) {
      const endedAt = this.#clock.monotonic()
      if (error instanceof ApiError && error.code === 'NotFound') shelf.cache.missed(id, endedAt)
      else if (!(error instanceof ApiError && error.definite)) shelf.cache.wroteUnknown(id, endedAt)
      throw error
    } finally {
      const others = (shelf.writing.get(id) ?? 1) - 1
      if (others === 0) shelf.writing.delete(id)
      else shelf.writing.set(id, others)
    }
  }

  #beginList(shelf: Shelf, priority: Priority): ListFlight {
    const startedAt = this.#clock.monotonic()
    const done = this.#list(shelf, priority).finally(() => {
      if (shelf.flight === flight) shelf.flight = undefined
    })
    const flight: ListFlight = { priority, startedAt, done }
    shelf.flight = flight
    return flight
  }

  async #list(shelf: Shelf, priority: Priority): Promise<void> {
    const list = await this.#client.list(shelf.collection, { priority })
    this.#lists++
    this.#pages += list.pages
    // What we are writing ourselves is no news: the answer to the write will say more than a list that overlapped it.
    const differences = shelf.cache.listed(list).filter(({ id }) => !shelf.writing.has(id))
    const [appeared, others] = [differences.filter(isAppeared), differences.filter((one) => !isAppeared(one))]
    this.#notify(shelf, others)
    if (shelf.creating.size === 0) {
      this.#notify(shelf, appeared)
      return
    }
    // One of these may be what we are creating: the answer to the create tells which. None of the promises rejects.
    void Promise.all(shelf.creating).then(() => {
      this.#notify(
        shelf,
        appeared.filter(({ id }) => !shelf.cache.wroteSince(id, list.beganAt)),
      )
    })
  }

  #notify(shelf: Shelf, differences: readonly Difference[]): void {
    const { collection } = shelf
    for (const difference of differences) {
      for (const listener of this.#listeners) listener({ ...difference, collection })
    }
  }

  #shelf(collection: Collection): Shelf {
    const known = this.#shelves.get(collection.path)
    if (known !== undefined) return known
    const shelf: Shelf = {
      collection,
      cache: new CollectionCache(),
      writing: new Map(),
      creating: new Set(),
      flight: undefined,
    }
    this.#shelves.set(collection.path, shelf)
    return shelf
  }
}

/** Kept, a token would lie in memory for good, and make the next list, where it is null, look like a change. */
function withoutOneTimeFields(collection: Collection, object: RemoteObject): RemoteObject {
  const fields = collection.oneTimeFields ?? []
  if (fields.length === 0) return object
  return { ...object, ...Object.fromEntries(fields.map((field) => [field, null])) }
}

function isAppeared(difference: Difference): boolean {
  return difference.type === 'appeared'
}

function ignore(): void {
  // Whoever created learns of a failure; who waits here only wants to know that it is over.
}
