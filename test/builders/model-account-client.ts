import type { ClosableApiClient } from '../../src/api/client.ts'
import { ApiError } from '../../src/api/errors.ts'
import type { Collection, CompleteList, RemoteObject, RequestBody } from '../../src/api/types.ts'
import { type Clock, sleep } from '../../src/util/clock.ts'
import type { ModelAccount, SentWrite } from './model-account.ts'
import type { ModelProcess } from './model-process.ts'

/**
 * A fault of a write to the API:
 * - `lost`: it takes effect, but the answer is lost
 * - `late`: the connection is reset at once, and the write takes effect as late as possible
 * - `unsent`: the connection is reset before anything arrived
 * - `broken`: the server fails before it did anything, with an answer that leaves this open
 * - `limited`, `refused`: definitely not carried out
 * - `doubled`: an intermediary sends it twice
 */
export type ApiFault = 'lost' | 'late' | 'unsent' | 'broken' | 'limited' | 'refused' | 'doubled'

export interface ModelAccountClientOptions {
  /** The account that the key opens; undefined while the API refuses the key. */
  readonly account: () => ModelAccount | undefined
  readonly process: ModelProcess
  readonly clock: Clock
  /** A write takes effect within this time after it was sent, or never. Milliseconds. */
  readonly requestTimeoutMs: number
  readonly nextFault: () => ApiFault | undefined
  /** Called for each GET that is sent, as `ip_policies` or `ip_policies/id`. */
  readonly onRead: (path: string) => void
  /** Called for each write when it is sent. */
  readonly onWrite: (write: SentWrite) => void
}

/** One process's client of the model of an account. */
export class ModelAccountClient implements ClosableApiClient {
  readonly #options: ModelAccountClientOptions

  constructor(options: ModelAccountClientOptions) {
    this.#options = options
  }

  async get({ path }: Collection, id: string): Promise<RemoteObject | undefined> {
    this.#options.onRead(`${path}/${id}`)
    return await this.#options.process.call(2, 1, () => this.#account.get(path, id))
  }

  async list({ path }: Collection): Promise<CompleteList> {
    this.#options.onRead(path)
    const beganAt = this.#options.clock.monotonic()
    const objects = await this.#options.process.call(2, 1, () => this.#account.list(path))
    return { objects, beganAt, pages: 1, leftOut: 0 }
  }

  async create(collection: Collection, body: RequestBody): Promise<RemoteObject> {
    const effect = (): RemoteObject => this.#account.create(collection.path, body)
    return await this.#write({ method: 'POST', collection, body }, effect)
  }

  async update(collection: Collection, id: string, body: RequestBody): Promise<RemoteObject> {
    const effect = (): RemoteObject => this.#account.update(collection.path, id, body)
    return await this.#write({ method: 'PATCH', collection, body }, effect)
  }

  async delete(collection: Collection, id: string): Promise<'deleted' | 'absent'> {
    const effect = (): 'deleted' | 'absent' => this.#account.delete(collection.path, id)
    return await this.#write({ method: 'DELETE', collection, body: { id } }, effect)
  }

  async command(collection: Collection, id: string): Promise<void> {
    await this.#write({ method: 'POST', collection, body: {} }, () => {
      if (this.#account.get(collection.path, id) !== undefined) return
      throw new ApiError('NotFound', `POST ${collection.path}: there is none`, { definite: true, status: 404 })
    })
  }

  async close(): Promise<void> {
    // There is nothing to close.
  }

  get #account(): ModelAccount {
    const account = this.#options.account()
    if (account !== undefined) return account
    throw new ApiError('Unauthorized', 'the API refuses the key', { definite: true, status: 401 })
  }

  async #write<T>(write: SentWrite, effect: () => T): Promise<T> {
    const { process, clock, requestTimeoutMs, nextFault, onWrite } = this.#options
    const label = `${write.method} ${write.collection.path}`
    // Sent by a dead process: the call below never continues.
    const fault = process.alive ? nextFault() : undefined
    if (process.alive) onWrite(write)
    switch (fault) {
      case undefined:
        return await process.call(2, 2, effect)
      case 'doubled':
        return await process.call(2, 2, () => {
          const answer = effect()
          attempt(effect)
          return answer
        })
      case 'lost':
        await process.call(2, requestTimeoutMs - 2, () => attempt(effect))
        throw new ApiError('Timeout', `${label}: no answer`, { definite: false })
      case 'late':
        clock.setTimer(requestTimeoutMs - 1, () => attempt(effect))
        await sleep(clock, 2)
        throw new ApiError('Network', `${label}: reset`, { definite: false })
      case 'unsent':
        await sleep(clock, 2)
        throw new ApiError('Network', `${label}: reset`, { definite: false })
      case 'broken':
        await process.call(2, 2, () => undefined)
        throw new ApiError('ServerError', `${label}: broken`, { definite: false, status: 500 })
      case 'limited':
        await process.call(2, 2, () => undefined)
        throw new ApiError('RateLimited', `${label}: slow down`, { definite: true, status: 429, retryAfterMs: 100 })
      case 'refused':
        await process.call(2, 2, () => undefined)
        throw new ApiError('Invalid', `${label}: no`, { definite: true, status: 400 })
    }
  }
}

/** Ignores the outcome. */
function attempt(effect: () => unknown): undefined {
  try {
    effect()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
  return undefined
}
