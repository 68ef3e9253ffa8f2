import { expect, test } from 'vitest'
import type { FaultAct } from '../../src/emulator/faults/fault-spec.ts'
import {
  applyAll,
  applyNeeds,
  casesTitled,
  collectionPaths,
  expectExactlyOneEach,
  subjectsOf,
} from './support/cases.ts'
import { World } from './support/world.ts'

/**
 * What the first POST to every collection may meet, so that its sender cannot know what came of it. The operator waits
 * one second.
 */
const outcomes: readonly { readonly title: string; readonly act: FaultAct }[] = [
  { title: 'no answer in time, nothing done', act: { type: 'hang', when: 'before' } },
  { title: 'no answer in time, done in time', act: { type: 'commit-then-late', ms: 1_500 } },
  { title: 'no answer in time, done after that', act: { type: 'delay', ms: 1_500 } },
  { title: 'a 500, nothing done', act: { type: 'status', status: 500 } },
  { title: 'a 500, all done', act: { type: 'status', status: 500, when: 'after' } },
  { title: 'an HTML 502, nothing done', act: { type: 'status', status: 502, html: '<h1>Bad gateway</h1>' } },
  { title: 'an HTML 502, all done', act: { type: 'status', status: 502, html: '<h1>Bad gateway</h1>', when: 'after' } },
  { title: 'an HTML 404, all done', act: { type: 'status', status: 404, html: '<h1>Not here</h1>', when: 'after' } },
  { title: 'a 408, all done', act: { type: 'status', status: 408, when: 'after' } },
  { title: 'a 201 with an answer cut short', act: { type: 'truncate' } },
  { title: 'a reset, nothing done', act: { type: 'drop' } },
  { title: 'a reset, all done', act: { type: 'commit-then-drop' } },
]

/** That of `npm test`: the operator is told something else. */
const ALWAYS = 'an HTML 502, all done'

for (const { title, act } of outcomes) {
  const tags = title === ALWAYS ? [] : ['nightly']
  test(`a create that ends with ${title} leaves one object of every kind and each rule once`, { tags }, async () => {
    await using world = await World.open()
    const cases = casesTitled('minimal')
    await applyNeeds(world, cases, ['a'])
    const { admin } = world.emulator
    const faults = collectionPaths(cases).map((path) => admin.addFault({ match: { method: 'POST', path }, act }).id)
    await applyAll(world, subjectsOf(cases, 'a'))
    await expectExactlyOneEach(world)
    expect(faults.map((id) => admin.fault(id).hits)).toEqual(faults.map(() => 1))
  })
}
