import type { Fault } from '../faults.ts'
import { status } from '../kube-server.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'
import { befalls } from '../writes.ts'

/** A fault of one write of a turn. */
export interface Hurt {
  /** Which write, from 0. */
  readonly at: number
  readonly fault: Fault
}

const WRITES = [0, 1, 2, 3, 4, 5] as const

const faults: readonly (readonly [when: string, title: string, fault: Fault])[] = [
  ['before', 'SIGKILL', { type: 'kill', when: 'before' }],
  ['after', 'SIGKILL', { type: 'kill', when: 'after' }],
  ['answered', 'SIGKILL', { type: 'kill', when: 'answered' }],
  ['before', 'reset', { type: 'reset', when: 'before' }],
  ['after', 'reset', { type: 'reset', when: 'after' }],
  ['after', 'silence', { type: 'silence', when: 'after' }],
  ['after', 'done late', { type: 'late', ms: 3_000 }],
  ['before', '503', { type: 'answer', when: 'before', answer: status(503, 'ServiceUnavailable', 'broken') }],
  ['after', '503', { type: 'answer', when: 'after', answer: status(503, 'ServiceUnavailable', 'broken') }],
]

/** Kills and faults, of either server, at each of the first writes. */
export const hurts: readonly (Hurt & { readonly title: string; readonly point: string })[] = WRITES.flatMap((at) => {
  return faults.map(([when, title, fault]) => ({ at, fault, title, point: `${when} write ${at}` }))
})

/** Applies it to the writes from now on. @returns whether there was such a write */
export function hurtIn(world: SimulatedWorld, hurt: Hurt | undefined): () => boolean {
  const { trouble } = world.network
  const made = hurt === undefined ? undefined : befalls([hurt])
  let writes = 0
  world.trouble = {
    request: (sighting) => {
      if (isWrite(sighting)) writes += 1
      return made?.request(sighting) ?? trouble.request(sighting)
    },
  }
  return () => hurt === undefined || writes > hurt.at
}
