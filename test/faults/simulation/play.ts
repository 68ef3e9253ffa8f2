import type { Choices } from '../../../src/emulator/choices/choices.ts'
import { EDIT_SEED } from '../../kinds/shared/account.ts'
import { type Episode, kindsOf } from './episodes.ts'
import type { Sighting, Trouble } from './faults.ts'
import { LOOK_MS, Oracle, type Picture, textOf, withoutChance } from './oracle.ts'
import type { Laboratory, SimulatedWorld, WorldOptions } from './world.ts'
import { unlikeWritten } from './written-down.ts'

/** The course of an episode when nothing fails. */
export interface Reference {
  /** The operator's writes, in order. */
  readonly writes: readonly string[]
  /** All of its requests. */
  readonly requests: readonly string[]
  readonly picture: Picture
  /** Whether the resource has the same object before and after. Default: not checked. */
  readonly keepsObject?: boolean
}

export interface PlayOptions {
  readonly seed?: number
  readonly replicas?: number
  /** Further options of the world. */
  readonly world?: Pick<WorldOptions, 'divisions' | 'accountLabels'>
  /** Prepares the servers; objects that it puts into the account belong to no resource. */
  readonly prepare?: (world: SimulatedWorld) => Promise<void>
  /** The maximum number of orphans, as for `Oracle.judge`. */
  readonly orphans?: number
  /** How many objects may be created although they exist, as for `Oracle.excuseRemaking`. */
  readonly remade?: number
  /** Built when the episode's act begins. */
  readonly trouble?: (world: SimulatedWorld, oracle: Oracle) => Trouble
  /** Further actions once the episode has begun. */
  readonly meanwhile?: (world: SimulatedWorld) => Promise<void>
  readonly reference?: Reference
  /**
   * Whether nothing fails, so that the object is compared with the one written down by people, and no write may be
   * idle.
   */
  readonly isWritten?: boolean
  /** As of the world. */
  readonly choices?: Choices
}

/** The outcome of an episode. */
export interface Outcome {
  /** Violations; empty if all is well. */
  readonly problems: readonly string[]
  /** Requests of operators from the act until all was at rest. */
  readonly requests: readonly Sighting[]
  readonly picture: Picture
  /** Whether the resource has the same object before and after. */
  readonly keepsObject?: boolean
}

/**
 * Plays it without a fault, twice: any difference is chance. The first time uses the randomness of the cases: they are
 * planned from its requests, and send the same ones up to their fault. With other randomness the account may be polled
 * sooner or later, and the writes differ.
 * @param extended what every playing of the episode has in common
 * @throws Error when even that does not end well
 */
export async function referenceOf(
  laboratory: Laboratory,
  episode: Episode,
  replicas: number = 0,
  extended: (options: PlayOptions) => PlayOptions = (options) => options,
): Promise<Reference> {
  const first = await play(laboratory, episode, extended({ replicas, isWritten: true }))
  const second = await play(laboratory, episode, extended({ replicas, seed: 12 }))
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
 * Brings a world to the episode, lets it happen under the faults, and judges; then deletes everything, without faults,
 * and judges again: nothing is left.
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
    world: further = {},
  } = options
  const chosen = choices === undefined ? {} : { choices }
  const world = laboratory.world({ seed, kinds: kindsOf(episode), replicas, ...further, ...chosen })
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
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
    // With leader election, nearly all requests of a silence are for the Lease.
    const settleMs = replicas > 0 || further.divisions !== undefined ? LOOK_MS : undefined
    problems.push(...(await oracle.judge(reference?.picture, orphans, settleMs)), ...(made?.unspent?.() ?? []))
    const picture = await oracle.picture()
    const keepsObject = before !== undefined && world.get(episode.kind, episode.name)?.status?.id === before
    if (reference?.keepsObject !== undefined && reference.keepsObject !== keepsObject)
      problems.push(keepsObject ? `${before} still exists` : `${before} has given way to another object`)
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
  return await oracle.judge({}, 0, LOOK_MS)
}

/** Leases, Events and watches are not counted. */
function isNoise({ path, query }: Sighting): boolean {
  return query.has('watch') || /\/(leases|events)(\/|$)/.test(path)
}
