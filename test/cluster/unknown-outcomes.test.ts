import { expect, test } from 'vitest'
import {
  applyAll,
  applyNeeds,
  casesTitled,
  collectionPaths,
  expectExactlyOneEach,
  subjectsOf,
} from './support/cases.ts'
import { World } from './support/world.ts'

test('a create that ends with an HTML 502 after all was done leaves one object of every kind and each rule once', async () => {
  await using world = await World.open()
  const cases = casesTitled('minimal')
  await applyNeeds(world, cases, ['a'])
  const { admin } = world.emulator
  const act = { type: 'status', status: 502, html: '<h1>Bad gateway</h1>', when: 'after' } as const
  const faults = collectionPaths(cases).map((path) => admin.addFault({ match: { method: 'POST', path }, act }).id)
  await applyAll(world, subjectsOf(cases, 'a'))
  await expectExactlyOneEach(world)
  expect(faults.map((id) => admin.fault(id).hits)).toEqual(faults.map(() => 1))
})
