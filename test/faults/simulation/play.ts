import type { Choices } from '../../../src/emulator/choices/choices.ts'
import { EPISODE_SEED, type Episode, kindsOf } from './episodes.ts'
import type { Sighting, Trouble } from './faults.ts'
import { Oracle, type Picture, textOf, withoutChance } from './oracle.ts'
import type { Laboratory, SimulatedWorld } from './world.ts'
import { unlikeWritten } from './written-down.ts'

/** Longer than the account's interval between two looks, with its jitter. */
const LOOK_MS = 75_000

/** How an episode goes when nothing fails. */
export interface Reference {
  /** What the operator wrote, in order. */
  readonly writes: readonly string[]
  /** Every request that it sent. */
  readonly requests: readonly string[]
  readonly picture: Picture
  /** Whether the resource has the same object before and after. Default: that may be otherwise. */
  readonly keepsObject?: boolean
}

export interface PlayOptions {
  readonly seed?: number
  readonly replicas?: number
  /** Readies the servers before anything is there; what it puts into the account is nobody's resource. */
  readonly prepare?: (world: SimulatedWorld) => Promise<void>
  /** How many orphans there may be, as `Oracle.judge` takes it. */
  readonly orphans?: number
  /** How many objects may be made although they are there, as `Oracle.excuseRemaking` takes it. */
  readonly remade?: number
  /** Made when the episode's turn comes. */
  readonly trouble?: (world: SimulatedWorld, oracle: Oracle) => Trouble
  /** Further doings, once the episode has begun. */
  readonly meanwhile?: (world: SimulatedWorld) => Promise<void>
  readonly reference?: Reference
  /** Whether nothing fails, so that the object is compared with what people wrote down, and no write may be idle. */
  readonly isWritten?: boolean
  /** As of the world. */
  readonly choices?: Choices
}

/** What came of an episode. */
export interface Outcome {
  /** What was wrong; empty when all is well. */
  readonly problems: readonly string[]
  /** Requests of operators from the turn on, until it was at rest. */
  readonly requests: readonly Sighting[]
  readonly picture: Picture
  /** Whether the resource has the same object before and after. */
  readonly keepsObject?: boolean
}

/**
 * Plays it without a fault, twice: what differs is chance. The first time goes by the chance of cases: they are planned from its requests,
 * and up to a case's fault the same ones come. By another chance the account may be looked at sooner or later, and the writes are others.
 * @throws Error when it does not end well even then
 */
export async function referenceOf(laboratory: Laboratory, episode: Episode, replicas: number = 0): Promise<Reference> {
  const first = await play(laboratory, episode, { replicas, isWritten: true })
  const second = await play(laboratory, episode, { replicas, seed: 12 })
  const problems = [...first.problems, ...second.problems]
  if (problems.length > 0) throw new Error(`${episode.title} fails without a fault:\n${problems.join('\n')}`)
  const requests = first.requests.map(textOf)
  return {
    writes: requests.filter((request) => !/ GET /.test(request)),
    requests,
    picture: withoutChance(first.picture, second.picture) as Picture,
    keepsObject: first.keepsObject === true && second.keepsObject === true,
  }
}

/**
 * Brings a world to the episode's turn, lets it happen amid the trouble, and judges; then everything is deleted, without trouble, and
 * judged again: nothing is left.
 */
export async function play(laboratory: Laboratory, episode: Episode, options: PlayOptions = {}): Promise<Outcome> {
  const {
    seed = 1,
    replicas = 0,
    prepare,
    orphans,
    remade = 0,
    trouble,
    meanwhile,
    reference,
    isWritten = false,
    choices,
  } = options
  const chosen = choices === undefined ? {} : { choices }
  const world = laboratory.world({ seed, kinds: kindsOf(episode), replicas, ...chosen })
  try {
    world.api.emulator.admin.seed(EPISODE_SEED)
    await prepare?.(world)
    const oracle = await Oracle.watch(world)
    oracle.excuseRemaking(remade)
    for (const { kind, name, spec } of episode.needs) world.apply(kind, name, spec)
    if (episode.before !== undefined) world.apply(episode.kind, episode.name, episode.before)
    const ready = await oracle.untilRest()
    if (ready.length > 0) return { problems: ready, requests: [], picture: {} }
    await world.advance(1_000)
    const before = world.get(episode.kind, episode.name)?.status?.id
    const requests: Sighting[] = []
    const made = trouble?.(world, oracle)
    world.trouble = {
      request: (sighting) => {
        if (!isNoise(sighting)) requests.push(sighting)
        return made?.request(sighting)
      },
      frame: (watch, line) => made?.frame?.(watch, line),
    }
    await episode.act(world, oracle)
    await meanwhile?.(world)
    if (episode.isUnseen) await world.advance(LOOK_MS)
    const problems = [...(await oracle.untilRest())]
    const within = requests.length
    problems.push(...(await oracle.judge(reference?.picture, orphans)), ...(made?.unspent?.() ?? []))
    const picture = await oracle.picture()
    const keepsObject = before !== undefined && world.get(episode.kind, episode.name)?.status?.id === before
    if (reference?.keepsObject !== undefined && reference.keepsObject !== keepsObject)
      problems.push(keepsObject ? `${before} is there still` : `${before} has given way to another object`)
    world.calm()
    if (isWritten) problems.push(...(await unlikeWritten(world, episode)), ...oracle.idle)
    if (problems.length === 0) problems.push(...(await judgeEnd(world, oracle)))
    return { problems, requests: requests.slice(0, within), picture, keepsObject }
  } finally {
    world.down()
  }
}

/** Deletes what is reported as orphaned, as people do, and then every resource at once. */
async function judgeEnd(world: SimulatedWorld, oracle: Oracle): Promise<readonly string[]> {
  for (const { collection, id } of world.account?.status?.orphans ?? [])
    await world.api.ask('DELETE', `/${collection}/${id}`)
  for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
  return await oracle.judge({})
}

/** Leases, Events and watches are no part of what is counted. */
function isNoise({ path, query }: Sighting): boolean {
  return query.has('watch') || /\/(leases|events)(\/|$)/.test(path)
}
