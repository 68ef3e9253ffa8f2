import { isDeepStrictEqual } from 'node:util'
import { type CustomResource, internalOf, isDeleting, isObserved, isPaused, statusOf } from '../../../src/managed/cr.ts'
import type { Sighting } from './faults.ts'
import { type HeldObjects, partsDeclared } from './unlike-declared.ts'
import type { SimulatedWorld } from './world.ts'

/** What an object was once seen to be equal to. */
interface Equal {
  /** The object: where a cluster was put back, the resource may have another since. */
  readonly id: string | undefined
  /** The spec's generation, and all that it then came to with inputs and references. */
  readonly wanted: string
  /** Requests that left operators before. */
  readonly sent: number
}

/**
 * An object that has come to be as its resource declares stays so while nothing that it follows from changes: a write that leaves after that
 * and makes it otherwise was decided by a spec from before, which nothing at the API refuses. Part of the oracle.
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

  /** @param list everything that the API holds in the collections that are wanted */
  constructor(world: SimulatedWorld, list: (isWanted: (path: string) => boolean) => Promise<HeldObjects>) {
    this.#world = world
    this.#list = list
  }

  sent(sighting: Sighting): void {
    this.#count += 1
    this.#sent.set(sighting, this.#count)
  }

  /** From now on a state of before is as good as any. */
  excuseAll(): void {
    this.#areAllExcused = true
  }

  /** This request is not judged. */
  excuse(sighting: Sighting): void {
    this.#excused.add(sighting)
  }

  /** What resources declare is what they declared at some time before: writes are on their way that were right when they left. */
  putBack(): void {
    this.#equal.clear()
  }

  /** Somebody else has changed the object: it takes several writes, maybe, to mend that. */
  meddled(kind: string, name: string): void {
    const uid = this.#world.get(kind, name)?.metadata.uid
    if (uid !== undefined) this.#equal.delete(uid)
  }

  /** The API has carried a write out. */
  async done(sighting: Sighting): Promise<void> {
    if (sighting.method === 'GET' || this.#areAllExcused) return
    for (const cr of this.#world.all()) if (this.#isAbout(sighting, cr)) await this.#check(sighting, cr)
  }

  /** Whether the write changes the object of the resource, or a part of it. */
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
    if (!isLater || before.id !== id || before.wanted !== wanted) return
    this.#equal.delete(uid)
    // An object may be as a spec has it that no operator has heard of yet: by chance, such as one that went there and back.
    if (this.#excused.has(sighting) || observedGeneration !== generation) return
    const about = unlike.map(([part]) => part).join(', ')
    this.violations.push(
      `${cr.kind}/${name} was as declared, and ${sighting.method} ${sighting.path} undoes it: ${about}`,
    )
  }

  /** The object, its parts, and what may say more of its references than their ids do. */
  async #held(cr: CustomResource): Promise<HeldObjects> {
    const descriptor = this.#world.kinds.managedKind(cr.kind)
    const needed = new Set(descriptor?.refersTo.map(({ kind }) => kind))
    const others = this.#world.kinds.managed.filter((each) => needed.has(each.definition.kind) && cr.kind === 'Edge')
    const own = [this.#world.placeOf(cr)?.path, descriptor?.children?.collection.path]
    const wanted = new Set([...own, ...others.flatMap(({ collections }) => collections.map(({ path }) => path))])
    return await this.#list((path) => wanted.has(path))
  }
}
