import type { Random } from '../../../../src/util/random.ts'
import { seededRandom } from '../../../builders/seeded-random.ts'
import type { ServerName } from '../../simulation/faults.ts'
import { type Role, roles } from './roles.ts'

/** Which servers something is about. */
export type Servers = ServerName | 'both'

/**
 * What requests suffer for a while.
 * - `cut off`: nothing comes back, and nothing arrives
 * - `down`: connections are refused
 * - `busy`: 429 for many
 * - `broken`: all that can befall a request, here and there: errors, resets and silence before and after, answers cut, things that take long
 * - `deadly`: an operator dies or stands still at a write, here and there
 * - `watches`: watches stall, tear, are reset, told twice, or have forgotten; lists expire between two pages
 */
export type Plague = 'cut off' | 'down' | 'busy' | 'broken' | 'deadly' | 'watches'

/** One thing that happens, `after` so many milliseconds. `who` counts in the cast. Lengths in milliseconds. */
export type Step = { readonly after: number } & (
  | { readonly does: 'apply'; readonly who: number; readonly version: number }
  | { readonly does: 'delete' | 'drift' | 'remove' | 'rotate'; readonly who: number }
  /** A manifest of some moment before is applied again, `back` of the way to the first one, from 0 to 1. */
  | { readonly does: 'old manifest'; readonly who: number; readonly back: number }
  | { readonly does: 'rest' | 'kill' }
  | { readonly does: 'pause' | 'outage'; readonly ms: number }
  | { readonly does: 'clock'; readonly whose: 'operators' | 'servers'; readonly ms: number }
  | {
      readonly does: 'plague'
      readonly plague: Plague
      readonly servers: Servers
      readonly ms: number
      /** How likely it is that a request suffers. */
      readonly chance: number
      readonly seed: number
    }
)

export interface Story {
  readonly seed: number
  readonly cast: readonly Role[]
  /** 0: one operator, without an election. */
  readonly replicas: number
  readonly steps: readonly Step[]
}

const HOUR = 3_600_000
const FORTY_DAYS = 40 * 24 * HOUR
const CLOCK_STEPS = [HOUR, -HOUR, FORTY_DAYS, -FORTY_DAYS]
const SHORTEST_MS = 1
/** A story has so many steps beside the first ones. */
const LEAST_STEPS = 3
const MORE_STEPS = 5

/** The story of that number: always the same. */
export function storyOf(seed: number): Story {
  const random = seededRandom(seed * 7919 + 13)
  const pick = picker(random)
  const cast = castOf(random)
  const replicas = random.next() < 0.15 ? 2 : 0
  const steps: Step[] = cast.map((_, who) => ({ after: 0, does: 'apply', who, version: 0 }))
  // Objects are made in the beginning, mostly: it takes troubles by then to hurt that.
  if (random.next() < 0.5) steps.unshift({ ...plagueOf(random, pick), after: 0, plague: pick(['broken', 'deadly']) })
  if (random.next() < 0.5) steps.push({ after: 0, does: 'rest' })
  const count = LEAST_STEPS + Math.floor(random.next() * MORE_STEPS)
  while (steps.length < cast.length + count) {
    const step = stepOf(random, pick, cast)
    steps.push(step)
    if (step.does === 'plague' && random.next() < 0.7) steps.push(editAmid(random, cast))
  }
  return { seed, cast, replicas, steps }
}

type Pick = <T>(from: readonly T[]) => T

function picker(random: Random): Pick {
  return (from) => from[Math.floor(random.next() * from.length)] as (typeof from)[number]
}

/** One resource, mostly. */
function castOf(random: Random): readonly Role[] {
  const size = random.next() < 0.65 ? 1 : random.next() < 0.7 ? 2 : 3
  const cast = new Set<Role>()
  while (cast.size < size) cast.add(picker(random)(roles))
  return [...cast]
}

function stepOf(random: Random, pick: Pick, cast: readonly Role[]): Step {
  const who = Math.floor(random.next() * cast.length)
  const { versions, hasToken } = cast[who] as Role
  // As often within the milliseconds of one request as within the seconds of a way back.
  const after = between(random, SHORTEST_MS, 15_000)
  const seconds = between(random, 500, 30_000)
  const drawn = random.next()
  if (drawn < 0.28) return { after, does: 'apply', who, version: Math.floor(random.next() * versions.length) }
  if (drawn < 0.36) return { after, does: 'delete', who }
  if (drawn < 0.4) return { after, does: 'drift', who }
  if (drawn < 0.44) return { after, does: 'remove', who }
  if (drawn < 0.48) return { after, does: hasToken ? 'rotate' : 'drift', who }
  if (drawn < 0.51) return { after, does: 'old manifest', who, back: random.next() }
  if (drawn < 0.56) return { after, does: 'kill' }
  if (drawn < 0.61) return { after, does: 'pause', ms: seconds }
  if (drawn < 0.64) return { after, does: 'outage', ms: seconds }
  if (drawn < 0.7) return { after, does: 'clock', whose: pick(['operators', 'servers']), ms: pick(CLOCK_STEPS) }
  return { ...plagueOf(random, pick), after }
}

function plagueOf(random: Random, pick: Pick): Extract<Step, { readonly does: 'plague' }> {
  const plague = pick<Plague>(['cut off', 'down', 'busy', 'broken', 'broken', 'broken', 'deadly', 'deadly', 'watches'])
  const servers = pick<Servers>(['api', 'kubernetes', 'both'])
  const chance = 0.05 + 0.45 * random.next()
  const ms = between(random, 500, 30_000)
  return { after: 0, does: 'plague', plague, servers, ms, chance, seed: Math.floor(random.next() * 2 ** 31) }
}

/** What happens while requests suffer: else there would seldom be any. */
function editAmid(random: Random, cast: readonly Role[]): Step {
  const who = Math.floor(random.next() * cast.length)
  const after = between(random, SHORTEST_MS, 500)
  const drawn = random.next()
  if (drawn < 0.2) return { after, does: 'delete', who }
  return { after, does: 'apply', who, version: Math.floor(random.next() * (cast[who] as Role).versions.length) }
}

/** Each order of magnitude as likely as the others. */
function between(random: Random, least: number, most: number): number {
  return Math.round(least * (most / least) ** random.next())
}

/** The story in words. */
export function wordsOf({ seed, cast, replicas, steps }: Story): string {
  const people = cast.map(({ kind, name }, who) => `${who}: ${kind}/${name}`).join(', ')
  const lines = steps.map(({ after, does, ...rest }) => `  after ${after} ms ${does} ${JSON.stringify(rest)}`)
  return [`seed ${seed}, ${replicas} replicas, ${people}`, ...lines].join('\n')
}
