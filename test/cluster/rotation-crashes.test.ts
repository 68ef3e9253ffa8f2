import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { accountLane } from './support/priorities.ts'
import { Stage } from './support/stage.ts'
import type { Stop } from './support/stops.ts'
import {
  type Life,
  livesOf,
  mostAtOnce,
  opens,
  TokenWatch,
  type Watched,
  withoutProbes,
} from './support/token-watch.ts'
import { tokenOf } from './support/tokens.ts'
import { Turns } from './support/turns.ts'
import { until } from './support/wait.ts'
import type { World } from './support/world.ts'

const REQUEST = 'culvert.dev/rotate-requested-at'
const PATHS: Readonly<Record<string, string>> = { APIKey: '/api_keys', TunnelCredential: '/credentials' }
/** After so many rotations that did not come by a stop, none is expected to. */
const PATIENCE = 4
/** So often a stop is tried that no rotation has come by. */
const TRIES = 3
/** So many of each sort are at different steps of a rotation at once. */
const EACH = 4

interface Sort {
  readonly name: string
  readonly kind: string
  /** Whether its tokens are asked for by annotation; otherwise they rotate by themselves, all the time. */
  readonly asked: boolean
  readonly rotation: { readonly interval: string; readonly overlap: string }
  readonly overlapMs: number
  /** Whether each is the key of an Account of its own, under which it is managed. */
  readonly opensAccount?: boolean
}

const asked = { asked: true, rotation: { interval: '720h', overlap: '0s' }, overlapMs: 0 }
const timed = { asked: false, rotation: { interval: '3s', overlap: '1s' }, overlapMs: 1000 }
const SORTS: readonly Sort[] = [
  { name: 'key-asked', kind: 'APIKey', ...asked },
  { name: 'key-timed', kind: 'APIKey', ...timed },
  { name: 'agent-asked', kind: 'TunnelCredential', ...asked },
  { name: 'agent-timed', kind: 'TunnelCredential', ...timed },
  { name: 'own', kind: 'APIKey', ...asked, opensAccount: true },
]

interface Subject extends Watched {
  readonly sort: Sort
}

const subjects: readonly Subject[] = SORTS.flatMap((sort) => {
  return Array.from({ length: EACH }, (_, index) => {
    return { name: `${sort.name}-${index}`, kind: sort.kind, overlapMs: sort.overlapMs, sort }
  })
})

/** The writes of a rotation, in order: whoever is killed between two of them leaves a token that works. */
const STEPS: readonly (readonly [string, RegExp])[] = [
  ['the Secret is reserved', /Secret output-keys reserved-for$/],
  ['the attempt is noted', /create-attempt finalizers$/],
  ['the token is made', /^API POST /],
  ['the token is in the Secret', /Secret .*data$/],
  ['the status names the new object, and the former one beside it', /\/status .*\bid\b.* superseded\b/],
  ['the former object is deleted', /^API DELETE /],
  ['the status forgets it', /\/status -superseded$/],
]

/** The steps that these stops stand for, from the first one on: what rotates all the time may be met at any of them. */
function inOrder(targets: readonly Target[]): readonly (string | undefined)[] {
  const found = targets.map(({ sort }) => STEPS.find(([, pattern]) => pattern.test(sort))?.[0])
  const steps = [...new Set(found.filter((step) => step !== undefined))]
  const first = steps.indexOf(STEPS[0]?.[0] ?? '')
  return [...steps.slice(first), ...steps.slice(0, first)]
}

/** A stop in the priority of a subject or of its Account. */
interface Target extends Stop {
  readonly ofAccount: boolean
}

/** The resources and their rotations. */
class Rotations {
  readonly #stage: Stage
  readonly #world: World
  #asked = 0

  constructor(stage: Stage) {
    this.#stage = stage
    this.#world = stage.world
  }

  /** Makes the resources and waits until each has its token; those of the last sort then open their own Accounts. */
  async begin(): Promise<void> {
    for (const { kind, name, sort } of subjects) {
      const account = sort.opensAccount ? { accountRef: { name } } : {}
      await this.#world.apply(kind, name, { ...account, rotation: sort.rotation })
    }
    for (const { kind, name } of subjects) await this.#world.ready(kind, name)
    for (const { name, sort } of subjects) {
      if (!sort.opensAccount) continue
      const { spec } = (await this.#world.get('Account', name)) ?? { spec: {} }
      await this.#world.apply('Account', name, { ...spec, apiKeySecretRef: { name, key: 'token' } })
    }
  }

  /** Where a rotation of each sort can be interrupted: what its resources pass while nothing interrupts them. */
  async record(): Promise<ReadonlyMap<Sort, readonly Target[]>> {
    // The first round brings every priority to a place where the recording can begin.
    await this.#rotateAll()
    this.#stage.stops.mark()
    await this.#rotateAll()
    return new Map(SORTS.map((sort) => [sort, this.#shared(sort)]))
  }

  /** What one alone has passed came of the moment, such as a call that took too long on a busy machine. */
  #shared(sort: Sort): readonly Target[] {
    const found = new Map<string, Target & { count: number }>()
    for (const target of subjects.filter((subject) => subject.sort === sort).flatMap((one) => this.#targets(one))) {
      const key = JSON.stringify(target)
      const known = found.get(key) ?? { ...target, count: 0 }
      found.set(key, { ...known, count: known.count + 1 })
    }
    return [...found.values()].filter(({ count }) => count > 1)
  }

  #targets({ name, sort }: Subject): readonly Target[] {
    const { stops } = this.#stage
    const own = stops.passed(name).map((stop) => ({ ...stop, ofAccount: false }))
    const account = sort.opensAccount ? stops.passed(accountLane(name)) : []
    return [...own, ...account.map((stop) => ({ ...stop, ofAccount: true }))]
  }

  async #rotateAll(): Promise<void> {
    const turns = new Turns(this.#world, Object.keys(PATHS))
    await turns.look()
    await this.askAll()
    for (const subject of subjects) if (subject.sort.asked) await this.settled(subject)
    // Whole from wherever it was: two more. All at once, since each goes on by itself.
    const timed = subjects.filter(({ sort }) => !sort.asked)
    const look = async (): Promise<boolean> => {
      await turns.look()
      return timed.every(({ name }) => turns.of(name) >= 2)
    }
    await until('those that rotate by themselves have done so twice', look, {
      timeoutMs: 90_000,
      describe: () => timed.map(({ name }) => [name, turns.of(name)]),
    })
  }

  /** Lets everything come to rest, with nothing left to rotate. */
  async end(): Promise<void> {
    for (const { kind, name, sort } of subjects) {
      const account = sort.opensAccount ? { accountRef: { name } } : {}
      await this.#world.apply(kind, name, { ...account, rotation: asked.rotation })
    }
    for (const subject of subjects) {
      await this.settled(subject)
      await this.#world.ready(subject.kind, subject.name)
    }
  }

  /** Asks for a rotation of all that do not rotate by themselves. */
  async askAll(): Promise<void> {
    const value = String(++this.#asked)
    for (const { kind, name, sort } of subjects) {
      if (sort.asked) await this.#world.annotate(kind, name, { [REQUEST]: value })
    }
  }

  async ask({ kind, name }: Subject): Promise<void> {
    await this.#world.annotate(kind, name, { [REQUEST]: String(++this.#asked) })
  }

  async isSettled({ kind, name }: Subject): Promise<boolean> {
    const cr = await this.#world.get(kind, name)
    const { internal, lastHandledRotateAt } = cr?.status ?? {}
    return internal?.superseded === undefined && lastHandledRotateAt === cr?.metadata.annotations?.[REQUEST]
  }

  async settled(subject: Subject): Promise<void> {
    await until(`${subject.name} has rotated`, () => this.isSettled(subject), {
      timeoutMs: 90_000,
      describe: async () => [
        await this.#world.get(subject.kind, subject.name),
        this.#world.operator.log.split('\n').slice(-20),
      ],
    })
  }
}

function laneOf({ name }: Subject, { ofAccount }: Target): string {
  return ofAccount ? accountLane(name) : name
}

/** The step of a rotation that a stop stands for: not the way there counts, but what is asked. */
function stepOf({ name }: Sort, { sort, when }: Target): string {
  return `${name}: ${when} ${sort}`
}

function stepsOf([sort, targets]: readonly [Sort, readonly Target[]]): readonly string[] {
  return targets.map((target) => stepOf(sort, target))
}

/**
 * Each life of an operator takes every resource to another step of its rotation, and ends there. @returns how often it
 * was killed.
 */
async function killAtEach(
  stage: Stage,
  rotations: Rotations,
  recorded: ReadonlyMap<Sort, readonly Target[]>,
  watch: TokenWatch,
): Promise<number> {
  const { world, stops } = stage
  const left = new Map([...recorded].map(([sort, targets]) => [sort, [...targets]]))
  const shown = new Set<string>()
  const tries = new Map<Target, number>()
  for (let kills = 0; ; kills++) {
    const armed = subjects.flatMap((subject) => {
      const target = left.get(subject.sort)?.shift()
      return target === undefined
        ? []
        : [{ subject, target, priority: laneOf(subject, target), step: stepOf(subject.sort, target) }]
    })
    if (armed.length === 0) {
      expect([...new Set([...recorded].flatMap(stepsOf))].filter((step) => !shown.has(step))).toEqual([])
      return kills
    }
    for (const { priority, target } of armed) stops.arm(priority, target)
    await rotations.askAll()
    const turns = new Turns(world, Object.keys(PATHS))
    // A busy machine leads a rotation another way now and then: one that passes by is given up in time.
    const open = () =>
      armed.filter(({ priority, subject }) => !stops.reached(priority) && turns.of(subject.name) < PATIENCE)
    const look = async (): Promise<boolean> => {
      await turns.look()
      for (const { subject } of open()) {
        // Not every rotation passes every step that was recorded: another is asked for.
        if (subject.sort.asked && (await rotations.isSettled(subject))) await rotations.ask(subject)
      }
      return open().length === 0
    }
    await until('every rotation has come to its stop', look, { timeoutMs: 120_000, describe: open })
    for (const { priority, step } of armed) if (stops.reached(priority)) shown.add(step)
    for (const { subject, target, step } of armed) {
      if (shown.has(step)) continue
      const count = (tries.get(target) ?? 0) + 1
      tries.set(target, count)
      if (count < TRIES) left.get(subject.sort)?.push(target)
    }
    await watch.useAll('amid a rotation')
    await world.operator.kill()
    await watch.useAll('after a kill amid a rotation')
    stops.releaseAll()
    await stage.startOperator()
    for (const subject of subjects) if (subject.sort.asked) await rotations.settled(subject)
  }
}

/** Checks that no key that an Account worked with was deleted before the API had answered a call with a later one. */
function expectProvenFirst(calls: readonly JournalEntry[], lives: readonly Life[], path: string): void {
  const answered = calls.filter(({ status, answeredSeq }) => status === 200 && answeredSeq !== null)
  let proven = 0
  for (const [index, { id }] of lives.entries()) {
    const end = calls.find((call) => call.method === 'DELETE' && call.path === `${path}/${id}` && call.status === 204)
    // One whose token was lost with the answer opened nothing.
    if (end === undefined || !answered.some(({ keyId }) => keyId === id)) continue
    const later: ReadonlySet<unknown> = new Set(lives.slice(index + 1).map((life) => life.id))
    const proof = answered.find(({ keyId, answeredSeq }) => later.has(keyId) && (answeredSeq ?? 0) < end.seq)
    expect(proof, `a call with a later key before ${id} was deleted`).toBeDefined()
    proven++
  }
  expect(proven, 'keys that an Account worked with, and that were deleted').toBeGreaterThanOrEqual(3)
}

/** Checks that each token worked on for the overlap after another had been made in its place. */
function expectOverlaps(world: World): void {
  const calls = world.journal()
  let seen = 0
  for (const { name, kind, overlapMs } of subjects) {
    const lives = livesOf(calls, PATHS[kind] ?? '', name)
    for (const { id, from, to, toMs } of lives) {
      // One whose token was lost with the answer is gone before another is made.
      const later = lives.filter((other) => from < other.from && other.from < to)
      if (toMs === undefined || overlapMs === 0 || later.length === 0) continue
      const longest = Math.max(...later.map(({ fromMs }) => fromMs))
      expect(toMs - longest, `${id} of ${name} worked on`).toBeGreaterThanOrEqual(overlapMs)
      seen++
    }
  }
  expect(seen, 'tokens that were replaced with an overlap').toBeGreaterThanOrEqual(10)
}

test('a user of a token is never refused while the operator is killed at every step of its rotation', {
  timeout: 900_000,
  tags: 'nightly',
}, async () => {
  const accounts = subjects.filter(({ sort }) => sort.opensAccount).map(({ name }) => name)
  await using stage = await Stage.open({ resources: subjects.length, accounts, flags: ['--request-timeout', '3s'] })
  const { world } = stage
  const rotations = new Rotations(stage)
  await stage.startOperator()
  await rotations.begin()
  await using watch = new TokenWatch(world, subjects)
  const recorded = await rotations.record()
  for (const sort of SORTS) {
    const writes = (recorded.get(sort) ?? []).filter(({ when }) => when === 'after')
    expect(inOrder(writes), sort.name).toEqual(STEPS.map(([step]) => step))
    // The key is kept for the Account, and its status tells which one it works with.
    expect(writes.filter(({ ofAccount }) => ofAccount).length, sort.name).toBeGreaterThanOrEqual(
      sort.opensAccount ? 2 : 0,
    )
  }
  expect(await killAtEach(stage, rotations, recorded, watch)).toBeGreaterThanOrEqual(4)

  expectOverlaps(world)
  await rotations.end()
  await watch.useAll('at rest')
  expect(watch.failures).toEqual([])
  const calls = withoutProbes(world.journal())
  expect(calls.filter(({ status }) => status === 401)).toEqual([])
  let rotated = 0
  for (const { kind, name, sort } of subjects) {
    const cr = await world.ready(kind, name)
    const path = PATHS[kind] ?? ''
    const lives = livesOf(calls, path, name)
    rotated += lives.length - 1
    expect(mostAtOnce(lives), `tokens of ${name} at once`).toBeLessThanOrEqual(2)
    const last = lives.filter(({ to }) => to === Number.POSITIVE_INFINITY)
    expect(
      last.map(({ id }) => id),
      `tokens of ${name} in the end`,
    ).toEqual([cr.status?.id])
    expect(await opens(world, kind, await tokenOf(world, cr)), name).toBe(cr.status?.id)
    if (sort.opensAccount) expectProvenFirst(calls, lives, path)
  }
  expect(rotated).toBeGreaterThanOrEqual(100)
})
