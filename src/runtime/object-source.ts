import type { KubeObject } from '../kube/types.ts'
import type { Logger } from '../util/logger.ts'
import { type ObjectHandler, Replica } from './replica.ts'
import type { IndexFunction, Store } from './store.ts'

/** A local copy of objects of one type, however it is kept up to date. */
export interface ObjectSource<T extends KubeObject> {
  readonly store: Store<T>
  /** Resolves once everything was read; rejects with the signal's reason when stopped before. */
  readonly synced: Promise<void>
  /** Indexes every object under the values that `valuesOf` returns; read with `store.byIndex`. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void
  /** Calls `handler` for existing objects as added, then for every change. Returns the function to unsubscribe. */
  subscribe(handler: ObjectHandler<T>): () => void
  /** Calls `handler` for every change from now on. Returns the function to unsubscribe. */
  onChange(handler: ObjectHandler<T>): () => void
  /**
   * Reads everything again, unless a complete read began at `since` (monotonic milliseconds) or later. Resolves when
   * such a read is complete, however many attempts that takes; does not resolve when stopped before.
   *
   * @returns whether a read had to be made.
   */
  refresh(since: number): Promise<boolean>
  /** Runs until `signal` is aborted, then resolves. */
  start(signal: AbortSignal): Promise<void>
}

/** A local copy that also takes the responses to our own writes. */
export interface RecordedSource<T extends KubeObject> extends ObjectSource<T> {
  /** Puts the response of our own write into the store at once, so that no reconcile acts on the state before it. */
  record(object: T): void
  /**
   * Puts what a read of this one object returned into the store, even if it is an older state: etcd may have been
   * restored. `before` is what was stored when the read began; if something else is stored by now, the newer one stays.
   */
  take(object: T, before: T | undefined): void
}

/** The part of a source that does not depend on how it is kept up to date. */
export abstract class ReplicaSource<T extends KubeObject> {
  readonly store: Store<T>
  protected readonly replica: Replica<T>

  constructor(logger: Logger) {
    this.replica = new Replica<T>(logger)
    this.store = this.replica.store
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.replica.addIndex(name, valuesOf)
  }

  subscribe(handler: ObjectHandler<T>): () => void {
    return this.replica.subscribe(handler)
  }

  onChange(handler: ObjectHandler<T>): () => void {
    return this.replica.onChange(handler)
  }
}
