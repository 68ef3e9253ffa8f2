import type { KubeObject } from '../../kube/types.ts'
import type { RecordedSource } from '../../runtime/object-source.ts'
import { type ObjectHandler, Replica } from '../../runtime/replica.ts'
import type { IndexFunction, Store } from '../../runtime/store.ts'
import type { Logger } from '../../util/logger.ts'

/** The local copy of one type of a `DryCluster`: always complete, and changed by the cluster itself. */
export class MemorySource<T extends KubeObject> implements RecordedSource<T> {
  readonly synced: Promise<void> = Promise.resolve()
  readonly #replica: Replica<T>

  constructor(logger: Logger) {
    this.#replica = new Replica<T>(logger)
  }

  get store(): Store<T> {
    return this.#replica.store
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#replica.addIndex(name, valuesOf)
  }

  subscribe(handler: ObjectHandler<T>): () => void {
    return this.#replica.subscribe(handler)
  }

  onChange(handler: ObjectHandler<T>): () => void {
    return this.#replica.onChange(handler)
  }

  record(object: T): void {
    this.#replica.put(undefined, object)
  }

  take(object: T, before: T | undefined): void {
    this.#replica.take(object, before)
  }

  remove(object: T): void {
    this.#replica.remove(undefined, object)
  }

  refresh(): Promise<boolean> {
    return Promise.resolve(false)
  }

  start(): Promise<void> {
    return Promise.resolve()
  }
}
