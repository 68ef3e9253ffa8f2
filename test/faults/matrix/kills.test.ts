import { test } from 'vitest'
import { episodes } from '../simulation/episodes.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { befalls, numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'
import { kill, POINTS } from './second-kills.ts'

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
