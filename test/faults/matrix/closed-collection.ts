import type { Condition } from '../../../src/managed/descriptor/common.ts'
import type { Sighting, Trouble, WireAnswer } from '../simulation/faults.ts'
import { textOf } from '../simulation/oracle.ts'
import type { SimulatedWorld } from '../simulation/world.ts'

/** The reason of whatever waits for a list that is refused. */
export const REASON = 'CollectionNotListable'

/** Refuses the lists of one collection, and notes every other call there. */
export class ClosedCollection implements Trouble {
  /** Calls that must not be made. */
  readonly calls: string[] = []
  tries = 0
  readonly #path: string
  readonly #answer: WireAnswer

  constructor(path: string, answer: WireAnswer) {
    this.#path = `/${path}`
    this.#answer = answer
  }

  request(sighting: Sighting): ReturnType<Trouble['request']> {
    const { server, method, path } = sighting
    if (server !== 'api' || !(path === this.#path || path.startsWith(`${this.#path}/`))) return undefined
    if (method === 'GET' && path === this.#path) {
      this.tries++
      return { type: 'answer', when: 'before', answer: this.#answer }
    }
    if (this.tries > 0) this.calls.push(`called while the collection was closed: ${textOf(sighting)}`)
    return undefined
  }
}

/** Conditions of a resource by type. */
export function conditions(world: SimulatedWorld, kind: string, name: string): Readonly<Record<string, Condition>> {
  const all = world.get(kind, name)?.status?.conditions ?? []
  return Object.fromEntries(all.map((condition) => [condition.type, condition]))
}
