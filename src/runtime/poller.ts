import { KubeError } from '../kube/kube-error.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { type ObjectSource, ReplicaSource } from './object-source.ts'
import { keyString } from './store.ts'

/** Objects read at a time in a round that a caller waits for. */
const AWAITED_AT_A_TIME = 8

export interface PollerOptions {
  readonly client: Pick<KubeClient, 'get'>
  readonly type: ResourceType
  /** The objects to read, determined in each round. */
  readonly names: () => Iterable<ObjectKey>
  /** The first round begins when this resolves: before that, `names` is incomplete. */
  readonly ready: Promise<unknown>
  /** Time between two rounds, in milliseconds, ± 10%. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/**
 * Keeps a local copy of the named objects, with one GET for each in each round, for when the type may be neither listed
 * nor watched. Objects that are no longer named are dropped.
 */
export class Poller<T extends KubeObject> extends ReplicaSource<T> implements ObjectSource<T> {
  readonly synced: Promise<void>
  readonly #options: PollerOptions
  readonly #sync = Promise.withResolvers<void>()
  /** Monotonic time when the last finished round began. */
  #polledAt = Number.NEGATIVE_INFINITY
  /** Callers that wait for a round that begins at a given time or later. */
  #waiting: readonly { readonly since: number; readonly resolve: () => void }[] = []
  /** Ends the pause in progress. */
  #pause = new AbortController()

  constructor(options: PollerOptions) {
    super(options.logger)
    this.#options = options
    this.synced = this.#sync.promise
    this.synced.catch(() => undefined)
  }

  /**
   * Records the metadata of an object as our own write left it: an object created and deleted between two rounds would
   * otherwise never be seen.
   */
  note({ apiVersion, kind, metadata }: KubeObject): void {
    this.replica.put(undefined, { apiVersion, kind, metadata } as T)
  }

  async start(signal: AbortSignal): Promise<void> {
    const { ready, clock, random, intervalMs } = this.#options
    try {
      await ready
      while (!signal.aborted) {
        this.#pause = new AbortController()
        const began = clock.monotonic()
        await this.#round(signal)
        if (signal.aborted) break
        this.#recordRound(began)
        this.#sync.resolve()
        const pause = AbortSignal.any([signal, this.#pause.signal])
        await sleep(clock, jitter(random, intervalMs, 0.1), pause).catch((error: unknown) => {
          if (signal.aborted) throw error
        })
      }
    } catch (error) {
      this.#sync.reject(error)
      if (!signal.aborted) throw error
    }
    this.#sync.reject(signal.reason)
  }

  async refresh(since: number): Promise<boolean> {
    if (this.#polledAt >= since) return false
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting = [...this.#waiting, { since, resolve }]
    this.#pause.abort()
    await promise
    return true
  }

  #recordRound(began: number): void {
    this.#polledAt = began
    for (const { since, resolve } of this.#waiting) if (since <= began) resolve()
    this.#waiting = this.#waiting.filter(({ since }) => since > began)
  }

  /** One object at a time, slowly enough to delay no one else; a few at a time while a caller waits for the round. */
  async #round(signal: AbortSignal): Promise<void> {
    const named = new Map([...this.#options.names()].map((key) => [keyString(key), key]))
    for (const stored of this.store.list()) {
      if (!named.has(keyString(stored.metadata))) this.replica.remove(undefined, stored)
    }
    const left = named.values()
    const work = async (): Promise<void> => {
      for (const key of left) {
        if (signal.aborted) return
        await this.#check(key, signal)
      }
    }
    await Promise.all(Array.from({ length: this.#waiting.length > 0 ? AWAITED_AT_A_TIME : 1 }, work))
  }

  async #check(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { client, type, logger } = this.#options
    try {
      const before = this.store.get(key)
      const object = await client.get<T>(type, key, signal)
      const stored = this.store.get(key)
      if (object !== undefined) this.replica.take(object, before)
      else if (stored !== undefined) this.replica.remove(undefined, stored)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof KubeError)) throw error
      // As far as is known, the object has not changed.
      logger.warn({ resource: type.plural, key: keyString(key), err: error }, 'an object could not be read')
    }
  }
}
