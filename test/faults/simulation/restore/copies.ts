import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import type { CommonStatus } from '../../../../src/managed/descriptor/common.ts'
import { REMOTE_ID } from '../../../../src/managed/names.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import { textOf } from '../oracle.ts'
import type { Laboratory, SimulatedWorld } from '../world.ts'
import {
  BYSTANDER,
  backUp,
  hasToken,
  isMarked,
  keyOf,
  Life,
  LOOKS_MS,
  nameOf,
  putBack,
  putBackOutput,
  SUBJECT,
  subjects,
  wipe,
} from './life.ts'
import { reasonOf, takeBack } from './taking-back.ts'
import type { Trial } from './trial.ts'

/**
 * Reasons of resources that can exist only once, of those whose Secret the original owns, and of those that refer to
 * such a copy.
 */
const ONCE = ['Conflict', 'OutputNotOwned', 'ReferenceNotReady'] as const
const COPY = 'copy-of-'
/** At least as many as the rules of the policies left behind. */
const ORPHANS = 10

type Scenario = (life: Life) => Promise<readonly string[] | undefined>

const scenarios: readonly (readonly [point: string, fault: string, scenario: Scenario])[] = [
  ['at rest', 'all copied under other names, with annotations and finalizers', (life) => copied(life, 'at rest')],
  [
    'no operator at work',
    'all copied under other names, with annotations and finalizers',
    (life) => copied(life, 'down'),
  ],
  ['originals deleted with it', 'all copied under other names, with annotations and finalizers', deletedWithCopies],
  ['at rest', 'annotations swapped', (life) => swappedAnnotations(life, false)],
  ['no operator at work', 'annotations swapped', (life) => swappedAnnotations(life, true)],
  ['restored without status', 'annotations swapped', restoredSwapped],
  ['at rest', 'statuses swapped', (life) => swappedStatuses(life, false)],
  ['no operator at work', 'statuses swapped', (life) => swappedStatuses(life, true)],
  ['deleted with them', 'statuses swapped', deletedSwapped],
  ['at rest', 'all copied under other names, with their statuses', copiedWithStatuses],
  ['no operator at work', 'renamed with its status, and another made under the old name', renamed],
]

/** Resources with others' names, and with others' annotations. */
export const copies: readonly Trial[] = subjects.flatMap((subject) => {
  return scenarios.map(([point, fault, scenario]): Trial => {
    const { kind, title } = subject
    const run: Trial['run'] = (laboratory) => within(laboratory, subject, scenario)
    return { what: { write: `${kind} ${title}`, point, fault }, run }
  })
})

async function within(laboratory: Laboratory, subject: SpecCase, scenario: Scenario): ReturnType<Trial['run']> {
  const life = await Life.open(laboratory, subject)
  try {
    const unrest = await life.begin()
    return unrest.length > 0 ? unrest : await scenario(life)
  } finally {
    life.world.down()
  }
}

/** Like `kubectl get -o yaml | sed NAME | kubectl create`. */
function copyAll(life: Life): void {
  for (const cr of life.world.all())
    putBack(life.world, { ...cr, metadata: { ...cr.metadata, name: COPY + cr.metadata.name } })
}

function isCopy({ metadata }: CustomResource): boolean {
  return metadata.name.startsWith(COPY)
}

async function copied(life: Life, moment: 'at rest' | 'down'): Promise<readonly string[]> {
  const { world, oracle } = life
  const [ids, bodies] = [life.ids(), await life.bodies()]
  if (moment === 'down') world.down()
  copyAll(life)
  world.up()
  oracle.allow({ refused: ONCE })
  const problems = [...(await oracle.judge()), ...unchanged(bodies, await life.bodies())]
  const held = new Set(ids.values())
  for (const cr of world.all().filter(isCopy)) {
    if (held.has(statusOf(cr).id ?? '')) problems.push(`${nameOf(cr)} has taken ${statusOf(cr).id}`)
    const told = ['Recovered', 'PossibleDuplicate', 'CopyDeleted'].filter((reason) => life.wasTold(cr, reason))
    problems.push(...told.map((reason) => `${nameOf(cr)} says ${reason}`))
  }
  for (const cr of world.all().filter(isCopy)) world.delete(cr.kind, cr.metadata.name)
  oracle.allow({})
  return [...problems, ...(await oracle.judge()), ...unchanged(bodies, await life.bodies())]
}

/** The originals' unique names are free once they are deleted; before, their objects belong to no one else. */
async function deletedWithCopies(life: Life): Promise<readonly string[]> {
  const { world, oracle } = life
  const held = new Set(life.ids().values())
  copyAll(life)
  for (const name of [SUBJECT, BYSTANDER]) world.delete(life.subject.kind, name)
  oracle.allow({ refused: ONCE })
  const problems = await oracle.judge()
  const taken = world.all().filter((cr) => isCopy(cr) && held.has(statusOf(cr).id ?? ''))
  return [...problems, ...taken.map((cr) => `${nameOf(cr)} has taken ${statusOf(cr).id}`)]
}

/** Pairs of a subject and a bystander, and of their dependencies. */
function pairs(life: Life): readonly (readonly [CustomResource, CustomResource])[] {
  const all = life.world.all()
  return all.flatMap((cr) => {
    if (!cr.metadata.name.startsWith(SUBJECT)) return []
    const name = cr.metadata.name.replace(SUBJECT, BYSTANDER)
    const other = all.find(({ kind, metadata }) => kind === cr.kind && metadata.name === name)
    return other === undefined ? [] : [[cr, other] as const]
  })
}

async function swappedAnnotations(life: Life, isDown: boolean): Promise<readonly string[]> {
  const { world, oracle } = life
  const [ids, bodies] = [life.ids(), await life.bodies()]
  if (isDown) world.down()
  for (const [left, right] of pairs(life)) {
    giveAnnotations(life, left, right)
    giveAnnotations(life, right, left)
  }
  world.up()
  const problems = await oracle.judge()
  return [...problems, ...unchanged(bodies, await life.bodies()), ...moved(ids, life.ids())]
}

/** Each has its own object back where its marker says so; nothing else says whose an object is. */
async function restoredSwapped(life: Life): Promise<readonly string[]> {
  const { world, oracle } = life
  const ids = life.ids()
  const found = pairs(life)
  const { outputs } = backUp(world)
  world.down()
  wipe(world)
  for (const output of outputs) putBackOutput(world, output, false)
  for (const [left, right] of found) {
    putBack(world, { ...left, metadata: { ...right.metadata, name: left.metadata.name } })
    putBack(world, { ...right, metadata: { ...left.metadata, name: right.metadata.name } })
  }
  world.up()
  const problems = await takeBack(world, oracle, { refused: ONCE, orphans: ORPHANS })
  const wrong = world.all().flatMap((cr) => {
    const { id } = statusOf(cr)
    if (isMarked(cr)) return id === ids.get(nameOf(cr)) ? [] : [`${nameOf(cr)} has ${id}`]
    return [...ids.values()].includes(id ?? '') ? [`${nameOf(cr)} has taken ${id}`] : []
  })
  return [...problems, ...wrong]
}

/**
 * A user who may write statuses can give each the object of the other: its attempt and the marker tell each which is
 * its own.
 */
async function swappedStatuses(life: Life, isDown: boolean): Promise<readonly string[] | undefined> {
  const { oracle } = life
  const [ids, bodies] = [life.ids(), await life.bodies()]
  const { length } = oracle.writes
  if (!swapStatuses(life, isDown)) return undefined
  const problems = [...(await oracle.judge()), ...writtenSince(life, length)].filter(isOurDoing)
  return [...problems, ...unchanged(bodies, await life.bodies()), ...moved(ids, life.ids())]
}

/** Each deletes what carries its marker, and nothing else. */
async function deletedSwapped(life: Life): Promise<readonly string[] | undefined> {
  const { world, oracle } = life
  if (!swapStatuses(life, false)) return undefined
  for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
  return (await oracle.judge({})).filter(isOurDoing)
}

/** A copy that names the original's object does nothing to it, alive or deleted. */
async function copiedWithStatuses(life: Life): Promise<readonly string[] | undefined> {
  const { world, oracle } = life
  const originals = world.all().filter((cr) => isMarked(cr) || isNoted(cr))
  if (originals.length === 0) return undefined
  const [ids, bodies] = [life.ids(), await life.bodies()]
  const { length } = oracle.writes
  world.down()
  for (const cr of originals) {
    const { annotations: _, ...metadata } = cr.metadata
    const copy = { ...cr, metadata: { ...metadata, name: COPY + cr.metadata.name } }
    putBack(world, copy)
    giveStatus(world, copy, statusOf(cr))
  }
  world.up()
  oracle.allow({ refused: [...ONCE, 'TakenOver'] })
  await world.advance(LOOKS_MS)
  const problems = [...oracle.violations]
  for (const cr of world.all().filter(isCopy)) {
    const reason = reasonOf(cr) ?? ''
    if (!['TakenOver', 'ReferenceNotReady'].includes(reason)) problems.push(`${nameOf(cr)} says ${reason}`)
    world.delete(cr.kind, cr.metadata.name)
  }
  oracle.allow({})
  problems.push(...(await oracle.judge()), ...writtenSince(life, length))
  return [...problems.filter(isOurDoing), ...unchanged(bodies, await life.bodies()), ...moved(ids, life.ids())]
}

/**
 * The resource that has the object keeps it; the marker with its former name does not give it to the resource that has
 * that name now.
 */
async function renamed(life: Life): Promise<readonly string[] | undefined> {
  const { world, oracle, subject } = life
  const original = world.get(subject.kind, SUBJECT)
  // Tokens are in the Secret of the old name.
  if (original === undefined || !isMarked(original) || hasToken(subject.kind)) return undefined
  const { id } = statusOf(original)
  world.down()
  wipe(world, [original])
  const { annotations: _, ...metadata } = original.metadata
  const copy = { ...original, metadata: { ...metadata, name: COPY + SUBJECT } }
  putBack(world, copy)
  giveStatus(world, copy, statusOf(original))
  putBack(world, { ...original, metadata })
  world.up()
  oracle.allow({ refused: ONCE })
  const problems = await oracle.judge()
  const kept = world.get(subject.kind, COPY + SUBJECT)?.status?.id
  return kept === id ? problems : [...problems, `the renamed one had ${id} and has ${kept}`]
}

/** While its status is wrong, a resource has an object whose token it does not have. */
export function isOurDoing(problem: string): boolean {
  return !problem.endsWith('has an object whose token is not stored')
}

/** Changes requested at the API since a moment. */
function writtenSince({ oracle }: Life, moment: number): readonly string[] {
  const late = oracle.writes.slice(moment).filter(({ server }) => server === 'api')
  return late.map((write) => `written: ${textOf(write)}`)
}

/**
 * Exchanges the object status of the subject and the bystander; false where neither a marker nor a record says whose it
 * is.
 */
function swapStatuses({ world, subject: { kind } }: Life, isDown: boolean): boolean {
  const [left, right] = [world.get(kind, SUBJECT), world.get(kind, BYSTANDER)]
  if (left === undefined || right === undefined || !(isMarked(left) || isNoted(left))) return false
  if (isDown) world.down()
  giveStatus(world, left, statusOf(right))
  giveStatus(world, right, statusOf(left))
  world.up()
  return true
}

/** Whether the resource itself records which object it has. */
function isNoted({ metadata }: CustomResource): boolean {
  return metadata.annotations?.[REMOTE_ID] !== undefined
}

function giveStatus(world: SimulatedWorld, to: CustomResource, { id, internal }: CommonStatus): void {
  world.server.patch(
    world.typeOf(to.kind),
    keyOf(to),
    { status: { id, internal: { create: internal?.create } } },
    { subresource: 'status' },
  )
}

function giveAnnotations({ world }: Life, to: CustomResource, from: CustomResource): void {
  const none = Object.fromEntries(Object.keys(to.metadata.annotations ?? {}).map((key) => [key, null]))
  const annotations = { ...none, ...from.metadata.annotations }
  world.server.patch(world.typeOf(to.kind), keyOf(to), { metadata: { annotations } })
}

/** Objects of the first that are missing or changed. */
export function unchanged(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...before].flatMap(([id, body]) =>
    after.get(id) === body ? [] : [`${id} was ${body} and is ${after.get(id)}`],
  )
}

function moved(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...before].flatMap(([name, id]) =>
    after.get(name) === id ? [] : [`${name} had ${id} and has ${after.get(name)}`],
  )
}
