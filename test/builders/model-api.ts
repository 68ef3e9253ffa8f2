import { ApiError } from '../../src/api/errors.ts'
import type { ApiClient, Collection, CompleteList, RemoteObject, RequestBody } from '../../src/api/types.ts'
import { sleep } from '../../src/util/clock.ts'
import type { FakeClock } from './fake-clock.ts'

/** Duration of a call: to the server, between the pages of a list, and back. Milliseconds. */
export interface Delays {
  readonly there: number
  readonly paging?: number
  readonly back: number
}

/**
 * An API in memory behind a slow network, on the test's clock. A call takes effect when it reaches the server, its
 * answer arrives later, so that calls can overtake each other. Each change gives the object a higher `version`.
 */
export class ModelApi implements ApiClient {
  readonly store = new Map<string, RemoteObject>()
  readonly calls: string[] = []
  /** Delays of the next call. */
  delays: Delays = { there: 1, back: 1 }
  /** The next call of this name takes effect and then fails. */
  loseAnswerOf: 'create' | 'update' | 'delete' | undefined
  /** The next call of this name is refused. */
  refuse: 'list' | 'update' | undefined
  /** Every list that begins is answered with this status, by a code of its own. */
  listStatus: number | undefined
  readonly #clock: FakeClock
  /** Number of changes, which is the highest version given. */
  versions = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  /** A change by another client; undefined fields make it a new object. */
  put(id: string, fields: RequestBody = {}): RemoteObject {
    const object = { ...this.store.get(id), ...fields, id, version: ++this.versions }
    this.store.set(id, object)
    return object
  }

  async get(collection: Collection, id: string): Promise<RemoteObject | undefined> {
    return await this.#call(`get ${collection.path}/${id}`, () => this.store.get(id))
  }

  async list(collection: Collection): Promise<CompleteList> {
    this.calls.push(`list ${collection.path}`)
    const { there, paging = 0, back } = this.delays
    const refused = this.refuse === 'list'
    if (refused) this.refuse = undefined
    const { listStatus: status } = this
    const beganAt = this.#clock.monotonic()
    await sleep(this.#clock, there)
    if (status !== undefined) {
      const code = status === 401 ? 'Unauthorized' : status === 403 ? 'Forbidden' : 'ServerError'
      await sleep(this.#clock, back)
      throw new ApiError(code, `GET ${collection.path}: ${status}`, { definite: status < 500, status })
    }
    if (refused) throw new ApiError('ServerError', 'GET: broken', { definite: false })
    // Two pages, read at different times: the first half of the ids, then the rest.
    const ids = [...this.store.keys()].sort((a, b) => (a < b ? -1 : 1))
    const middle = ids[Math.floor(ids.length / 2)] ?? ''
    const first = [...this.store.values()].filter((object) => object.id < middle)
    await sleep(this.#clock, paging)
    const second = [...this.store.values()].filter((object) => object.id >= middle)
    await sleep(this.#clock, back)
    return { objects: structuredClone([...first, ...second]), beganAt, pages: 2, leftOut: 0 }
  }

  async create(collection: Collection, body: RequestBody): Promise<RemoteObject> {
    const { id } = body
    if (typeof id !== 'string') throw new Error('the model takes the id from the body')
    return await this.#call(`create ${collection.path}/${id}`, () => this.put(id, body), 'create')
  }

  async update(collection: Collection, id: string, body: RequestBody): Promise<RemoteObject> {
    const refused = this.refuse === 'update'
    if (refused) this.refuse = undefined
    const change = (): RemoteObject => {
      if (refused) throw new ApiError('Invalid', 'PATCH: no', { definite: true, status: 400 })
      if (!this.store.has(id)) throw new ApiError('NotFound', 'PATCH: none', { definite: true, status: 404 })
      return this.put(id, body)
    }
    return await this.#call(`update ${collection.path}/${id}`, change, 'update')
  }

  async delete(collection: Collection, id: string): Promise<'deleted' | 'absent'> {
    const remove = (): 'deleted' | 'absent' => (this.store.delete(id) ? 'deleted' : 'absent')
    return await this.#call(`delete ${collection.path}/${id}`, remove, 'delete')
  }

  async #call<T>(label: string, effect: () => T, name?: 'create' | 'update' | 'delete'): Promise<T> {
    this.calls.push(label)
    const { there, back } = this.delays
    const lost = name !== undefined && this.loseAnswerOf === name
    if (lost) this.loseAnswerOf = undefined
    await sleep(this.#clock, there)
    const answer = structuredClone(effect())
    await sleep(this.#clock, back)
    if (lost) throw new ApiError('Timeout', `${label}: no answer`, { definite: false })
    return answer
  }
}
