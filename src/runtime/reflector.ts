import type { KubeObject, ResourceType } from '../kube/types.ts'
import { Follower, type FollowerOptions } from './follower.ts'
import { ReplicaSource } from './object-source.ts'

export interface ReflectorOptions extends FollowerOptions {
  /** Namespaces to watch; absent or empty: all. */
  readonly namespaces?: readonly string[] | undefined
}

/**
 * Keeps a local copy of all objects of one type until its signal is aborted: lists in pages, then watches, and retries
 * after every failure, indefinitely.
 *
 * ```ts
 * const edges = new Reflector<EdgeObject>({ client, type, clock, random, logger })
 * edges.subscribe(({ object }) => controller.enqueue(keyOf(object)))
 * void edges.start(signal)
 * await edges.synced
 * ```
 */
export class Reflector<T extends KubeObject> extends ReplicaSource<T> {
  readonly type: ResourceType
  /** Resolves once every namespace was listed; rejects with the signal's reason when stopped before. */
  readonly synced: Promise<void>
  readonly #options: ReflectorOptions
  readonly #followers: readonly Follower<T>[]
  readonly #sync = Promise.withResolvers<void>()
  readonly #unsynced: Set<string | undefined>
  #started: boolean = false

  constructor(options: ReflectorOptions) {
    super(options.logger)
    this.type = options.type
    this.#options = options
    this.synced = this.#sync.promise
    // Keeps a shutdown from causing an unhandled rejection when nobody waits.
    this.synced.catch(() => undefined)
    const namespaces = options.namespaces ?? []
    this.#unsynced = new Set(namespaces.length === 0 || !options.type.namespaced ? [undefined] : namespaces)
    this.#followers = [...this.#unsynced].map((scope) => {
      return new Follower<T>(options, this.replica, scope, () => this.#markSynced(scope))
    })
  }

  get hasSynced(): boolean {
    return this.#unsynced.size === 0
  }

  /** Puts the response of our own write into the store at once, so that no reconcile acts on the state before it. */
  record(object: T): void {
    const { namespace } = object.metadata
    const scopes = this.#options.namespaces ?? []
    const all = scopes.length === 0 || !this.type.namespaced
    if (!all && (namespace === undefined || !scopes.includes(namespace))) return
    this.replica.record(all ? undefined : namespace, object)
  }

  take(object: T, before: T | undefined): void {
    this.replica.take(object, before)
  }

  /** Runs until `signal` is aborted, then resolves. Throws an `Error` when started twice. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`the reflector of ${this.type.plural} has already been started`)
    this.#started = true
    await Promise.all(this.#followers.map((follower) => follower.run(signal)))
    this.#sync.reject(signal.reason)
  }

  /** As `ObjectSource.refresh`. Never resolves before `start`, or if stopped first. */
  async refresh(since: number): Promise<boolean> {
    return (await Promise.all(this.#followers.map((follower) => follower.refresh(since)))).includes(true)
  }

  #markSynced(scope: string | undefined): void {
    this.#unsynced.delete(scope)
    if (this.#unsynced.size === 0) this.#sync.resolve()
  }
}
