import type { World } from './world.ts'

/** Counts how often the token of each resource has changed since the first check. */
export class Turns {
  readonly #world: World
  readonly #kinds: readonly string[]
  readonly #known = new Map<string, { readonly id: unknown; readonly count: number }>()

  constructor(world: World, kinds: readonly string[]) {
    this.#world = world
    this.#kinds = kinds
  }

  /** The count of the resource with this name. */
  of(name: string): number {
    return this.#known.get(name)?.count ?? 0
  }

  /** The first check starts the count. */
  async look(): Promise<void> {
    for (const kind of this.#kinds) {
      for (const { metadata, status } of await this.#world.list(kind)) {
        const known = this.#known.get(metadata.name)
        if (known === undefined) this.#known.set(metadata.name, { id: status?.id, count: 0 })
        else if (known.id !== status?.id) this.#known.set(metadata.name, { id: status?.id, count: known.count + 1 })
      }
    }
  }
}
