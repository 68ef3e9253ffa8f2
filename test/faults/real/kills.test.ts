import { afterAll, describe, expect, test } from 'vitest'
import { expectAsWritten } from '../../cluster/support/as-written.ts'
import { type Room, wavesOf } from '../../cluster/support/journeys.ts'
import { Stage } from '../../cluster/support/stage.ts'
import type { World } from '../../cluster/support/world.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { partOf } from '../support/size.ts'
import { applyBystanders, expectAllGone, expectAtRest, setUp } from './support/at-rest.ts'
import { type Life, livesTitled } from './support/lives.ts'
import { Made } from './support/made.ts'
import { Restarted } from './support/restarted.ts'
import { type Aim, bring, caseOf, leave, record, settled, Walk } from './support/walks.ts'

/** A short Lease, with room for renewals on a busy machine. */
const LEASE = ['--lease-duration', '9s', '--renew-deadline', '6s', '--retry-period', '300ms']
const FLAGS = [...LEASE, '--request-timeout', '2s']
/**
 * How many resources head for their stops at once. A request that is held is abandoned in time, and makes room for
 * others.
 */
const ROOM: Room = { atKube: 26, atApi: 10 }
/** Operators, each with an account and a namespace of its own, that are killed independently. */
const OPERATORS = 3

const list = new CaseList('kills', 'real', { least: 300 })
const lives = livesTitled('minimal')

afterAll(() => list.end())

describe.concurrent('an operator killed before each write, after it and once it was answered', () => {
  const parts = Array.from({ length: OPERATORS }, (_, part) =>
    lives.filter((_life, index) => index % OPERATORS === part),
  )

  test.each(parts.map((part) => ({ part, kinds: part.map(({ kind }) => kind).join(', ') })))(
    'leaves exactly one object of each: $kinds',
    { timeout: 900_000 },
    async ({ part }) => {
      await using stage = await Stage.open({ resources: 80, flags: FLAGS, leaderElect: true })
      const { world } = stage
      const made = new Made(world)
      await setUp(world)
      await using operator = new Restarted(stage)
      await operator.start()
      await applyBystanders(world, made)
      const aims = await record(stage, made, part)
      expectRecorded(part, aims)
      // The simulation plays all of them in each run.
      for (const [index, wave] of wavesOf(partOf(aims, 2), ROOM).entries())
        await killAt(stage, operator, made, wave, index)
      await expectAllGone(world)
    },
  )
})

/** Every act has its writes: an update is one write and a status, a create records its attempt first. */
function expectRecorded(part: readonly Life[], aims: readonly Aim[]): void {
  for (const life of part) {
    for (const act of life.acts) {
      const writes = aims.filter((aim) => aim.life === life && aim.act === act && aim.stop.when === 'after')
      expect(writes.length, `${life.name} ${act.name}`).toBeGreaterThanOrEqual(act.makesAnother ? 3 : 1)
    }
  }
}

/** Kills the operator once each aim has a resource stopped at it, and runs the next one until all is at rest. */
async function killAt(
  stage: Stage,
  operator: Restarted,
  made: Made,
  wave: readonly Aim[],
  index: number,
): Promise<void> {
  const { world, stops } = stage
  const walks = wave.map((aim, at) => new Walk(stage, made, aim, `${aim.life.name}-w${index}-${at}`))
  const cases = wave.map(caseOf)
  const caseOfWalk = (walk: Walk): Case => cases[walks.indexOf(walk)] as Case
  try {
    const there = await bring(walks, world)
    await operator.kill()
    stops.releaseAll()
    await operator.start()
    const { left, why } = await settled(world, walks, (walk, cr) => walk.isOver(cr))
    for (const walk of left) list.failed(caseOfWalk(walk), wordsOf(why))
    await judge(world, made, walks, left)
    for (const walk of there) if (!left.includes(walk)) list.passed(caseOfWalk(walk))
    await leave(world, walks)
  } catch (error) {
    for (const what of cases) list.failed(what, wordsOf(error))
    throw error
  }
}

/** Judges each by its own result; if one has not finished, the account as a whole cannot be judged. */
async function judge(world: World, made: Made, walks: readonly Walk[], left: readonly Walk[]): Promise<void> {
  const subjects = walks.filter((walk) => !left.includes(walk)).flatMap(({ comesTo }) => comesTo ?? [])
  if (left.length === 0) await expectAtRest(world, subjects, made)
  else await expectAsWritten(world, subjects)
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
