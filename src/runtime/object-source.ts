import type { KubeObject } from '../kube/types.ts'
import type { ObjectHandler } from './replica.ts'
import type { IndexFunction, Store } from './store.ts'

/** A local copy of objects of one type, however it is kept up to date. */
export interface ObjectSource<T extends KubeObject> {
  readonly store: Store<T>
  /** Resolves once everything was seen; rejects with the signal's reason when stopped before. */
  readonly synced: Promise<void>
  /** Files every object under the values that `valuesOf` gives; read with `store.byIndex`. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void
  /** Tells `handler` of what is there already as added, then of every change. Returns the way to end that. */
  subscribe(handler: ObjectHandler<T>): () => void
  /**
   * Asks for everything anew, unless a complete look at it began at `since` (monotonic milliseconds) or later. Resolves when such a look
   * is over, however often it has to be tried; whether it had to be made. Does not resolve when stopped before.
   */
  refresh(since: number): Promise<boolean>
  /** Runs until `signal` is aborted, then resolves. */
  start(signal: AbortSignal): Promise<void>
}
