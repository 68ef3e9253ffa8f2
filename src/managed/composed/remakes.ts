import type { Clock } from '../../util/clock.ts'
import { countedRepeat, pauseBeforeNext, type Repeats } from '../run/damping.ts'

/**
 * Which objects of an owner existed, to distinguish a deleted one from one that was never created, and how often
 * each was made again. In memory only: a new process has just listed the owners.
 */
export class Remakes {
  readonly #clock: Clock
  /** By UID of the owner, then by the name of the object: undefined if it was never made again. */
  readonly #known = new Map<string, Map<string, Repeats | undefined>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The object exists. */
  seen(owner: string, object: string): void {
    const objects = this.#known.get(owner) ?? new Map<string, Repeats | undefined>()
    this.#known.set(owner, objects)
    if (!objects.has(object)) objects.set(object, undefined)
  }

  /** How long to wait before the object is made again, in milliseconds; undefined if it was not there before. */
  pauseMs(owner: string, object: string): number | undefined {
    const known = this.#known.get(owner)
    return known?.has(object) ? pauseBeforeNext(known.get(object), this.#clock.monotonic()) : undefined
  }

  /** The object is being made again. */
  count(owner: string, object: string): void {
    const known = this.#known.get(owner)
    known?.set(object, countedRepeat(known.get(object), this.#clock.monotonic()))
  }

  /** The object is deleted on behalf of its owner: another one of that name is new. */
  removed(owner: string, object: string): void {
    this.#known.get(owner)?.delete(object)
  }

  /** The owner is gone. */
  forget(owner: string): void {
    this.#known.delete(owner)
  }
}
