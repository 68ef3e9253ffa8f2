import { expect, test } from 'vitest'
import { begin, conditionOf, countOf, objectsIn, patch, type Scene, until } from '../../simulation/scenario.ts'

const PATH = 'backends/tunnel_group'
const HOUR_MS = 3_600_000

const ours = (description: string) => ({ type: 'TunnelGroup', tunnelGroup: {}, description })

/** A backend that another installation manages too: at each resync that one writes its own description. */
async function contested(resyncInterval = '60s'): Promise<Scene & { readonly turns: (ms: number) => Promise<number> }> {
  const scene = await begin(['Backend'], { accountSpec: { resyncInterval } })
  const { world, writes } = scene
  world.apply('Backend', 'web', ours('ours'))
  await until(world, 'Ready', () => condition({ world }, 'Ready')?.status === 'True')
  const turns = async (ms: number): Promise<number> => {
    const { length } = writes
    for (const end = world.time.now + ms; world.time.now < end; ) {
      await change({ world }, 'theirs')
      await world.advance(Math.min(120_000, ms))
    }
    return countOf(writes, `api PATCH /${PATH}/{id}`, length)
  }
  return { ...scene, turns }
}

function condition({ world }: Pick<Scene, 'world'>, type: string) {
  return conditionOf(world.get('Backend', 'web'), type)
}

async function descriptionIn({ world }: Pick<Scene, 'world'>): Promise<unknown> {
  return (await objectsIn(world, PATH))[0]?.description
}

async function change({ world }: Pick<Scene, 'world'>, description: string): Promise<void> {
  await world.api.ask('PATCH', `/${PATH}/${world.get('Backend', 'web')?.status?.id}`, { description })
}

test('an object that somebody else changes back each time is written a few times, and then a condition says so', async () => {
  const { world, turns } = await contested()
  const first = await turns(HOUR_MS)
  expect(first).toBeGreaterThanOrEqual(3)
  expect(first).toBeLessThanOrEqual(6)
  const message = expect.stringMatching(/^update description: another client keeps reverting this/)
  expect(condition({ world }, 'Synced')).toMatchObject({ status: 'False', reason: 'TakenOver', message })
  expect(condition({ world }, 'Stalled')?.status).toBe('True')
  // At most once an hour from then on.
  expect(await turns(12 * HOUR_MS)).toBeLessThanOrEqual(12)
})

test('a contested object is written again after a change of the spec and on request, and Ready when the other lets go', async () => {
  const scene = await contested()
  const { world, oracle, turns } = scene
  await turns(HOUR_MS)
  world.apply('Backend', 'web', ours('ours, edited'))
  expect(await turns(600_000)).toBeGreaterThanOrEqual(1)
  await turns(HOUR_MS)
  patch(world, 'Backend', 'web', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': 'now' } } })
  await until(world, 'written', async () => (await descriptionIn(scene)) === 'ours, edited', 120_000)
  await until(world, 'Synced', () => condition(scene, 'Synced')?.status === 'True', 120_000)
  expect(oracle.violations).toEqual([])
})

test('changes that differ from each other are repaired, however many there are', async () => {
  const scene = await contested()
  for (let number = 0; number < 10; number++) {
    await change(scene, `by hand, ${number}`)
    await until(scene.world, 'repaired', async () => (await descriptionIn(scene)) === 'ours', 120_000)
  }
})

test('a change by hand now and then is always repaired', async () => {
  const scene = await contested('10m')
  for (let day = 0; day < 4; day++) {
    await scene.world.advance(7 * HOUR_MS)
    await change(scene, 'by hand')
    await scene.world.advance(700_000)
    expect(await descriptionIn(scene)).toBe('ours')
  }
})
