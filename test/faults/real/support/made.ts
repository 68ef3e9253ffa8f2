import type { World } from '../../../cluster/support/world.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'

/** Applies CRs, and counts the objects that should be created for them over their lives. */
export class Made {
  readonly #world: World
  readonly #counts = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** Applies a CR that does not exist yet: an object will be created for it. */
  async apply({ kind, name, spec }: Manifest): Promise<void> {
    this.another(kind)
    await this.#world.apply(kind, name, spec)
  }

  /** Counts one more object of the kind. */
  another(kind: string): void {
    this.#counts.set(kind, this.of(kind) + 1)
  }

  /** The number of objects of the kind that should have been created. */
  of(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }
}
