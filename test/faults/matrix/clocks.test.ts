import { expect, test } from 'vitest'
import { episodes } from '../simulation/episodes.ts'
import type { Trouble } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import type { Reference } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long clocks are wrong. */
const WRONG_MS = 60_000

interface Step {
  readonly whose: 'operators' | 'servers'
  readonly ms: number
  readonly words: string
}

const STEPS: readonly Step[] = [
  { whose: 'operators', ms: 40 * DAY_MS, words: "operators' clock 40 days ahead" },
  { whose: 'operators', ms: -40 * DAY_MS, words: "operators' clock 40 days behind" },
  { whose: 'operators', ms: HOUR_MS, words: "operators' clock an hour ahead" },
  { whose: 'servers', ms: 40 * DAY_MS, words: "servers' clock 40 days ahead" },
  { whose: 'servers', ms: -40 * DAY_MS, words: "servers' clock 40 days behind" },
]

test('clocks that are far off for a minute, from any write on', { tags: 'nightly' }, async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const episode of some(episodes, 20)) {
    const { keepsObject: _, ...reference }: Reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      for (const step of STEPS) {
        const what = { write: `${episode.title}: ${write}`, point: 'before', fault: step.words }
        const trouble = (world: SimulatedWorld, oracle: Oracle): Trouble => wrongFrom({ world, oracle }, at, step)
        // Rest is reached before the clock is right again.
        cases.push({ episode, what, trouble, meanwhile: (world) => world.advance(2 * WRONG_MS), reference })
      }
    }
  }
  await playAll('clocks', laboratory, some(cases, 60), 2000)
})

test.each(['operators', 'servers'] as const)(
  'a token rotated while the clock of the %s is 40 days behind the other keeps its predecessor for the overlap, and its own age',
  async (whose) => {
    const laboratory = await Laboratory.open()
    const world = laboratory.world({ kinds: new Set(['APIKey']) })
    try {
      const oracle = await Oracle.watch(world)
      const keys = () => {
        const { accounts } = world.api.emulator.admin.snapshot()
        return Object.values(accounts).flatMap(({ objects }) => (objects.api_keys ?? []).map(({ id }) => id))
      }
      const held = () => world.get('APIKey', 'ci')?.status
      world.apply('APIKey', 'ci', { rotation: { interval: '720h', overlap: '1h' } })
      expect(await oracle.untilRest()).toEqual([])
      const former = held()?.id
      world.stepWall(whose, -40 * DAY_MS)
      world.annotate('APIKey', 'ci', { 'culvert.dev/rotate-requested-at': 'now' })
      await world.advance(WRONG_MS)
      const successor = held()?.id
      expect(successor).not.toBe(former)
      world.stepWall(whose, 40 * DAY_MS)
      // Timers never step: a process that begins after that goes by what was recorded.
      world.down()
      world.up()
      await world.advance(HOUR_MS - 3 * WRONG_MS)
      expect(keys()).toContain(former)
      await world.advance(6 * WRONG_MS)
      expect(keys()).not.toContain(former)
      // The next rotation is due 30 days after this one.
      await world.advance(2 * HOUR_MS)
      expect(held()?.id).toBe(successor)
      expect(await oracle.untilRest()).toEqual([])
    } finally {
      world.down()
    }
  },
)

interface Scene {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
}

/** The clock jumps when the write at that index, from 0, is sent, and is corrected a minute later. */
function wrongFrom({ world, oracle }: Scene, at: number, { whose, ms }: Step): Trouble {
  let passed = 0
  return {
    request: (sighting) => {
      if (!isWrite(sighting)) return undefined
      if (passed === at) {
        // It was decided by the previous clock.
        oracle.excuse(sighting)
        world.stepWall(whose, ms)
        world.time.setTimer(WRONG_MS, () => setRight(world, { whose, ms }))
      }
      passed += 1
      return undefined
    },
    unspent: () => (passed > at ? [] : [`there was no write ${at}`]),
  }
}

/**
 * A server that was ahead is not set back: what the service began by its own clock, such as a certificate, it finishes
 * by that clock. The operators' clocks follow.
 */
function setRight(world: SimulatedWorld, { whose, ms }: Pick<Step, 'whose' | 'ms'>): void {
  if (whose === 'servers' && ms > 0) world.stepWall('operators', ms)
  else world.stepWall(whose, -ms)
}
