import { Multimap } from '../util/multimap.ts'
import type { RemoteObject } from './types.ts'

/** Keys under which an object is found. Objects are never changed in place, so equal objects have equal keys. */
export type ObjectKeys = (object: RemoteObject) => readonly string[]

/** Finds objects by their keys in constant time, however many there are. */
export class ObjectIndex {
  readonly #keysOf: ObjectKeys
  readonly #onLost: (key: string) => void
  /** Key to ids. */
  readonly #ids = new Multimap()

  /** @param onLost called with each key that an object had and has no longer */
  constructor(keysOf: ObjectKeys, onLost: (key: string) => void) {
    this.#keysOf = keysOf
    this.#onLost = onLost
  }

  /** The object with the id of both has changed; undefined: it does not exist. */
  replace(before: RemoteObject | undefined, after: RemoteObject | undefined): void {
    if (before === after) return
    const keys = after === undefined ? [] : this.#keysOf(after)
    const former = before === undefined ? [] : this.#keysOf(before)
    if (before !== undefined) for (const key of former) this.#ids.delete(key, before.id)
    if (after !== undefined) for (const key of keys) this.#ids.add(key, after.id)
    for (const key of former) if (!keys.includes(key)) this.#onLost(key)
  }

  /** Ids of the objects with that key, in no particular order. */
  idsOf(key: string): readonly string[] {
    return [...this.#ids.get(key)]
  }
}
