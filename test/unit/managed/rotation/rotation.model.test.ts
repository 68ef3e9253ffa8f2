import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { ModelWorld } from '../../../builders/model-world.ts'
import { RotationWatch } from '../../../builders/rotation-watch.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const rotation = { interval: '10m', overlap: '1m' }
const REQUEST = 'culvert.dev/rotate-requested-at'

function request(world: ModelWorld, kind: string, value: string): void {
  world.patch(kind, 'ci', { metadata: { annotations: { [REQUEST]: value } } })
}

function condition(world: ModelWorld, kind: string, type: string): Condition | undefined {
  return world.get(kind, 'ci')?.status?.conditions?.find((entry) => entry.type === type)
}

function watched(world: ModelWorld, path = 'api_keys'): RotationWatch {
  return new RotationWatch(world, { path, secretName: 'ci', secretKey: 'token' })
}

describe('a rotated token', () => {
  test.each([
    ['APIKey', 'api_keys'],
    ['TunnelCredential', 'credentials'],
  ])(
    'of the kind %s is issued anew a hundred times, and works at every moment',
    async (kind, path) => {
      const world = ModelWorld.start()
      const watch = watched(world, path)
      world.apply(kind, 'ci', { rotation })
      await world.clock.advance(SECOND)
      const before = world.writes.length
      await world.clock.advance(100 * 10 * MINUTE + 5 * MINUTE)
      expect(watch.violations).toEqual([])
      expect(world.violations).toEqual([])
      expect(watch.tokens).toHaveLength(101)
      expect(watch.ids).toEqual([watch.opened])
      expect(world.get(kind, 'ci')?.status).toMatchObject({ id: watch.opened })
      expect(world.get(kind, 'ci')?.status?.internal?.superseded).toBeUndefined()
      // Reserve, attempt, create, token, status; a minute later the former one is deleted and the status says so.
      expect(world.writes.slice(before)).toHaveLength(100 * 7)
      world.kill()
    },
    60_000,
  )

  test('shows when the next is due, works on for the overlap, and is gone after it', async () => {
    const world = ModelWorld.start()
    const watch = watched(world)
    world.apply('APIKey', 'ci', { rotation })
    await world.clock.advance(SECOND)
    const first = watch.opened
    const { rotatedAt = '', nextRotationAt } = world.get('APIKey', 'ci')?.status ?? {}
    expect(nextRotationAt).toBe(new Date(Date.parse(rotatedAt) + 10 * MINUTE).toISOString())
    expect(condition(world, 'APIKey', 'Rotated')).toMatchObject({ status: 'True', reason: 'RotationScheduled' })
    await world.clock.advance(10 * MINUTE - 2 * SECOND)
    expect(watch.ids).toEqual([first])
    await world.clock.advance(2 * SECOND)
    expect(watch.ids).toEqual([watch.opened, first])
    await world.clock.advance(57 * SECOND)
    expect(watch.ids).toHaveLength(2)
    await world.clock.advance(5 * SECOND)
    expect(watch.ids).toEqual([watch.opened])
    world.kill()
  })

  test('is issued on request, once for each value; one that comes within the overlap waits until it is over', async () => {
    const world = ModelWorld.start()
    const watch = watched(world)
    // The first token of a new resource also answers an earlier rotation request.
    world.apply('APIKey', 'ci', { rotation }, { annotations: { [REQUEST]: 'first' } })
    await world.clock.advance(SECOND)
    expect(watch.tokens).toHaveLength(1)
    expect(world.get('APIKey', 'ci')?.status?.lastHandledRotateAt).toBe('first')
    request(world, 'APIKey', 'second')
    await world.clock.advance(SECOND)
    expect(watch.tokens).toHaveLength(2)
    expect(world.get('APIKey', 'ci')?.status?.lastHandledRotateAt).toBe('second')
    request(world, 'APIKey', 'third')
    await world.clock.advance(50 * SECOND)
    expect(watch.tokens).toHaveLength(2)
    expect(condition(world, 'APIKey', 'Rotated')).toMatchObject({ status: 'Unknown', reason: 'RotationWaiting' })
    await world.clock.advance(15 * SECOND)
    expect(watch.tokens).toHaveLength(3)
    await world.clock.advance(2 * MINUTE)
    expect(watch.tokens).toHaveLength(3)
    expect(watch.violations).toEqual([])
    expect(watch.ids).toEqual([watch.opened])
    world.kill()
  })

  test('that cannot be issued leaves the old one at work, shows it, and is issued when it can be', async () => {
    const world = ModelWorld.start()
    const watch = watched(world)
    world.apply('APIKey', 'ci', { rotation })
    await world.clock.advance(SECOND)
    const [first] = watch.tokens
    world.apiFaults.push(...Array.from({ length: 3 }, () => 'refused' as const))
    const before = world.writes.length
    await world.clock.advance(10 * MINUTE + 10 * SECOND)
    expect(condition(world, 'APIKey', 'Rotated')).toMatchObject({ status: 'False', reason: 'RotationFailing' })
    expect(condition(world, 'APIKey', 'Ready')?.status).toBe('True')
    expect(condition(world, 'APIKey', 'Synced')?.status).toBe('True')
    expect(watch.token).toBe(first)
    // An edit is still carried out; another spec is tried at once.
    world.apply('APIKey', 'ci', { rotation, description: 'for CI' })
    await world.clock.advance(40 * SECOND)
    expect(world.account.list('api_keys')[0]?.description).toBe('for CI')
    expect(watch.tokens).toHaveLength(2)
    expect(condition(world, 'APIKey', 'Rotated')).toMatchObject({ status: 'True' })
    expect(world.events.filter((event) => event === 'APIKey/ci RotationFailing')).toHaveLength(1)
    // Attempts are as rare as their pauses require.
    expect(world.writes.slice(before).filter((write) => write === 'POST api_keys')).toHaveLength(4)
    expect(watch.violations).toEqual([])
    world.kill()
  })

  test('whose create got no answer is found again, and what showed the failure goes', async () => {
    const world = ModelWorld.start()
    const watch = watched(world)
    world.apply('APIKey', 'ci', { rotation })
    await world.clock.advance(SECOND)
    world.apiFaults.push('lost')
    request(world, 'APIKey', 'now')
    await world.clock.advance(1500)
    expect(condition(world, 'APIKey', 'Rotated')?.reason).toBe('RotationFailing')
    await world.clock.advance(2 * MINUTE)
    expect(condition(world, 'APIKey', 'Rotated')).toMatchObject({ status: 'True', reason: 'RotationScheduled' })
    expect(watch.tokens).toHaveLength(2)
    expect(watch.violations).toEqual([])
    world.kill()
  })

  test('of an adopted key is not issued by its age, since the one at work is not known; on request it is', async () => {
    const world = ModelWorld.start()
    const { id } = world.account.create('api_keys', { metadata: 'by hand' })
    world.apply('APIKey', 'ci', { externalID: id, managementPolicy: 'Manage', rotation })
    await world.clock.advance(30 * MINUTE)
    const watch = watched(world)
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id, adopted: true })
    expect(watch.ids).toEqual([id])
    request(world, 'APIKey', 'now')
    await world.clock.advance(3 * MINUTE)
    // Adopted: the object that it replaced is retained.
    expect(watch.ids).toEqual([watch.opened, id])
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id: watch.opened, lastHandledRotateAt: 'now' })
    await world.clock.advance(10 * MINUTE)
    expect(watch.tokens).toHaveLength(2)
    expect(watch.ids).toContain(id)
    world.kill()
  })
})
