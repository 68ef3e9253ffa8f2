import { describe, expect, test } from 'vitest'
import { casesTitled } from './support/cases.ts'
import { groupsOf, killsAt, killsAtApi } from './support/crash-walk.ts'
import { ApiGate, KubeGate } from './support/gates.ts'

/*
 * With `rawMetadata`, which some of these have, the marker has to give way: after the id is stored, it is noted in an
 * annotation, and then the metadata is sent. A policy has three rules. Each test starts the operator up to a dozen
 * times.
 */
describe('a crash leaves one object for the full spec of every kind', {
  timeout: 600_000,
  tags: 'nightly',
}, () => {
  const cases = casesTitled('full')

  test('before and after each Kubernetes write', async () => {
    const kills = await killsAt(cases, (...way) => new KubeGate('write, then answer', ...way))
    // The attempt, the unresolved create, the id, the annotation and the result, each twice.
    expect(kills).toBeGreaterThanOrEqual(10)
  })

  test('after each Kubernetes write', async () => {
    const kills = await killsAt(cases, (...way) => new KubeGate('answer', ...way))
    expect(kills).toBeGreaterThanOrEqual(4)
  })

  test.each(groupsOf(cases))('before and after each API write: $kinds', async ({ group }) => {
    const kills = await killsAtApi(group)
    // The object, its metadata, and of a policy the denies and the allows, each twice.
    expect(kills).toBeGreaterThanOrEqual(group.some(({ kind }) => kind === 'IPPolicy') ? 8 : 4)
  })

  test('while the connection breaks after each API write', async () => {
    let gate: ApiGate | undefined
    const kills = await killsAt(cases, (world, subjects) => {
      gate = new ApiGate('answer', world, subjects)
      return gate
    })
    // The objects, and what they hold: an operator that outlives the break by a moment sends the rest by itself.
    expect(kills).toBeGreaterThanOrEqual(2)
    expect(gate?.collections).toHaveLength(cases.length)
  })
})
