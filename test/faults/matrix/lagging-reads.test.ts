import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault, Trouble } from '../simulation/faults.ts'
import type { Oracle } from '../simulation/oracle.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { befalls, numbered } from '../simulation/writes.ts'
import { partOf, some } from '../support/size.ts'
import { LAGS, type Lag, lagging, lagOf, withLists } from './lagging-reads.ts'

const laboratory = await Laboratory.open()
const references = new References(laboratory)

test('every life cycle step while reads lag behind every write', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(episodes, 30)) {
    const reference = await references.of(episode)
    for (const seconds of LAGS) {
      const reads = lagOf(turn, seconds)
      const lag = turn % 2 === 0 ? reads : withLists(reads)
      const what = { write: `${episode.title}: all`, point: 'reads', fault: lag.name }
      cases.push({ episode, reference, what, trouble: () => lagging(lag) })
      turn += 1
    }
  }
  await playAll('reads that lag', laboratory, some(cases, 60), 400)
})

test('edits, deletions and kills at every write while reads lag', { tags: 'nightly' }, async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(episodes, 20)) {
    const reference = await references.of(episode)
    const edit = episodes.find(({ title }) => title === episode.title.replace(/create$/, 'update'))
    for (const [at, write] of numbered(reference.writes).entries()) {
      const reads = lagOf(turn)
      const all = turn % 2 === 0 ? reads : withLists(reads)
      const planned = (point: string, doing: Doing, then: Pick<Planned, 'episode' | 'reference'>, lag: Lag) => {
        const what = { write: `${episode.title}: ${write}`, point, fault: lag.name }
        const trouble: Planned['trouble'] = (world, oracle) =>
          lagging(
            lag,
            doingAt(at, () => doing(world, oracle)),
          )
        cases.push({ ...then, what, trouble })
      }
      planned('deleted', (world) => deleted(world, episode), { episode }, all)
      planned('SIGKILL', () => ({ type: 'kill', when: 'after' }), { episode, reference }, reads)
      if (edit !== undefined && edit !== episode) {
        const edited: Doing = (world, oracle) => void edit.act(world, oracle)
        const { keepsObject: _keepsObject, ...reference } = await references.of(edit)
        planned('edited', edited, { episode, reference }, all)
      }
      turn += 1
    }
  }
  await playAll('reads that lag, and more', laboratory, some(partOf(cases, 2), 60), 450)
})

/** An action when a write is sent, and the fault that hits the write as a result. */
type Doing = (world: SimulatedWorld, oracle: Oracle) => Fault | undefined

function doingAt(at: number, doing: () => Fault | undefined): Trouble {
  const hit = befalls([{ at, fault: { type: 'cut' } }])
  return {
    request: (sighting) => (hit.request(sighting) === undefined ? undefined : doing()),
    unspent: hit.unspent,
  }
}

function deleted(world: SimulatedWorld, { kind, name }: Episode): undefined {
  if (world.get(kind, name) !== undefined) world.delete(kind, name)
  return undefined
}
