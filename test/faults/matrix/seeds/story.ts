import type { Random } from '../../../../src/util/random.ts'
import { seededRandom } from '../../../builders/seeded-random.ts'
import { accountEdits } from '../../simulation/account-edits.ts'
import type { ServerName } from '../../simulation/faults.ts'
import { DEPENDENTS, policiesAmong } from './dependents.ts'
import type { Mode } from './found.ts'
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
 * - `lost`: 404 of what is there, here and there; of Kubernetes alone
 * - `refused`: 429 or 503 to everything, watches and Leases too; of Kubernetes alone
 */
export type Plague = 'cut off' | 'down' | 'busy' | 'broken' | 'deadly' | 'watches' | 'lost' | 'refused'

/** One thing that happens, `after` so many milliseconds. `who` counts in the cast. Lengths in milliseconds. */
export type Step = { readonly after: number } & (
  | { readonly does: 'apply'; readonly who: number; readonly version: number }
  | { readonly does: 'delete' | 'drift' | 'remove' | 'rotate'; readonly who: number }
  /** A manifest of some moment before is applied again, `back` of the way to the first one, from 0 to 1. */
  | { readonly does: 'old manifest'; readonly who: number; readonly back: number }
  | { readonly does: 'rest' | 'kill' }
  | { readonly does: 'pause' | 'outage'; readonly ms: number }
  | { readonly does: 'clock'; readonly whose: 'operators' | 'servers'; readonly ms: number }
  /** Watches of replicas that stand by fall silent, each of them with this chance. */
  | { readonly does: 'deafen'; readonly chance: number; readonly seed: number }
  /** etcd is put back to what it held so many steps ago, while operators run; the API server is away for `ms`. */
  | {
      readonly does: 'put back'
      readonly steps: number
      readonly revision: 'bumped' | 'as it was' | 'passed'
      readonly ms: number
    }
  /** Something that is not in the cast comes to use a policy by its id, or goes. */
  | { readonly does: 'use'; readonly dependent: string; readonly policy: string }
  | { readonly does: 'stop using'; readonly dependent: string }
  /** Of one whose object was there before: it comes to manage or only to observe the object. */
  | { readonly does: 'mode'; readonly who: number; readonly mode: Mode }
  /** Another resource comes to name the same object, or goes. */
  | { readonly does: 'rival'; readonly who: number; readonly mode: Mode }
  | { readonly does: 'rival goes'; readonly who: number }
  /** The Account is edited, and set right again after a while. */
  | { readonly does: 'edit account'; readonly edit: string; readonly ms: number }
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
  /** Whether the account is a ClusterAccount. Default: an Account of the namespace. */
  readonly isShared?: boolean
  /** Whose objects are there before the story, made by hand; numbers in the cast. Default: nobody's. */
  readonly adopters?: readonly number[]
  readonly steps: readonly Step[]
}

const HOUR = 3_600_000
const FORTY_DAYS = 40 * 24 * HOUR
const CLOCK_STEPS = [HOUR, -HOUR, FORTY_DAYS, -FORTY_DAYS]
const SHORTEST_MS = 1
/** Those that are seen more often leave more to be found. */
const PLAGUES: readonly Plague[] = [
  ...(['cut off', 'down', 'busy', 'broken', 'broken', 'broken', 'deadly', 'deadly', 'watches'] as const),
  ...(['lost', 'refused'] as const),
]
/** Putting etcd back takes longer than a request lives: of one that is out nothing is known afterwards. Milliseconds. */
const PUT_BACK_MS = 5_000
/** etcd is put back by so many steps at most. */
const PUT_BACK_STEPS = 4
/** One that leads elsewhere is no part of stories: an account that holds nothing at that moment takes it for its own. */
const ACCOUNT_EDITS = accountEdits.filter(({ isElsewhere }) => !isElsewhere).map(({ title }) => title)
/** A story has so many steps beside the first ones. */
const LEAST_STEPS = 3
/** Requests take four milliseconds: a dependent comes as often before the deletion of what it uses as after it. */
const NEAR_MS = 60
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
  if (replicas > 0 && random.next() < 0.7) steps.push(...takeOver(random, pick, cast))
  addDependents(random, pick, cast, steps)
  const isShared = random.next() < 0.2
  const who = cast.findIndex(({ kept }) => kept > 1)
  if (who < 0 || random.next() < 0.6) return { seed, cast, replicas, isShared, steps }
  return { seed, cast, replicas, isShared, adopters: [who], steps: withAdoption(random, pick, cast, { who, steps }) }
}

/** The object of one is there before: a story about who has it. */
function withAdoption(
  random: Random,
  pick: Pick,
  cast: readonly Role[],
  { who, steps: told }: { readonly who: number; readonly steps: readonly Step[] },
): readonly Step[] {
  const { kept } = cast[who] as Role
  const steps = told.map((step): Step => {
    return step.does === 'apply' && step.who === who ? { ...step, version: step.version % kept } : step
  })
  const mode = (): Mode => pick(['Manage', 'Manage', 'Observe'])
  const first = steps.findIndex((step) => step.does === 'apply' && step.who === who)
  const near = between(random, SHORTEST_MS, NEAR_MS)
  if (random.next() < 0.6) steps.splice(first + 1, 0, { after: near, does: 'rival', who, mode: mode() })
  steps.splice(first, 0, { after: 0, does: 'mode', who, mode: mode() })
  const count = 1 + Math.floor(random.next() * 3)
  for (let added = 0; added < count; added += 1) {
    const after = between(random, SHORTEST_MS, 15_000)
    const at = first + 1 + Math.floor(random.next() * (steps.length - first))
    const drawn = random.next()
    if (drawn < 0.5) steps.splice(at, 0, { after, does: 'mode', who, mode: mode() })
    else if (drawn < 0.75) steps.splice(at, 0, { after, does: 'rival', who, mode: mode() })
    else steps.splice(at, 0, { after, does: 'rival goes', who })
  }
  return steps
}

/**
 * Adds dependents to a story about policies. Not where etcd is put back: a dependent that it has never heard of would keep its policy for
 * ever.
 */
function addDependents(random: Random, pick: Pick, cast: readonly Role[], steps: Step[]): void {
  const policies = policiesAmong(cast)
  if (policies.length === 0 || steps.some(({ does }) => does === 'put back') || random.next() < 0.4) return
  const count = 1 + Math.floor(random.next() * 3)
  for (let added = 0; added < count; added += 1) {
    const dependent = pick(DEPENDENTS)
    const policy = pick(policies)
    const who = cast.findIndex(({ kind }) => kind.startsWith('IPPolicy'))
    const comes: Step = { after: between(random, SHORTEST_MS, NEAR_MS), does: 'use', dependent, policy }
    const at = cast.length + 1 + Math.floor(random.next() * (steps.length - cast.length))
    if (who < 0 || random.next() < 0.4) steps.splice(at, 0, comes)
    else {
      const goes: Step = { after: between(random, SHORTEST_MS, NEAR_MS), does: 'delete', who }
      steps.splice(at, 0, ...(random.next() < 0.5 ? [comes, goes] : [goes, comes]))
    }
    if (random.next() < 0.4) {
      steps.splice(at + 2, 0, { after: between(random, SHORTEST_MS, 15_000), does: 'stop using', dependent })
    }
  }
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
  if (drawn < 0.67) return { after, does: 'edit account', edit: pick(ACCOUNT_EDITS), ms: seconds }
  if (drawn < 0.7) return { after, does: 'clock', whose: pick(['operators', 'servers']), ms: pick(CLOCK_STEPS) }
  if (drawn < 0.72) {
    const revision = pick(['bumped', 'as it was', 'passed'] as const)
    const ms = between(random, PUT_BACK_MS, 60_000)
    return { after, does: 'put back', steps: Math.floor(random.next() * PUT_BACK_STEPS), revision, ms }
  }
  return { ...plagueOf(random, pick), after }
}

/** What the leader did last is not told to the one that takes over. */
function takeOver(random: Random, pick: Pick, cast: readonly Role[]): readonly Step[] {
  const chance = pick([0.3, 1])
  const steps: Step[] = [
    { after: between(random, SHORTEST_MS, 5_000), does: 'deafen', chance, seed: Math.floor(random.next() * 2 ** 31) },
    editAmid(random, cast),
  ]
  if (random.next() < 0.6) steps.push({ after: 0, does: 'rest' })
  steps.push({ after: between(random, SHORTEST_MS, 10_000), does: 'kill' })
  if (random.next() < 0.5) steps.push({ ...editAmid(random, cast), after: between(random, 1_000, 30_000) })
  return steps
}

function plagueOf(random: Random, pick: Pick): Extract<Step, { readonly does: 'plague' }> {
  const plague = pick(PLAGUES)
  const any = pick<Servers>(['api', 'kubernetes', 'both'])
  const servers = plague === 'lost' || plague === 'refused' ? 'kubernetes' : any
  const chance = 0.05 + 0.45 * random.next()
  const ms = between(random, 500, plague === 'refused' ? 60_000 : 30_000)
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
export function wordsOf({ seed, cast, replicas, isShared = false, adopters = [], steps }: Story): string {
  const people = cast.map(({ kind, name }, who) => `${who}: ${kind}/${name}`).join(', ')
  const lines = steps.map(({ after, does, ...rest }) => `  after ${after} ms ${does} ${JSON.stringify(rest)}`)
  const account = isShared ? 'ClusterAccount' : 'Account'
  const there = adopters.length === 0 ? '' : `, found before: ${adopters.join(' and ')}`
  return [`seed ${seed}, ${replicas} replicas, ${account}, ${people}${there}`, ...lines].join('\n')
}
