import { EDIT_SEED } from '../../../kinds/shared/account.ts'
import { type Case, CaseList } from '../../support/case-list.ts'
import { leastOf, partOf } from '../../support/size.ts'
import { type Episode, kindsOf } from '../episodes.ts'
import { Oracle } from '../oracle.ts'
import { Laboratory, type SimulatedWorld } from '../world.ts'
import { doubles } from './taking-back.ts'

/**
 * A case with a life of its own, and a function that plays it: returns the violations, or undefined if there is no such
 * moment.
 */
export interface Trial {
  readonly what: Case
  readonly run: (laboratory: Laboratory) => Promise<readonly string[] | undefined>
}

/**
 * Plays the trials as a suite, without those that have no such moment.
 * @param least fewer cases than this are a failure when the whole matrix is run
 * @param contrary see `Laboratory.open`
 * @throws Error naming the cases that failed
 */
export async function tryAll(suite: string, trials: readonly Trial[], least: number, contrary?: string): Promise<void> {
  const laboratory = await Laboratory.open(contrary)
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const { what, run } of trials) {
    const problems = await run(laboratory)
    if (problems !== undefined) list.add(what, problems)
  }
  await list.end()
}

/** A change of a life at rest. Returns the violations; undefined if the life has no such moment. */
export type Scenario = (
  world: SimulatedWorld,
  oracle: Oracle,
  episode: Episode,
) => Promise<readonly string[] | undefined>

/**
 * Brings a life to rest, plays the scenario, and deletes everything. Returns the violations; undefined if there is no
 * such moment.
 * @param replicas that take part in leader election. Default: one operator that leads without
 * @param ownDoing selects the final problems that the operator is responsible for. Default: all
 */
export async function playLife(
  laboratory: Laboratory,
  episode: Episode,
  scenario: Scenario,
  { replicas = 0, ownDoing = (_, problems) => problems }: LifeOptions = {},
): Promise<readonly string[] | undefined> {
  const world = laboratory.world({ kinds: kindsOf(episode), replicas })
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of episode.needs) world.apply(kind, name, spec)
    if (episode.before !== undefined) world.apply(episode.kind, episode.name, episode.before)
    const unrest = await oracle.untilRest()
    if (unrest.length > 0) return unrest
    await world.advance(1_000)
    const problems = await scenario(world, oracle, episode)
    if (problems === undefined || problems.length > 0) return problems
    // Of two reported objects, people keep the new one.
    for (const { path, id } of await doubles(world)) await world.api.ask('DELETE', `/${path}/${id}`)
    for (const { collection, id } of world.account?.status?.orphans ?? []) {
      await world.api.ask('DELETE', `/${collection}/${id}`)
    }
    oracle.allow({})
    for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
    return ownDoing(world, await oracle.judge())
  } finally {
    world.down()
  }
}

interface LifeOptions {
  readonly replicas?: number
  readonly ownDoing?: (world: SimulatedWorld, problems: readonly string[]) => readonly string[]
}

/**
 * One of `count`, evenly spread, and others in another run of the whole matrix. `count` is coprime to their order, so
 * that every sort is included.
 */
export function oneOf(count: number, trials: readonly Trial[]): readonly Trial[] {
  return partOf(trials, count)
}
