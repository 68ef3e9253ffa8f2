import type { KubeObject } from '../../kube/types.ts'
import { nameOf, type ResourceName } from '../cr.ts'

/** Distinguishes watch events caused by our own writes from changes by other clients, which need a reconcile. */
export class OwnWrites {
  #recording = false
  /** UIDs with a write of ours in flight, each with the versions that watches have delivered meanwhile. */
  readonly #inFlight = new Map<string, Set<string>>()
  #onChangedByOthers: (name: ResourceName) => void = () => undefined

  /** True while one of our own writes is being recorded: the resulting event needs no reconcile of the same object. */
  get recording(): boolean {
    return this.#recording
  }

  /** Runs `put`, which records one of our own writes. */
  recordedBy(put: () => void): void {
    this.#recording = true
    try {
      put()
    } finally {
      this.#recording = false
    }
  }

  /** Sends a write to `object` by `send`, and has its response recorded by `record`. */
  async inFlight<T extends KubeObject>(
    object: KubeObject,
    send: () => Promise<T>,
    record: (written: T) => void,
  ): Promise<T> {
    const { uid } = object.metadata
    const shown = new Set<string>()
    this.#inFlight.set(uid, shown)
    try {
      const written = await send()
      shown.delete(written.metadata.resourceVersion)
      record(written)
      return written
    } finally {
      this.#inFlight.delete(uid)
      if (shown.size > 0) this.#onChangedByOthers(nameOf(object))
    }
  }

  /**
   * Whether a version delivered by a watch may be the result of our own write in flight. The response settles that;
   * versions that turn out not to be ours are passed to `onChangedByOthers`.
   */
  mayBeOurs({ metadata }: KubeObject): boolean {
    const shown = this.#inFlight.get(metadata.uid)
    shown?.add(metadata.resourceVersion)
    return shown !== undefined
  }

  /** Sets the listener for changes by other clients that arrived while a write of ours was in flight. */
  onChangedByOthers(listener: (name: ResourceName) => void): void {
    this.#onChangedByOthers = listener
  }
}
