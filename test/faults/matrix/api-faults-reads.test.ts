import { test } from 'vitest'
import type { Fault } from '../simulation/faults.ts'
import { play } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { some } from '../support/size.ts'
import { lostCursor, type NamedFault, readFaults, tooMany } from './api-faults-kinds.ts'
import { caseOf, isRead, lives, rotated, spotsOf } from './api-faults-plan.ts'
import { amongStrangers } from './api-faults-strangers.ts'
import { inWords, isList, reading } from './api-faults-trouble.ts'

const laboratory = await Laboratory.open()
const references = new References(laboratory)

/** How often the client requests an object or a page before it gives up, and restarts a list whose cursor is lost. */
const TRIES = 3

test('every API fault at every read, once and until the client gives up', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(lives, 8)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter(isRead)) {
      const planned = { episode, reference, spot }
      const hits = reading(spot.text)
      for (const { name, fault } of [...rotated(tooMany, 1, turn), ...rotated(readFaults, 1, turn)]) {
        cases.push(caseOf({ ...planned, point: 'once', fault: name, blows: [{ hits, nth: spot.nth, fault }] }))
      }
      for (const { name, fault } of rotated(readFaults, 1, turn)) {
        const blow = { hits, nth: spot.nth, times: TRIES, fault }
        cases.push(caseOf({ ...planned, point: `${TRIES} times in a row`, fault: name, blows: [blow] }))
      }
      turn += 1
    }
  }
  await playAll('API faults at reads', laboratory, some(cases, 24), 700)
})

/** Ages of a list, in seconds: older than what the episode has just done, and older than everything. */
const AGES: readonly number[] = [5, 600]

test('stale lists', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(lives, 8)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter(({ text }) => isList(text))) {
      for (const seconds of rotated(AGES, 1, turn)) {
        const blow = { hits: reading(spot.text), nth: spot.nth, fault: stale(seconds) }
        const fault = `stale by ${seconds} s`
        cases.push(caseOf({ episode, reference, spot, point: 'list', fault, blows: [blow] }))
      }
      turn += 1
    }
  }
  await playAll('API stale lists', laboratory, some(cases, 12), 100)
})

test('stale lists while the outcome of a POST is resolved', async () => {
  const cases: Planned[] = []
  for (const episode of some(lives, 8)) {
    const reference = await references.of(episode)
    for (const spot of spotsOf(reference).filter(({ text }) => text.startsWith('POST '))) {
      const lost = { hits: reading(spot.text), nth: spot.nth, fault: { type: 'reset', when: 'after' } as const }
      const scan = reading(spot.text.replace('POST', 'GET'))
      for (const scans of [1, 2]) {
        const fault = `reset, then ${scans === 1 ? 'a stale list' : 'two stale lists'}`
        const blows = [lost, { hits: scan, times: scans, fault: stale(60) }]
        // Creating needs only two lists that agree: the second object is deleted once a list shows both.
        const more = { remade: scans - 1 }
        cases.push(caseOf({ episode, reference, spot, point: 'after', fault, blows, more }))
      }
    }
  }
  await playAll('API stale lists after lost answers', laboratory, some(cases, 10), 80)
})

test('failing later pages of lists, and lost cursors', async () => {
  const cases: Planned[] = []
  let turn = 0
  for (const episode of some(lives, 4)) {
    const { problems, requests } = await play(laboratory, episode, { prepare: amongStrangers })
    if (problems.length > 0) throw new Error(`${episode.title} fails among strangers:\n${problems.join('\n')}`)
    const words = requests.filter(({ server }) => server === 'api').map((sighting) => `api ${inWords(sighting)}`)
    const spots = spotsOf({ requests: words }).filter(({ text }) => text.endsWith(', later page'))
    if (spots.length === 0) continue
    const reference = await references.of(episode)
    for (const spot of spots) {
      for (const [{ name, fault }, times] of pageFaults(turn)) {
        const blow = { hits: reading(spot.text), nth: spot.nth, times, fault }
        const point = times === 1 ? 'once' : `${times} times in a row`
        const more = { prepare: amongStrangers }
        cases.push(caseOf({ episode, reference, spot, point, fault: name, blows: [blow], more }))
      }
      turn += 1
    }
  }
  await playAll('API pages and cursors', laboratory, some(cases, 12), 200)
})

function pageFaults(turn: number): readonly (readonly [fault: NamedFault, times: number])[] {
  const cursor = [lostCursor, turn % 2 === 0 ? 1 : TRIES] as const
  return turn % 2 === 0
    ? [cursor]
    : [cursor, ...rotated(readFaults, 1, turn).map((fault): readonly [NamedFault, number] => [fault, TRIES])]
}

function stale(seconds: number): Fault {
  return { type: 'stale', seconds }
}
