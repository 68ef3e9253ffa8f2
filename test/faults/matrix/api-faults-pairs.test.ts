import { test } from 'vitest'
import { statusOf } from '../../../src/managed/cr.ts'
import type { Fault } from '../simulation/faults.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { some } from '../support/size.ts'
import { doubled, lost, tooMany } from './api-faults-kinds.ts'
import { caseOf, isRead, lives, rotated, spotsOf } from './api-faults-plan.ts'
import { anyToApi, anything, reading } from './api-faults-trouble.ts'

const laboratory = await Laboratory.open()
const references = new References(laboratory)

test('the same API fault at a write and at the request after it', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(lives, 6)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter((each) => !isRead(each))) {
      for (const { point, name, fault } of rotated([...tooMany, ...lost], 2, turn)) {
        const blows = [
          { hits: reading(spot.text), nth: spot.nth, fault },
          { hits: anyToApi, fault },
        ]
        cases.push(caseOf({ episode, reference, spot, point, fault: `${name}, and again at the next`, blows }))
      }
      turn += 1
    }
  }
  await playAll('API faults at two requests', laboratory, some(cases, 16), 250)
})

test('killed right after an API fault', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(lives, 6)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter((each) => !isRead(each))) {
      for (const { point, name, fault } of rotated([...lost, ...doubled], 2, turn)) {
        const when = turn % 2 === 0 ? 'before' : 'after'
        const kill: Fault = { type: 'kill', when }
        const blows = [
          { hits: reading(spot.text), nth: spot.nth, fault },
          { hits: anything, fault: kill },
        ]
        cases.push(
          caseOf({ episode, reference, spot, point, fault: `${name}, SIGKILL ${when} the next request`, blows }),
        )
      }
      turn += 1
    }
  }
  await playAll('API faults and kills', laboratory, some(cases, 16), 250)
})

test('an intermediary sends a POST twice for a resource that is deleted immediately', async () => {
  const cases: Planned[] = []
  for (const episode of some(
    lives.filter(({ title }) => title.endsWith('/ create')),
    5,
  )) {
    const { kind, name } = episode
    const [spot] = spotsOf(await references.of(episode)).filter(({ text }) => text.startsWith('POST '))
    if (spot === undefined) continue
    const meanwhile = async (world: SimulatedWorld): Promise<void> => {
      await world.until(() => {
        const cr = world.get(kind, name)
        return cr !== undefined && statusOf(cr).id !== undefined
      }, 120_000)
      world.delete(kind, name)
    }
    for (const { point, name: fault, fault: twice } of doubled) {
      const blows = [{ hits: reading(spot.text), nth: spot.nth, fault: twice }]
      cases.push(
        caseOf({
          episode,
          spot,
          point,
          fault: `${fault}, and the resource is deleted at once`,
          blows,
          meanwhile,
          // No list has shown the copy before the resource is deleted.
          more: { orphans: 1 },
        }),
      )
    }
  }
  await playAll('API doubled creates of what goes at once', laboratory, some(cases, 8), 40)
})
