import { afterAll, describe, expect, test } from 'vitest'
import { World } from '../../cluster/support/world.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { partOf } from '../support/size.ts'
import { listTroubles, REQUEST_TIMEOUT, type Trouble, writeTroubles } from './support/api-troubles.ts'
import { applyBystanders, expectAllGone, expectAtRest, setUp } from './support/at-rest.ts'
import { longCollections, seedForeign } from './support/foreign.ts'
import { LifeRound } from './support/life-round.ts'
import { livesTitled, living } from './support/lives.ts'
import { Made } from './support/made.ts'

/** Concurrent operators, each with an account and a namespace of its own. */
const OPERATORS = 3
const FLAGS = ['--workers', '60', '--request-timeout', REQUEST_TIMEOUT]
/**
 * The operator distrusts the disappearance of many objects at once (`docs/decisions/0006-circuit-breaker.md`): delete
 * one half after the other.
 */
const HALVED: ReadonlySet<string> = new Set(['external delete', 'delete'])
/**
 * The minimum number of writes that meet each fault: one of each kind when it is created, edited, corrected, created
 * again and deleted.
 */
const LEAST_EACH = 25
/** After these acts everything is checked; leftovers of the others show then. */
const CHECKED: ReadonlySet<string> = new Set(['create', 'drift', 'external delete', 'delete'])
/** A refusal of the whole account must end soon: the operator must not learn a limit from it that delays the next. */
const RATE = { rateLimit: { requestsPerMinute: 60_000 } }

const list = new CaseList('API faults', 'real', { least: 200 })
const lives = livesTitled('minimal')

afterAll(() => list.end())

describe.concurrent('one object is left of each resource of every kind, whatever becomes of', () => {
  // The simulation plays all of them in each run.
  const troubles = partOf(writeTroubles, 2)
  const parts = Array.from({ length: OPERATORS }, (_, part) => {
    return troubles.filter((_trouble, index) => index % OPERATORS === part)
  })

  test.each(parts.map((part) => ({ part, faults: part.map(({ fault, point }) => `${fault} ${point}`).join(', ') })))(
    'a write of its life: $faults',
    { timeout: 900_000 },
    async ({ part }) => {
      await using world = await World.open({ account: RATE, flags: FLAGS })
      const made = new Made(world)
      await setUp(world)
      await applyBystanders(world, made)
      for (const [index, trouble] of part.entries()) await liveWith(trouble, world, made, `r${index}`)
      await expectAllGone(world)
    },
  )

  test('a list', {
    timeout: 900_000,
  }, async () => {
    // A list lags at most a second, and two that must agree are further apart: the promises rely on that.
    await using world = await World.open({ account: RATE, flags: [...FLAGS, '--scan-pause', '1500ms'] })
    const made = new Made(world)
    await setUp(world)
    const foreign = { objects: await seedForeign(world) }
    await applyBystanders(world, made)
    const long = lives.filter((life) => longCollections.includes(living(life, 'any').path))
    expect(long.length).toBe(longCollections.length)
    for (const [index, trouble] of listTroubles.entries()) {
      const round = new LifeRound(world, made, long, `l${index}`)
      await round.begin()
      for (const act of ['create', 'drift', 'external delete']) {
        const cases = await round.liveWithLists(act, trouble)
        expect(cases.length, `${trouble.fault} ${act}`).toBe(long.length)
        await judge(cases, () => expectAtRest(world, round.subjects, made, foreign))
      }
    }
    await expectAllGone(world, foreign)
  })
})

/** One resource of each kind goes through its life cycle, and each sort of write meets the fault once. */
async function liveWith(trouble: Trouble, world: World, made: Made, suffix: string): Promise<void> {
  const round = new LifeRound(world, made, lives, suffix)
  await round.begin()
  let met = 0
  for (const [number, act] of round.acts.entries()) {
    // Each refusal blocks the whole account and lowers the learned limit: do a few at a time, then start a new process.
    const isRefusal = trouble.fault.startsWith('429')
    if (isRefusal) await restart(world)
    const cases: Case[] = []
    for (const half of HALVED.has(act) ? [0, 1] : [undefined]) {
      const takesPart = (index: number): boolean => half === undefined || index % 2 === half
      const meets = (index: number): boolean => !isRefusal || index % 3 === number % 3
      cases.push(...(await round.live(act, trouble, takesPart, meets)))
    }
    met += cases.length
    await judge(cases, async () => {
      if (CHECKED.has(act)) await expectAtRest(world, round.subjects, made)
    })
  }
  await round.end()
  await expectAtRest(world, round.subjects, made)
  expect(met, `${trouble.fault} ${trouble.point}`).toBeGreaterThanOrEqual(LEAST_EACH)
}

/** Lists the cases according to whether the check passes. */
async function judge(cases: readonly Case[], check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    for (const each of cases) list.failed(each, String(error))
    throw error
  }
  for (const each of cases) list.passed(each)
}

async function restart(world: World): Promise<void> {
  await world.operator.stop()
  await world.startOperator()
}
