import { expect, test } from 'vitest'
import { type CustomResource, statusOf } from '../../../src/managed/cr.ts'
import { PAUSED } from '../../../src/managed/names.ts'
import type { Sighting } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'

const COUNT = 60
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

test.each([1, 4])(
  'resources that wait for minutes, with a budget of %i requests a minute, say so once, and are then made as any',
  async (requestsPerMinute) => {
    const laboratory = await Laboratory.open()
    const rateLimit = { requestsPerMinute, burst: 1 }
    const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { rateLimit } })
    try {
      const oracle = await Oracle.watch(world)
      makeMany(world)
      await world.advance(25_000)
      expect(oracle.writes.filter(isStatusOf('backend-59'))).toEqual([])
      // Half a minute in the queue, and as long again where the reconcile began just before.
      await world.advance(36_000)
      const waiting = backends(world).filter((cr) => statusOf(cr).id === undefined)
      expect(waiting.length).toBeGreaterThan(COUNT - 10)
      expect(waiting.map(told)).toEqual(waiting.map(() => ['False', 'Progressing', true]))
      // Nobody has looked at the spec yet.
      expect(waiting.filter((cr) => (statusOf(cr).observedGeneration ?? -1) !== -1)).toEqual([])
      await world.advance(60_000)
      const stillWaiting = backends(world).filter((cr) => statusOf(cr).id === undefined)
      const writes = stillWaiting.map((cr) => oracle.writes.filter(isStatusOf(cr.metadata.name)).length)
      expect(writes).toEqual(stillWaiting.map(() => 1))
      world.editAccount({ rateLimit: null })
      expect(await oracle.untilRest()).toEqual([])
      expect(oracle.idle).toEqual([])
    } finally {
      world.down()
    }
  },
)

test('a wait is not told of a resource that is paused, was deleted or has been looked at before', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  try {
    const oracle = await Oracle.watch(world)
    world.apply('Backend', 'at-work', tunnels)
    expect(await oracle.untilRest()).toEqual([])
    world.editAccount({ rateLimit: { requestsPerMinute: 1, burst: 1 } })
    await world.advance(30_000)
    const before = oracle.writes.filter(isStatusOf('at-work')).length
    makeMany(world)
    await world.advance(5_000)
    world.apply('Backend', 'at-work', { ...tunnels, description: 'edited' })
    world.annotate('Backend', 'backend-58', { [PAUSED]: 'true' })
    world.delete('Backend', 'backend-59')
    await world.advance(50_000)
    const unmade = backends(world).filter((cr) => statusOf(cr).id === undefined && !isPaused(cr))
    expect(unmade.map(told)).toEqual(unmade.map(() => ['False', 'Progressing', true]))
    expect(told(world.get('Backend', 'at-work'))?.[0]).toBe('True')
    expect(oracle.writes.filter(isStatusOf('at-work')).length - before).toBeLessThanOrEqual(1)
    expect(told(world.get('Backend', 'backend-58'))).toBeUndefined()
    expect(oracle.writes.filter(isStatusOf('backend-59'))).toEqual([])
  } finally {
    world.down()
  }
})

test.each(['Conflict', 'killed'])('a wait that could not be told, %s, leaves nothing wrong', async (what) => {
  const laboratory = await Laboratory.open()
  const rateLimit = { requestsPerMinute: 2, burst: 1 }
  const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { rateLimit } })
  try {
    const oracle = await Oracle.watch(world)
    world.trouble = {
      request: (sighting) => {
        if (world.time.now < 28_000 || !/\/backend-\d+\/status$/.test(sighting.path)) return undefined
        if (what === 'killed') {
          world.calm()
          world.operators.at(-1)?.process.kill()
          return undefined
        }
        return { type: 'answer', when: 'before', answer: { status: 409, headers: {}, body: CONFLICT } }
      },
    }
    makeMany(world)
    await world.advance(90_000)
    world.calm()
    world.editAccount({ rateLimit: null })
    expect(await oracle.untilRest()).toEqual([])
  } finally {
    world.down()
  }
})

const CONFLICT = '{"kind":"Status","reason":"Conflict","code":409,"message":"the object has been modified"}'

function makeMany(world: SimulatedWorld): void {
  for (let each = 0; each < COUNT; each++) world.apply('Backend', `backend-${each}`, tunnels)
}

function backends(world: SimulatedWorld): readonly CustomResource[] {
  return world.all().filter(({ kind, metadata }) => kind === 'Backend' && metadata.name !== 'at-work')
}

function isPaused({ metadata }: CustomResource): boolean {
  return metadata.annotations?.[PAUSED] !== undefined
}

/** Status and reason of Ready, and whether its message names the budget. */
function told(cr: CustomResource | undefined): readonly unknown[] | undefined {
  const ready = cr?.status?.conditions?.find(({ type }) => type === 'Ready')
  return ready && [ready.status, ready.reason, ready.message.includes('spec.rateLimit')]
}

/** Writes of the status of that Backend. */
function isStatusOf(name: string): (sighting: Sighting) => boolean {
  return ({ path, method }) => method === 'PATCH' && path.split('?')[0]?.endsWith(`/backends/${name}/status`) === true
}
