import type { KeptObjects, RemoteObject } from './types.ts'

/** What a list has shown so far. An object that moves to a later page while we read counts once, as last shown. */
export interface Gathered {
  add(object: RemoteObject): void
  /** Objects shown so far. */
  readonly size: number
  /** The objects kept, at the end of the list. */
  objects(): readonly RemoteObject[]
}

/** Keeps every object. */
export class GatheredAll implements Gathered {
  readonly #objects = new Map<string, RemoteObject>()

  add(object: RemoteObject): void {
    this.#objects.set(object.id, object)
  }

  get size(): number {
    return this.#objects.size
  }

  objects(): readonly RemoteObject[] {
    return [...this.#objects.values()]
  }
}

/**
 * Keeps a limited number of objects: preferred ones first, then those with the lowest ids. The order of the list does
 * not matter, and of the other objects only the ids stay in memory.
 */
export class GatheredMost implements Gathered {
  readonly #most: KeptObjects
  readonly #ids = new Set<string>()
  readonly #preferred = new Map<string, RemoteObject>()
  readonly #others = new Map<string, RemoteObject>()

  constructor(most: KeptObjects) {
    this.#most = most
  }

  add(object: RemoteObject): void {
    this.#ids.add(object.id)
    const group = this.#most.prefers(object.id) ? this.#preferred : this.#others
    group.set(object.id, object)
    // Dropping half each time keeps the cost of sorting per object low.
    if (group.size > 2 * this.#most.limit) this.#cut(group)
  }

  get size(): number {
    return this.#ids.size
  }

  objects(): readonly RemoteObject[] {
    return [...inOrder(this.#preferred), ...inOrder(this.#others)].slice(0, this.#most.limit)
  }

  #cut(group: Map<string, RemoteObject>): void {
    for (const { id } of inOrder(group).slice(this.#most.limit)) group.delete(id)
  }
}

function inOrder(group: ReadonlyMap<string, RemoteObject>): readonly RemoteObject[] {
  return [...group.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
}
