import type { KubeObject, ObjectKey } from '../kube/types.ts'
import { Multimap } from '../util/multimap.ts'

/** Values under which an index finds an object; an empty list leaves it out. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[]

/** The objects of one type as last seen, read-only. */
export interface Store<T extends KubeObject> {
  readonly size: number
  get(key: ObjectKey): T | undefined
  /** In no particular order. */
  list(): T[]
  /** The objects that the index `name` holds under `value`. Throws a `RangeError` for an unknown index. */
  byIndex(name: string, value: string): readonly T[]
}

/**
 * `namespace/name`, or only `name` for cluster-scoped objects: unique within a type, as neither may contain a slash.
 */
export function keyString(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>
  /** Value → keys. */
  readonly keys: Multimap
}

/** A map by key, with secondary indexes that follow every change. */
export class MapStore<T extends KubeObject> implements Store<T> {
  readonly #objects = new Map<string, T>()
  readonly #indexes = new Map<string, Index<T>>()

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyString(key))
  }

  list(): T[] {
    return [...this.#objects.values()]
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new RangeError(`there is no index ${name}`)
    const found: T[] = []
    for (const key of index.keys.get(value)) {
      const object = this.#objects.get(key)
      if (object !== undefined) found.push(object)
    }
    return found
  }

  /** Adds an index, which includes objects already in the store. Throws a `RangeError` when the name is taken. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new RangeError(`the index ${name} already exists`)
    const index: Index<T> = { valuesOf, keys: new Multimap() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) refile(index, key, undefined, object)
  }

  set(object: T): void {
    const key = keyString(object.metadata)
    const previous = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) refile(index, key, previous, object)
  }

  delete(key: ObjectKey): void {
    const text = keyString(key)
    const previous = this.#objects.get(text)
    if (previous === undefined) return
    this.#objects.delete(text)
    for (const index of this.#indexes.values()) refile(index, text, previous, undefined)
  }
}

/** Indexes the object of that key under its values instead of those of `previous`; most changes change none. */
function refile<T extends KubeObject>(
  { valuesOf, keys }: Index<T>,
  key: string,
  previous: T | undefined,
  object: T | undefined,
): void {
  const before = previous === undefined ? NONE : valuesOf(previous)
  const after = object === undefined ? NONE : valuesOf(object)
  for (const value of before) if (!after.includes(value)) keys.delete(value, key)
  for (const value of after) keys.add(value, key)
}

const NONE: readonly never[] = []
