import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'
import { Hurt } from './kubernetes/hurt.ts'
import { gravest, type KubeFault, ofReads, others } from './kubernetes/kube-faults.ts'

/** So many of the others each write meets, another choice for each: in the lives of a kind, all of them come. */
const PER_WRITE = 5
const PER_READ = 2

test('every request to Kubernetes of every turn in a life fails in the ways of an API server', async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  let [writes, reads] = [0, 0]
  for (const episode of some(episodes, 20)) {
    const reference = await references.of(episode)
    for (const request of numbered(reference.requests).filter((each) => each.startsWith('kubernetes '))) {
      const isRead = request.startsWith('kubernetes GET ')
      const faults = isRead ? turn(ofReads, PER_READ, reads++) : [...gravest, ...turn(others, PER_WRITE, writes++)]
      for (const fault of faults.filter(({ meets }) => meets?.(request) ?? true)) {
        cases.push({ ...plannedOf(episode, request, fault), reference })
      }
    }
  }
  await playAll('Kubernetes faults', laboratory, some(cases, 60), 1500)
})

/** So many of them, from where the one before ended. */
function turn(faults: readonly KubeFault[], count: number, index: number): readonly KubeFault[] {
  return Array.from({ length: count }, (_, each) => faults[(index * count + each) % faults.length] as KubeFault)
}

function plannedOf(episode: Episode, request: string, fault: KubeFault): Planned {
  return {
    episode,
    what: { write: `${episode.title}: ${request}`, point: fault.point, fault: fault.name },
    trouble: (world) => new Hurt(world, episode, { request, fault }),
  }
}
