import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { begin, conditionOf, countOf, eventsOf, objectsIn, type Scene } from '../../simulation/scenario.ts'
import { faults, nextWrites } from '../../simulation/shaped-answers.ts'
import { isWrite, type SimulatedWorld } from '../../simulation/world.ts'
import { RotationWatch } from './rotation-watch.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const rotation = { interval: '10m', overlap: '1m' }
const REQUEST = 'culvert.dev/rotate-requested-at'

type Kind = 'APIKey' | 'TunnelCredential'

/** A world that is watched. Without drift, its account is read seldom. */
async function watched(kind: Kind = 'APIKey'): Promise<Scene & { readonly watch: RotationWatch }> {
  const scene = await begin([kind], { accountSpec: { resyncInterval: '10m' } })
  return { ...scene, watch: await RotationWatch.watch(scene.world, kind) }
}

function request(world: SimulatedWorld, value: string): void {
  world.annotate('APIKey', 'ci', { [REQUEST]: value })
}

function condition(world: SimulatedWorld, type: string): Condition | undefined {
  return conditionOf(world.get('APIKey', 'ci'), type)
}

describe('a rotated token', () => {
  test.each(['APIKey', 'TunnelCredential'] as const)(
    'of the kind %s is reissued a hundred times, and works at every moment',
    async (kind) => {
      const { world, oracle, writes, watch } = await watched(kind)
      world.apply(kind, 'ci', { rotation })
      await world.advance(SECOND)
      const before = writes.length
      await world.advance(100 * 10 * MINUTE + 5 * MINUTE)
      expect(watch.violations).toEqual([])
      expect(oracle.violations).toEqual([])
      expect(watch.tokens).toHaveLength(101)
      expect(watch.ids).toEqual([watch.opened])
      expect(world.get(kind, 'ci')?.status).toMatchObject({ id: watch.opened })
      expect(world.get(kind, 'ci')?.status?.internal?.superseded).toBeUndefined()
      // Reserve, dry run of the token, attempt, create, token, status; a minute later the former one is deleted and the
      // status says so.
      expect(writes.slice(before)).toHaveLength(100 * 8)
    },
    60_000,
  )

  test('shows when the next is due, works on for the overlap, and is gone after it', async () => {
    const { world, watch } = await watched()
    world.apply('APIKey', 'ci', { rotation })
    await world.advance(SECOND)
    const first = watch.opened
    const { rotatedAt = '', nextRotationAt } = world.get('APIKey', 'ci')?.status ?? {}
    expect(nextRotationAt).toBe(new Date(Date.parse(rotatedAt) + 10 * MINUTE).toISOString())
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'True', reason: 'RotationScheduled' })
    await world.advance(10 * MINUTE - 2 * SECOND)
    expect(watch.ids).toEqual([first])
    await world.advance(2 * SECOND)
    expect(watch.ids).toEqual([watch.opened, first])
    await world.advance(57 * SECOND)
    expect(watch.ids).toHaveLength(2)
    await world.advance(5 * SECOND)
    expect(watch.ids).toEqual([watch.opened])
  })

  test('is issued on request, once for each value; one that comes within the overlap waits until it is over', async () => {
    const { world, watch } = await watched()
    // The first token of a new resource also answers an earlier rotation request.
    world.apply('APIKey', 'ci', { rotation }, { annotations: { [REQUEST]: 'first' } })
    await world.advance(SECOND)
    expect(watch.tokens).toHaveLength(1)
    expect(world.get('APIKey', 'ci')?.status?.lastHandledRotateAt).toBe('first')
    request(world, 'second')
    await world.advance(SECOND)
    expect(watch.tokens).toHaveLength(2)
    expect(world.get('APIKey', 'ci')?.status?.lastHandledRotateAt).toBe('second')
    request(world, 'third')
    await world.advance(50 * SECOND)
    expect(watch.tokens).toHaveLength(2)
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'Unknown', reason: 'RotationWaiting' })
    await world.advance(15 * SECOND)
    expect(watch.tokens).toHaveLength(3)
    await world.advance(2 * MINUTE)
    expect(watch.tokens).toHaveLength(3)
    expect(watch.violations).toEqual([])
    expect(watch.ids).toEqual([watch.opened])
  })

  test('that cannot be issued leaves the old one at work, shows it, and is issued when it can be', async () => {
    const { world, writes, watch } = await watched()
    world.apply('APIKey', 'ci', { rotation })
    await world.advance(SECOND)
    const [first] = watch.tokens
    world.trouble = nextWrites(faults.refused, faults.refused, faults.refused)
    const before = writes.length
    await world.advance(10 * MINUTE + 10 * SECOND)
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'False', reason: 'RotationFailing' })
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Synced')?.status).toBe('True')
    expect(watch.tokens).toEqual([first])
    // An edit is still carried out; another spec is tried at once.
    world.apply('APIKey', 'ci', { rotation, description: 'for CI' })
    await world.advance(40 * SECOND)
    expect((await objectsIn(world, 'api_keys'))[0]?.description).toBe('for CI')
    expect(watch.tokens).toHaveLength(2)
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'True' })
    expect(countOf(eventsOf(world), 'APIKey/ci RotationFailing')).toBe(1)
    // Attempts are as rare as their pauses require.
    expect(countOf(writes, 'api POST /api_keys', before)).toBe(4)
    expect(watch.violations).toEqual([])
  })

  test('whose create got no answer is found again, and what showed the failure goes', async () => {
    const { world, watch } = await watched()
    world.apply('APIKey', 'ci', { rotation })
    await world.advance(SECOND)
    world.trouble = nextWrites(faults.lost)
    request(world, 'now')
    await world.advance(4500)
    expect(condition(world, 'Rotated')?.reason).toBe('RotationFailing')
    await world.advance(2 * MINUTE)
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'True', reason: 'RotationScheduled' })
    expect(watch.tokens).toHaveLength(2)
    expect(watch.violations).toEqual([])
  })

  test.each([
    [{ rotation: { interval: '3s', overlap: '1s' } }],
    [{ rotation: { interval: '10s', overlap: '0s' } }],
    [{ rotation: { interval: '20s' }, description: 'for CI', rawMetadata: 'mine' }],
    [{}],
  ])('works at every moment when the spec changes to %j at any write of a rotation', async (spec) => {
    for (const at of [0, 1, 2, 3, 4, 5, 6]) {
      const { world, oracle, watch } = await watched()
      world.apply('APIKey', 'ci', { rotation: { interval: '10s', overlap: '2s' } })
      await world.advance(SECOND)
      let writes = 0
      world.trouble = {
        request: (sighting) => {
          if (isWrite(sighting) && writes++ === at) world.apply('APIKey', 'ci', spec)
          return undefined
        },
      }
      request(world, 'now')
      await world.advance(20 * SECOND)
      expect(writes).toBeGreaterThan(at)
      world.apply('APIKey', 'ci', { rotation: { interval: '1h', overlap: '1s' } })
      // The default overlap, and then some.
      await world.advance(12 * MINUTE)
      watch.expectAtRest()
      expect(oracle.violations).toEqual([])
    }
  })

  test('of an adopted key is not issued by its age, since the one at work is not known; on request it is', async () => {
    const { world } = await begin(['APIKey'])
    const { id } = await world.api.ask('POST', '/api_keys', { metadata: 'by hand' })
    world.apply('APIKey', 'ci', { externalID: id, managementPolicy: 'Manage', rotation })
    await world.advance(30 * MINUTE)
    const watch = await RotationWatch.watch(world, 'APIKey')
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id, adopted: true })
    expect(watch.ids).toEqual([id])
    request(world, 'now')
    await world.advance(3 * MINUTE)
    // Adopted: the object that it replaced is retained.
    expect(watch.ids).toEqual([watch.opened, id])
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id: watch.opened, lastHandledRotateAt: 'now' })
    await world.advance(10 * MINUTE)
    expect(watch.tokens).toHaveLength(2)
    expect(watch.ids).toContain(id)
  })
})
