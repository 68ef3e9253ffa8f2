import { some } from '../support/size.ts'
import type { Fault } from './faults.ts'
import { familiesOf, type Managed } from './spec-families.ts'
import { type Pace, type Walk, type Way, walkAll } from './walks.ts'
import { Laboratory } from './world.ts'

/** Constant, so that a failure can be repeated with the same specs; TRANSITIONS_SEED chooses others. */
const SEED = Number(process.env.TRANSITIONS_SEED ?? 20261122)
/** Walks in a short run. */
const FEW = 18
const FAMILIES = 3
/** Members of a family. */
const SIZE = 10
/** Steps from one member to the next, in a circle and back: no two take the same transition. */
const STRIDES: readonly (readonly [number, number])[] = [
  [1, 2],
  [3, 8],
]
const WRITES = [0, 1, 2, 3, 4] as const

const QUIET: Pace = { point: 'each at rest', fault: 'none' }

const HURRIED: readonly Pace[] = WRITES.map((afterWrites) => {
  return { point: `after ${afterWrites} writes for the former`, fault: 'none', afterWrites }
})

const DOWN: readonly Pace[] = WRITES.map((afterWrites) => {
  return {
    point: `after ${afterWrites} writes for the former`,
    fault: 'SIGKILL until the next',
    afterWrites,
    isDown: true,
  }
})

const FAULTS: readonly (readonly [title: string, fault: Fault])[] = [
  ['SIGKILL before', { type: 'kill', when: 'before' }],
  ['SIGKILL after', { type: 'kill', when: 'after' }],
  ['SIGKILL when answered', { type: 'kill', when: 'answered' }],
  ['reset before', { type: 'reset', when: 'before' }],
  ['reset after', { type: 'reset', when: 'after' }],
  ['silence after', { type: 'silence', when: 'after' }],
  ['done late', { type: 'late', ms: 2_000 }],
  ['done twice', { type: 'twice' }],
  ['answer cut', { type: 'cut' }],
]

/** Faults at writes of every change. */
const HURT: readonly Pace[] = FAULTS.flatMap(([fault, what]) => {
  return WRITES.map((at): Pace => {
    const point = `write ${at} of each`
    return { point, fault, hurt: { at, fault: what } }
  })
})

const HURRIED_AND_HURT: readonly Pace[] = FAULTS.map(([fault, what], index) => {
  const afterWrites = 1 + (index % 4)
  return {
    point: `after ${afterWrites} writes for the former, the last of them hurt`,
    fault,
    afterWrites,
    hurt: { at: afterWrites - 1, fault: what },
  }
})

/** Takes all walks of these kinds, or a part in a short run. */
export async function takeWalks(suite: string, descriptors: readonly Managed[]): Promise<void> {
  const laboratory = await Laboratory.open()
  const walks = descriptors.flatMap(walksOf)
  await walkAll(suite, laboratory, some(walks, FEW), 1500)
}

function walksOf(descriptor: Managed, place: number): readonly Walk[] {
  const families = familiesOf(descriptor, FAMILIES, SIZE, SEED)
  const ways = families.flatMap((family) => waysOf().map((way) => ({ family, way })))
  // A third of the ways each has no fault, a fault, or a fault and an early next change. Which comes first varies by
  // kind.
  return ways.map(({ family, way }, index) => {
    const paces = [[QUIET], HURRIED, HURT, DOWN, HURT, HURRIED_AND_HURT][index % 6] as readonly Pace[]
    const turn = Math.floor(index / 6) + 5 * place
    return { family, way, pace: paces[turn % paces.length] as Pace }
  })
}

function waysOf(): readonly Way[] {
  return STRIDES.flatMap(([there, further]) => {
    return Array.from({ length: SIZE }, (_, from): Way => {
      return [from, (from + there) % SIZE, (from + there + further) % SIZE]
    })
  })
}
