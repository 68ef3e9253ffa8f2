import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { applyAll, applyNeeds, casesTitled, expectExactlyOneEach, otherCases, subjectsOf } from './support/cases.ts'
import { groupsOf, killsAt, killsAtApi } from './support/crash-walk.ts'
import { KubeGate } from './support/gates.ts'
import { World } from './support/world.ts'

const cases = casesTitled('minimal')
/** Each test starts the operator up to ten times. */
const timeout = 600_000

test('an operator killed before and after each Kubernetes write creates one object of every kind', {
  tags: 'nightly',
  timeout,
}, async () => {
  const kills = await killsAt(cases, (...way) => new KubeGate('write, then answer', ...way))
  // The attempt, the unresolved create and the result, each twice.
  expect(kills).toBeGreaterThanOrEqual(6)
})

test.each(groupsOf(cases))(
  'an operator killed before and after each API write creates one object: $kinds',
  {
    timeout,
    tags: 'nightly',
  },
  async ({ group }) => {
    // The object and a policy's rule, each twice.
    expect(await killsAtApi(group)).toBeGreaterThanOrEqual(group.some(({ kind }) => kind === 'IPPolicy') ? 4 : 2)
  },
)

test.each(groupsOf(otherCases()))(
  'an operator killed before and after each API write creates one object of other forms: $kinds',
  {
    timeout,
    tags: 'nightly',
  },
  async ({ group }) => {
    expect(await killsAtApi(group)).toBeGreaterThanOrEqual(2)
  },
)

// The simulation plays this for each kind and each request.
for (const { kinds, group } of groupsOf(cases)) {
  test(`a create that takes effect after its process has died is awaited, not repeated: ${kinds}`, {
    tags: 'nightly',
  }, async () => {
    await using world = await World.open({ flags: ['--request-timeout', '10s'] })
    await applyNeeds(world, group, ['a'])
    const subjects = subjectsOf(group, 'a')
    const match = { method: 'POST', times: group.length }
    const late = world.emulator.admin.addFault({ match, act: { type: 'hang', outlives: true } })
    await applyAll(world, subjects)
    expect(await world.emulator.admin.waitForFault(late.id, group.length)).toMatchObject({ hits: group.length })
    await world.operator.kill()
    await world.startOperator()
    await Promise.all(subjects.map(({ kind, name }) => world.reason(kind, name, 'Ready', 'CreateUnresolved')))
    // An operator that does not wait has scanned twice meanwhile, and asked again.
    await sleep(1_000)
    world.emulator.admin.releaseFault(late.id)
    await expectExactlyOneEach(world)
  })
}
