import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault } from '../simulation/faults.ts'
import { play, type Reference } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { befalls, numbered, writesAmong } from '../simulation/writes.ts'
import { some, spread, turnAmong } from '../support/size.ts'

/** When a process is killed: at a write, before it arrives, after it, or once its answer has arrived. */
export const POINTS = ['before', 'after', 'answered'] as const

/** Number of pairs of kills to run, of more than ten thousand; each run plays others. */
const MOST_FIRST = 350
const MOST_SECOND = 1400

export const kill = (when: (typeof POINTS)[number]): Fault => ({ type: 'kill', when })

/** Kills a process, and the next one while it finds out what the first one did. */
export async function killTwice(suite: string, half: 0 | 1): Promise<void> {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const firsts: First[] = []
  for (const episode of some(episodes, 10)) {
    const reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      firsts.push(...POINTS.map((when) => ({ episode, reference, at, write, when })))
    }
  }
  const mine = some(spread(firsts, MOST_FIRST, turnAmong), 15).filter((_, index) => index % 2 === half)
  const cases: Planned[] = []
  for (const first of mine) cases.push(...(await secondKills(laboratory, first)))
  await playAll(suite, laboratory, some(spread(cases, MOST_SECOND / 2, turnAmong), 30), 500)
}

interface First {
  readonly episode: Episode
  readonly reference: Reference
  readonly at: number
  readonly write: string
  readonly when: (typeof POINTS)[number]
}

/** One more kill at each write that follows the first. */
async function secondKills(laboratory: Laboratory, first: First): Promise<readonly Planned[]> {
  const { episode, reference, at, write, when } = first
  const { requests } = await play(laboratory, episode, { trouble: () => befalls([{ at, fault: kill(when) }]) })
  const writes = writesAmong(requests)
  return writes.slice(at + 1).flatMap((next, index) => {
    return (['before', 'after'] as const).map((then): Planned => {
      const faults = [
        { at, fault: kill(when) },
        { at: at + 1 + index, fault: kill(then) },
      ]
      const what = {
        write: `${episode.title}: ${write}, then ${next}`,
        point: `${when}, then ${then}`,
        fault: 'SIGKILL twice',
      }
      return { episode, what, trouble: () => befalls(faults), reference }
    })
  })
}
