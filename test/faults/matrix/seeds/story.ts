import type { Choices } from '../../../../src/emulator/choices/choices.ts'
import type { Random } from '../../../../src/util/random.ts'
import { seededRandom } from '../../../builders/seeded-random.ts'
import { accountEdits } from '../../simulation/account-edits.ts'
import type { ServerName } from '../../simulation/faults.ts'
import type { OutputChange } from '../../simulation/outputs-by-hand.ts'
import { DEPENDENTS, policiesAmong } from './dependents.ts'
import type { Mode } from './found.ts'
import { type Role, roles } from './roles.ts'

/** The servers that a fault affects. */
export type Servers = ServerName | 'both'

/**
 * Faults of requests for a while.
 * - `cut off`: no request arrives, no answer returns
 * - `down`: connections are refused
 * - `busy`: 429 for many
 * - `broken`: every possible fault now and then: errors, resets and silence before and after, truncated answers, slow
 *   requests
 * - `deadly`: now and then an operator dies or pauses at a write
 * - `watches`: watches stall, break, are reset, repeat events or have expired; lists expire between two pages
 * - `lost`: now and then a 404 for an existing object; Kubernetes only
 * - `refused`: 429 or 503 to everything, including watches and Leases; Kubernetes only
 */
export type Plague = 'cut off' | 'down' | 'busy' | 'broken' | 'deadly' | 'watches' | 'lost' | 'refused'

/** A step, `after` that many milliseconds. `who` is an index in the cast. Durations in milliseconds. */
export type Step = { readonly after: number } & (
  | { readonly does: 'apply'; readonly who: number; readonly version: number }
  | { readonly does: 'delete' | 'drift' | 'remove' | 'rotate'; readonly who: number }
  /** An old manifest is applied again; `back`, from 0 to 1, is how far back towards the first one. */
  | { readonly does: 'old manifest'; readonly who: number; readonly back: number }
  | { readonly does: 'rest' | 'kill' }
  /** The resource is paused, and resumed after a while. */
  | { readonly does: 'leave alone'; readonly who: number; readonly ms: number }
  /** Somebody changes the Secrets and ConfigMaps of the resource. */
  | { readonly does: 'change outputs'; readonly who: number; readonly how: OutputChange }
  | { readonly does: 'pause' | 'outage'; readonly ms: number }
  | { readonly does: 'clock'; readonly whose: 'operators' | 'servers'; readonly ms: number }
  /** Watches of standbys fall silent, each with this chance. */
  | { readonly does: 'deafen'; readonly chance: number; readonly seed: number }
  /** etcd is put back to its state that many steps ago, while operators run; the API server is down for `ms`. */
  | {
      readonly does: 'put back'
      readonly steps: number
      readonly revision: 'bumped' | 'as it was' | 'passed'
      readonly ms: number
    }
  /** A dependent outside the cast comes to use a policy by its id, or is removed. */
  | { readonly does: 'use'; readonly dependent: string; readonly policy: string }
  | { readonly does: 'stop using'; readonly dependent: string }
  /** A resource whose object existed before changes to managing or to only observing it. */
  | { readonly does: 'mode'; readonly who: number; readonly mode: Mode }
  /** Another resource comes to name the same object, or is deleted. */
  | { readonly does: 'rival'; readonly who: number; readonly mode: Mode }
  | { readonly does: 'rival goes'; readonly who: number }
  /** The Account is edited, and corrected after a while. */
  | { readonly does: 'edit account'; readonly edit: string; readonly ms: number }
  | {
      readonly does: 'plague'
      readonly plague: Plague
      readonly servers: Servers
      readonly ms: number
      /** How likely it is that a request is hit. */
      readonly chance: number
      readonly seed: number
    }
)

export interface Story {
  readonly seed: number
  readonly cast: readonly Role[]
  /** 0: one operator, without leader election. */
  readonly replicas: number
  /** Whether the account is a ClusterAccount. Default: an Account of the namespace. */
  readonly isShared?: boolean
  /** Indices in the cast of those whose objects exist before the story, made by hand. Default none. */
  readonly adopters?: readonly number[]
  /** The server's choices that are other than decided. Default: drawn, or none. */
  readonly choices?: Partial<Choices>
  readonly steps: readonly Step[]
}

const HOUR = 3_600_000
const FORTY_DAYS = 40 * 24 * HOUR
const CLOCK_STEPS = [HOUR, -HOUR, FORTY_DAYS, -FORTY_DAYS]
const SHORTEST_MS = 1
/** Those that occur more often leave more to find. */
const PLAGUES: readonly Plague[] = [
  ...(['cut off', 'down', 'busy', 'broken', 'broken', 'broken', 'deadly', 'deadly', 'watches'] as const),
  ...(['lost', 'refused'] as const),
]
/**
 * Putting etcd back takes longer than a request lives: nothing would be known afterwards of one in flight.
 * Milliseconds.
 */
const PUT_BACK_MS = 5_000
/**
 * A Secret without its labels and annotations stays until its owner goes, and what somebody adds to one stays as well:
 * scenarios show that.
 */
const OUTPUT_CHANGES: readonly OutputChange[] = ['delete', 'alter', 'disown']
/** The most steps by which etcd is put back. */
const PUT_BACK_STEPS = 4
/**
 * Edits that lead elsewhere are not part of stories: an account that has no resources at that moment accepts the other
 * one as its own.
 */
const ACCOUNT_EDITS = accountEdits
  .filter(({ isElsewhere, losesStatus }) => !(isElsewhere || losesStatus))
  .map(({ title }) => title)
/** The minimum number of steps besides the first ones. */
const LEAST_STEPS = 3
/** Requests take four milliseconds: a dependent comes as often before the deletion of its dependency as after it. */
const NEAR_MS = 60
const MORE_STEPS = 5

/** The story of that seed: always the same. */
export function storyOf(seed: number): Story {
  const random = seededRandom(seed * 7919 + 13)
  const pick = picker(random)
  const cast = castOf(random)
  const replicas = random.next() < 0.15 ? 2 : 0
  const steps: Step[] = cast.map((_, who) => ({ after: 0, does: 'apply', who, version: 0 }))
  // Most objects are created at the beginning: faults can affect that only if they start by then.
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

/** One resource's object exists before: a story about its ownership. */
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
 * Adds dependents to a story about policies. Not if etcd is put back: a dependent that it has lost would keep its
 * policy forever.
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

/** Usually one resource. */
function castOf(random: Random): readonly Role[] {
  const size = random.next() < 0.65 ? 1 : random.next() < 0.7 ? 2 : 3
  const cast = new Set<Role>()
  while (cast.size < size) cast.add(picker(random)(roles))
  return [...cast]
}

function stepOf(random: Random, pick: Pick, cast: readonly Role[]): Step {
  const who = Math.floor(random.next() * cast.length)
  const { versions, hasToken, hasOutput } = cast[who] as Role
  // As often within the milliseconds of one request as within the seconds of a revert.
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
  if (drawn < 0.74) return { after, does: 'leave alone', who, ms: seconds }
  if (drawn < 0.78 && hasOutput) return { after, does: 'change outputs', who, how: pick(OUTPUT_CHANGES) }
  return { ...plagueOf(random, pick), after }
}

/** The new leader does not learn what the old one did last. */
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

/** An edit while requests are hit: otherwise there would seldom be any. */
function editAmid(random: Random, cast: readonly Role[]): Step {
  const who = Math.floor(random.next() * cast.length)
  const after = between(random, SHORTEST_MS, 500)
  const drawn = random.next()
  if (drawn < 0.2) return { after, does: 'delete', who }
  return { after, does: 'apply', who, version: Math.floor(random.next() * (cast[who] as Role).versions.length) }
}

/** Each order of magnitude is equally likely. */
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
