import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { KubeSnapshot } from '../../../builders/model-kube.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'
import type { Role } from './roles.ts'

/** A resource as it stood in the cluster at some moment. */
export interface Export {
  /** Of the specs in its role. */
  readonly version: number
  readonly cr: CustomResource
}

/** What the cluster held before each step of a story: what manifests and backups of then are made of. */
export class Past {
  readonly #world: SimulatedWorld
  readonly #cast: readonly Role[]
  /** By number in the cast, oldest first. */
  readonly #exports = new Map<number, Export[]>()
  /** As far as they are still a part of the history of etcd. */
  readonly #snapshots: KubeSnapshot[] = []

  constructor(world: SimulatedWorld, cast: readonly Role[]) {
    this.#world = world
    this.#cast = cast
  }

  /** Notes how everything stands now. @param wanted versions of those that are to be there, by number in the cast */
  note(wanted: ReadonlyMap<number, number>): void {
    this.#snapshots.push(this.#world.kube.snapshot())
    for (const [who, version] of wanted) {
      const { kind, name } = this.#cast[who] as Role
      const cr = this.#world.get(kind, name)
      if (cr === undefined || cr.metadata.deletionTimestamp !== undefined) continue
      this.#exports.set(who, [...(this.#exports.get(who) ?? []), { version, cr }])
    }
  }

  /** @param back how far: 0 for the newest, 1 for the oldest. Undefined: it was never there. */
  exportOf(who: number, back: number): Export | undefined {
    const all = this.#exports.get(who) ?? []
    return all[Math.floor((1 - back) * (all.length - 1))]
  }

  /** What etcd held so many steps ago; what came after that has never been. */
  goBack(steps: number): KubeSnapshot {
    const at = Math.max(0, this.#snapshots.length - 1 - steps)
    const snapshot = this.#snapshots[at] as KubeSnapshot
    this.#snapshots.length = at
    return snapshot
  }
}
