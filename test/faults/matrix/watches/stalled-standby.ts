import type { Episode } from '../../simulation/episodes.ts'
import type { Fault, FrameFault, Sighting, Trouble, When } from '../../simulation/faults.ts'
import type { SimulatedOperator } from '../../simulation/operator.ts'
import { differences, type Oracle, textOf } from '../../simulation/oracle.ts'
import { play } from '../../simulation/play.ts'
import { isWrite, type Laboratory, type SimulatedWorld } from '../../simulation/world.ts'
import type { WatchReference } from './watch-play.ts'
import type { WatchStory } from './watch-story.ts'

/** Which watches of the standby are silent: the one that reports the story's change, or all. */
export type Stalled = 'one' | 'all'

/** When the leader dies: once everything is at rest, or at its first write for the change. */
export type End =
  | 'killed at rest'
  | 'told to stop at rest'
  | 'killed before its first write'
  | 'killed after its first write'

export interface TakeOver {
  readonly stalled: Stalled
  readonly end: End
  readonly reference: WatchReference
}

/** The leader has carried out the change by then; a silent watch is abandoned later. Virtual milliseconds. */
const CARRIED_OUT_MS = 60_000
/** By then the Lease of a leader that died has expired and the standby has noticed. */
const TAKEN_OVER_MS = 22_000
/** A new leader that acts on stale state does so within this time: long before a silent watch is abandoned. */
const REVERTED_MS = 20_000
const ARRIVES_AFTERWARDS_MS = 90_000

const LEADING_UNTIL: Readonly<Partial<Record<End, When>>> = {
  'killed before its first write': 'before',
  'killed after its first write': 'after',
}

/**
 * Plays the story with two replicas. The standby misses the change without knowing, while its Lease calls succeed; then
 * it takes over. It is a violation if it sends anything to the API although everything was at rest, or leaves a
 * different result than without the fault.
 */
export async function playTakeOver(
  laboratory: Laboratory,
  story: WatchStory,
  { stalled, end, reference }: TakeOver,
): Promise<readonly string[]> {
  const problems: string[] = []
  let [judge, deafness]: [Oracle?, Deafness?] = []
  const episode: Episode = { ...story.episode, act: () => Promise.resolve(), isUnseen: false }
  const meanwhile = async (world: SimulatedWorld): Promise<void> => {
    if (judge === undefined || deafness === undefined) throw new Error('nothing was made for this world')
    await story.prepare?.(world)
    const { leader, standby } = replicasOf(world)
    deafness.begin({
      leader,
      standby,
      path: stalled === 'one' ? story.path(world) : undefined,
      dies: LEADING_UNTIL[end],
    })
    // Otherwise the leader's next process, which has no stale state, may win the Lease.
    world.startNone()
    await story.change(world, judge)
    const atRest = judge
    await world.until(() => leader.isOver || isSettled(world, story, atRest), CARRIED_OUT_MS)
    const wasSettled = isSettled(world, story, judge)
    await world.advance(1_000)
    if (end === 'told to stop at rest') leader.stop()
    else leader.process.kill()
    const takesOver = (): boolean => world.leader?.startsWith(`${standby.process.name}_`) ?? false
    if (!(await world.until(takesOver, TAKEN_OVER_MS))) problems.push('the replica that stood by has not taken over')
    world.up()
    deafness.end()
    const { length } = judge.writes
    await world.advance(REVERTED_MS)
    const sent = judge.writes.slice(length).filter(({ server }) => server === 'api')
    if (wasSettled) problems.push(...sent.map((write) => `sent by the new leader: ${textOf(write)}`))
    if (!story.isRestless) problems.push(...(await judge.untilRest()))
    if (!(story.hasArrived?.(world) ?? true)) problems.push('the new leader has not acted on the change')
    problems.push(...differences(reference.midway, await judge.picture()))
    await story.afterwards(world, judge)
    await world.advance(ARRIVES_AFTERWARDS_MS)
    problems.push(...(await judge.untilRest()))
    if (!(story.hasArrivedAfterwards?.(world) ?? true)) problems.push('the operator has not acted on the other change')
  }
  const played = await play(laboratory, episode, {
    replicas: 2,
    trouble: (_world, oracle) => {
      judge = oracle
      deafness = new Deafness()
      return deafness
    },
    meanwhile,
    reference: { writes: [], requests: [], picture: reference.picture },
  })
  return [...problems, ...played.problems]
}

function isSettled(world: SimulatedWorld, { isRestless = false, hasArrived }: WatchStory, oracle: Oracle): boolean {
  return (isRestless || oracle.isAtRest) && (hasArrived?.(world) ?? true)
}

interface Replicas {
  readonly leader: SimulatedOperator
  readonly standby: SimulatedOperator
}

function replicasOf(world: SimulatedWorld): Replicas {
  const running = world.operators.filter(({ isOver }) => !isOver)
  const leader = running.find(({ process }) => world.leader?.startsWith(`${process.name}_`))
  const standby = running.find((other) => other !== leader)
  if (leader === undefined || standby === undefined) throw new Error('there are no two replicas, of which one leads')
  return { leader, standby }
}

interface Deaf extends Replicas {
  /** Undefined: all collections. */
  readonly path: string | undefined
  /** When the leader dies, at its first write; undefined: not at a write. */
  readonly dies: When | undefined
}

/** The standby's watches stay silent, and nothing closes them. */
class Deafness implements Trouble {
  #deaf: Deaf | undefined
  #hidden = 0
  #hasWritten = false

  begin(deaf: Deaf): void {
    this.#deaf = deaf
  }

  end(): void {
    this.#deaf = undefined
  }

  request(sighting: Sighting): Fault | undefined {
    const { leader, dies } = this.#deaf ?? {}
    if (dies === undefined || sighting.process !== leader?.process || this.#hasWritten || !isWrite(sighting)) {
      return undefined
    }
    this.#hasWritten = true
    return { type: 'kill', when: dies }
  }

  frame({ process, path }: Sighting): FrameFault | undefined {
    const { standby, path: wanted } = this.#deaf ?? {}
    if (process !== standby?.process || path.includes('/leases') || (wanted ?? path) !== path) return undefined
    this.#hidden += 1
    return 'stall'
  }

  unspent(): readonly string[] {
    return this.#hidden > 0 ? [] : ['nothing was kept from the replica that stood by']
  }
}
