import type { RemoteObject } from './types.ts'

/** Keys under which an object is found. Objects are never changed in place, so equal objects have equal keys. */
export type ObjectKeys = (object: RemoteObject) => readonly string[]

/** Finds objects by their keys in constant time, however many there are. */
export class ObjectIndex {
  readonly #keysOf: ObjectKeys
  readonly #onLost: (key: string) => void
  /** Key to id, or to ids if there are several: most keys are those of one object. */
  readonly #ids = new Map<string, string | Set<string>>()

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
    if (before !== undefined) for (const key of former) this.#remove(key, before.id)
    if (after !== undefined) for (const key of keys) this.#add(key, after.id)
    for (const key of former) if (!keys.includes(key)) this.#onLost(key)
  }

  /** Ids of the objects with that key, in no particular order. */
  idsOf(key: string): readonly string[] {
    const ids = this.#ids.get(key)
    if (ids === undefined) return []
    return typeof ids === 'string' ? [ids] : [...ids]
  }

  #add(key: string, id: string): void {
    const ids = this.#ids.get(key)
    if (ids === undefined || ids === id) this.#ids.set(key, id)
    else if (typeof ids === 'string') this.#ids.set(key, new Set([ids, id]))
    else ids.add(id)
  }

  #remove(key: string, id: string): void {
    const ids = this.#ids.get(key)
    if (ids === id) this.#ids.delete(key)
    if (!(ids instanceof Set)) return
    ids.delete(id)
    if (ids.size === 0) this.#ids.delete(key)
  }
}
