import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const PATH = 'backends/tunnel_group'
const HOUR_MS = 3_600_000

const ours = (description: string) => ({ type: 'TunnelGroup', tunnelGroup: {}, description })

/** A backend that another installation manages too: at each resync that one writes its own description. */
async function contested(): Promise<{ readonly world: ModelWorld; readonly turns: (ms: number) => Promise<number> }> {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', ours('ours'))
  await world.until('Ready', () => conditionOf(world, 'Ready')?.status === 'True')
  const turns = async (ms: number): Promise<number> => {
    const { length } = world.writes
    for (const end = world.clock.monotonic() + ms; world.clock.monotonic() < end; ) {
      const [object] = world.account.list(PATH)
      if (object?.description !== 'theirs') world.account.update(PATH, object?.id ?? '', { description: 'theirs' })
      await world.clock.advance(Math.min(120_000, ms))
    }
    return world.writes.slice(length).filter((write) => write === `PATCH ${PATH}`).length
  }
  return { world, turns }
}

function conditionOf(world: ModelWorld, wanted: string) {
  return world.get('Backend', 'web')?.status?.conditions?.find(({ type }) => type === wanted)
}

test('an object that somebody else changes back each time is written a few times, and then a condition says so', async () => {
  const { world, turns } = await contested()
  const first = await turns(HOUR_MS)
  expect(first).toBeGreaterThanOrEqual(3)
  expect(first).toBeLessThanOrEqual(6)
  const message = expect.stringMatching(/^update description: another client keeps undoing this/)
  expect(conditionOf(world, 'Synced')).toMatchObject({ status: 'False', reason: 'TakenOver', message })
  expect(conditionOf(world, 'Stalled')?.status).toBe('True')
  // At most once an hour from then on.
  expect(await turns(12 * HOUR_MS)).toBeLessThanOrEqual(12)
})

test('a contested object is written again after a change of the spec and on request, and Ready when the other lets go', async () => {
  const { world, turns } = await contested()
  await turns(HOUR_MS)
  world.apply('Backend', 'web', ours('ours, edited'))
  expect(await turns(600_000)).toBeGreaterThanOrEqual(1)
  await turns(HOUR_MS)
  world.patch('Backend', 'web', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': 'now' } } })
  await world.until('written', () => world.account.list(PATH)[0]?.description === 'ours, edited', 120_000)
  await world.until('Synced', () => conditionOf(world, 'Synced')?.status === 'True', 120_000)
  expect(world.bugs).toEqual([])
})

test('changes that differ from each other are put right, however many there are', async () => {
  const { world } = await contested()
  for (let change = 0; change < 10; change++) {
    world.account.update(PATH, world.account.list(PATH)[0]?.id ?? '', { description: `by hand, ${change}` })
    await world.until('put right', () => world.account.list(PATH)[0]?.description === 'ours', 120_000)
  }
})

test('a change by hand now and then is always put right', async () => {
  const { world } = await contested()
  for (let day = 0; day < 4; day++) {
    await world.clock.advance(7 * HOUR_MS)
    world.account.update(PATH, world.account.list(PATH)[0]?.id ?? '', { description: 'by hand' })
    await world.until('put right', () => world.account.list(PATH)[0]?.description === 'ours', 120_000)
  }
}, 60_000)
