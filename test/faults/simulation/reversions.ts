import { isDeepStrictEqual } from 'node:util'
import { type CustomResource, internalOf, isDeleting, isObserved, isPaused, statusOf } from '../../../src/managed/cr.ts'
import type { Sighting } from './faults.ts'
import { type HeldObjects, partsDeclared } from './unlike-declared.ts'
import type { SimulatedWorld } from './world.ts'

/** A state that an object was once seen to match. */
interface Equal {
  /** The object: after a restore the resource may have another. */
  readonly id: string | undefined
  /** The spec's generation, and its result with inputs and references at the time. */
  readonly wanted: string
  /** Number of requests that had left operators before. */
  readonly sent: number
}

/**
 * Once an object matches what its resource declares, it stays so while its inputs do not change: a later write that
 * changes it was decided by an earlier spec, which the API does not refuse. Part of the oracle.
 */
export class Reversions {
  readonly violations: string[] = []
  readonly #world: SimulatedWorld
  readonly #list: (isWanted: (path: string) => boolean) => Promise<HeldObjects>
  readonly #equal = new Map<string, Equal>()
  readonly #sent = new WeakMap<Sighting, number>()
  readonly #excused = new WeakSet<Sighting>()
  #count = 0
  #areAllExcused: boolean = false

  /** @param list everything that the API holds in the wanted collections */
  constructor(world: SimulatedWorld, list: (isWanted: (path: string) => boolean) => Promise<HeldObjects>) {
    this.#world = world
    this.#list = list
  }

  sent(sighting: Sighting): void {
    this.#count += 1
    this.#sent.set(sighting, this.#count)
  }

  /** From now on any earlier state is accepted. */
  excuseAll(): void {
    this.#areAllExcused = true
  }

  /** Exempts this request. */
  excuse(sighting: Sighting): void {
    this.#excused.add(sighting)
  }

  /** Resources declare an earlier state again: writes in flight were right when they were sent. */
  putBack(): void {
    this.#equal.clear()
  }

  /** The object was changed by hand: the repair may take several writes. */
  meddled(kind: string, name: string): void {
    const uid = this.#world.get(kind, name)?.metadata.uid
    if (uid !== undefined) this.#equal.delete(uid)
  }

  /** The API has carried out a write. */
  async done(sighting: Sighting): Promise<void> {
    if (sighting.method === 'GET' || this.#areAllExcused) return
    for (const cr of this.#world.all()) if (this.#isAbout(sighting, cr)) await this.#check(sighting, cr)
  }

  /** Whether the write changes the resource's object or a part of it. */
  #isAbout({ path, method }: Sighting, cr: CustomResource): boolean {
    const place = this.#world.placeOf(cr)
    if (place === undefined || isDeleting(cr) || isObserved(cr) || isPaused(cr)) return false
    if (internalOf(cr).superseded !== undefined) return false
    const { children } = this.#world.kinds.managedKind(cr.kind) ?? {}
    const isOfParts = children !== undefined && path.startsWith(`/${children.collection.path}`)
    return isOfParts || (method === 'PATCH' && path === `/${place.path}/${place.id}`)
  }

  async #check(sighting: Sighting, cr: CustomResource): Promise<void> {
    const { uid, generation, name } = cr.metadata
    const { id, observedGeneration } = statusOf(cr)
    const parts = partsDeclared(this.#world, cr, await this.#held(cr))
    const unlike = parts.filter(([, wanted, found]) => !isDeepStrictEqual(wanted, found))
    const wanted = JSON.stringify([generation, parts.map(([part, value]) => [part, value])])
    const before = this.#equal.get(uid)
    if (unlike.length === 0) {
      this.#equal.set(uid, { id, wanted, sent: this.#count })
      return
    }
    const isLater = before !== undefined && (this.#sent.get(sighting) ?? 0) > before.sent
    // What a request from before has changed, later ones need not have undone.
    if (!isLater) this.#equal.delete(uid)
    if (!isLater || before.id !== id || before.wanted !== wanted) return
    this.#equal.delete(uid)
    // An object may match a spec that no operator has observed yet: by chance, for example after a change and its
    // revert.
    if (this.#excused.has(sighting) || observedGeneration !== generation) return
    const about = unlike.map(([part]) => part).join(', ')
    this.violations.push(
      `${cr.kind}/${name} was as declared, and ${sighting.method} ${sighting.path} undoes it: ${about}`,
    )
  }

  /** The object, its parts, and objects that say more about its references than their ids. */
  async #held(cr: CustomResource): Promise<HeldObjects> {
    const descriptor = this.#world.kinds.managedKind(cr.kind)
    const needed = new Set(descriptor?.references.kinds.map(({ kind }) => kind))
    const others = this.#world.kinds.managed.filter((each) => needed.has(each.definition.kind) && cr.kind === 'Edge')
    const own = [this.#world.placeOf(cr)?.path, descriptor?.children?.collection.path]
    const wanted = new Set([
      ...own,
      ...others.flatMap(({ identity: { collections } }) => collections.map(({ path }) => path)),
    ])
    return await this.#list((path) => wanted.has(path))
  }
}
