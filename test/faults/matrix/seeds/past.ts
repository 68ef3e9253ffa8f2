import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { KubeSnapshot } from '../../../builders/model-kube.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'
import type { Role } from './roles.ts'

/** A resource as it was in the cluster at some moment. */
export interface Export {
  /** Index into the specs of its role. */
  readonly version: number
  readonly cr: CustomResource
}

/** The cluster's state before each step of a story, from which old manifests and backups are made. */
export class Past {
  readonly #world: SimulatedWorld
  readonly #cast: readonly Role[]
  /** By index in the cast, oldest first. */
  readonly #exports = new Map<number, Export[]>()
  /** Those that are still part of etcd's history. */
  readonly #snapshots: KubeSnapshot[] = []

  constructor(world: SimulatedWorld, cast: readonly Role[]) {
    this.#world = world
    this.#cast = cast
  }

  /** Records the current state. @param wanted versions of the resources that should exist, by index in the cast */
  note(wanted: ReadonlyMap<number, number>): void {
    this.#snapshots.push(this.#world.kube.snapshot())
    for (const [who, version] of wanted) {
      const { kind, name } = this.#cast[who] as Role
      const cr = this.#world.get(kind, name)
      if (cr === undefined || cr.metadata.deletionTimestamp !== undefined) continue
      this.#exports.set(who, [...(this.#exports.get(who) ?? []), { version, cr }])
    }
  }

  /** @param back how far: 0 for the newest, 1 for the oldest. Undefined: it never existed. */
  exportOf(who: number, back: number): Export | undefined {
    const all = this.#exports.get(who) ?? []
    return all[Math.floor((1 - back) * (all.length - 1))]
  }

  /** etcd's state that many steps ago; later states are discarded. */
  goBack(steps: number): KubeSnapshot {
    const at = Math.max(0, this.#snapshots.length - 1 - steps)
    const snapshot = this.#snapshots[at] as KubeSnapshot
    this.#snapshots.length = at
    return snapshot
  }
}
