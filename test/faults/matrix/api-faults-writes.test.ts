import { test } from 'vitest'
import { episodes } from '../simulation/episodes.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { some } from '../support/size.ts'
import { writeFaults } from './api-faults-kinds.ts'
import { caseOf, isOfLife, isRead, rotated, spotsOf } from './api-faults-plan.ts'
import { reading } from './api-faults-trouble.ts'

/** Alternative ways of creating are sent like any other: a few faults for each, in rotation. */
const FEW = 2

test('every API fault at every write', async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(episodes, 10)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter((each) => !isRead(each))) {
      const faults = isOfLife(episode) ? writeFaults : rotated(writeFaults, FEW, turn)
      for (const { point, name, fault } of faults) {
        const blow = { hits: reading(spot.text), nth: spot.nth, fault }
        cases.push(caseOf({ episode, reference, spot, point, fault: name, blows: [blow] }))
      }
      turn += 1
    }
  }
  await playAll('API faults at writes', laboratory, some(cases, 50), 1800)
})
