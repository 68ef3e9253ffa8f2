import type { KubeObject, ObjectKey } from '../kube/types.ts'

/** Values under which an index finds an object; an empty list leaves it out. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[]

/** The objects of one type as last seen, read-only. */
export interface Store<T extends KubeObject> {
  readonly size: number
  get(key: ObjectKey): T | undefined
  /** In no particular order. */
  list(): T[]
  /** The objects that the index `name` holds under `value`. Throws a `RangeError` for an unknown index. */
  byIndex(name: string, value: string): T[]
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
  readonly entries: Map<string, Set<string>>
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

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new RangeError(`there is no index ${name}`)
    return [...(index.entries.get(value) ?? [])].flatMap((key) => this.#objects.get(key) ?? [])
  }

  /** Adds an index, which includes objects already in the store. Throws a `RangeError` when the name is taken. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new RangeError(`the index ${name} already exists`)
    const index: Index<T> = { valuesOf, entries: new Map() }
    this.#indexes.set(name, index)
    for (const object of this.#objects.values()) file(index, object)
  }

  set(object: T): void {
    const key = keyString(object.metadata)
    const previous = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      if (previous !== undefined) unfile(index, previous)
      file(index, object)
    }
  }

  delete(key: ObjectKey): void {
    const previous = this.get(key)
    if (previous === undefined) return
    this.#objects.delete(keyString(key))
    for (const index of this.#indexes.values()) unfile(index, previous)
  }
}

function file<T extends KubeObject>(index: Index<T>, object: T): void {
  const key = keyString(object.metadata)
  for (const value of index.valuesOf(object)) {
    const keys = index.entries.get(value)
    if (keys === undefined) index.entries.set(value, new Set([key]))
    else keys.add(key)
  }
}

function unfile<T extends KubeObject>(index: Index<T>, object: T): void {
  const key = keyString(object.metadata)
  for (const value of index.valuesOf(object)) {
    const keys = index.entries.get(value)
    keys?.delete(key)
    if (keys?.size === 0) index.entries.delete(value)
  }
}
