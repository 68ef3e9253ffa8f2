import type { Manifest } from '../../../builders/specs.ts'
import type { World } from '../../../cluster/support/world.ts'

/** Applies CRs, and counts the objects that are to be made for them and their lives. */
export class Made {
  readonly #world: World
  readonly #counts = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** Applies a CR that is not there yet: an object will be made for it. */
  async apply({ kind, name, spec }: Manifest): Promise<void> {
    this.another(kind)
    await this.#world.apply(kind, name, spec)
  }

  /** One more object of the kind is to be made. */
  another(kind: string): void {
    this.#counts.set(kind, this.of(kind) + 1)
  }

  /** How many objects of the kind there are to have been. */
  of(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }
}
