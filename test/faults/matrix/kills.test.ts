import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault } from '../simulation/faults.ts'
import { play, type Reference } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { befalls, numbered, writesAmong } from '../simulation/writes.ts'
import { some, spread } from '../support/size.ts'

const POINTS = ['before', 'after', 'answered'] as const

/** Number of pairs of kills to run, of more than ten thousand. */
const MOST_FIRST = 700
const MOST_SECOND = 4200

const kill = (when: (typeof POINTS)[number]): Fault => ({ type: 'kill', when })

test('killed before, after and during every write of every life cycle step', async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const episode of some(episodes, 20)) {
    const reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      for (const when of POINTS) {
        const trouble = () => befalls([{ at, fault: kill(when) }])
        cases.push({
          episode,
          what: { write: `${episode.title}: ${write}`, point: when, fault: 'SIGKILL' },
          trouble,
          reference,
        })
      }
    }
  }
  await playAll('kills', laboratory, some(cases, 60), 1000)
})

test('killed again while the next process finds out what the first one did', async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const firsts: First[] = []
  for (const episode of some(episodes, 10)) {
    const reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      firsts.push(...POINTS.map((when) => ({ episode, reference, at, write, when })))
    }
  }
  const cases: Planned[] = []
  for (const first of some(spread(firsts, MOST_FIRST), 15)) cases.push(...(await secondKills(laboratory, first)))
  await playAll('second kills', laboratory, some(spread(cases, MOST_SECOND), 60), 3000)
})

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
