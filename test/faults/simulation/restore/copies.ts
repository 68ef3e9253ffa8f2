import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import type { SpecCase } from '../../../builders/specs.ts'
import type { Laboratory } from '../world.ts'
import {
  BYSTANDER,
  backUp,
  isMarked,
  keyOf,
  Life,
  nameOf,
  putBack,
  putBackOutput,
  SUBJECT,
  subjects,
  wipe,
} from './life.ts'
import { takeBack } from './taking-back.ts'
import type { Trial } from './trial.ts'

/** What can be there once only, what goes into the Secret that the original owns, and what refers to such a copy. */
const ONCE = ['Conflict', 'OutputNotOwned', 'ReferenceNotReady'] as const
const COPY = 'copy-of-'
/** At least as many as the policies that are left have rules. */
const ORPHANS = 10

type Scenario = (life: Life) => Promise<readonly string[]>

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
]

/** Resources under others' names, and with others' annotations. */
export const copies: readonly Trial[] = subjects.flatMap((subject) => {
  return scenarios.map(([point, fault, scenario]): Trial => {
    const { kind, title } = subject
    const run = (laboratory: Laboratory): Promise<readonly string[]> => within(laboratory, subject, scenario)
    return { what: { write: `${kind} ${title}`, point, fault }, run }
  })
})

async function within(laboratory: Laboratory, subject: SpecCase, scenario: Scenario): Promise<readonly string[]> {
  const life = await Life.open(laboratory, subject)
  try {
    const unrest = await life.begin()
    return unrest.length > 0 ? unrest : await scenario(life)
  } finally {
    life.world.down()
  }
}

/** As `kubectl get -o yaml | sed NAME | kubectl create`. */
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

/** What the originals had to themselves is free once they are gone; what they had is nobody's before. */
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

/** Pairs of a subject and a bystander, and of what they refer to. */
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

/** Each has its own object back where its mark says so; nothing else says whose an object is. */
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

function giveAnnotations({ world }: Life, to: CustomResource, from: CustomResource): void {
  const none = Object.fromEntries(Object.keys(to.metadata.annotations ?? {}).map((key) => [key, null]))
  const annotations = { ...none, ...from.metadata.annotations }
  world.server.patch(world.typeOf(to.kind), keyOf(to), { metadata: { annotations } })
}

/** What of the first is not there any more as it was. */
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
