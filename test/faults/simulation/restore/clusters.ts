import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import type { Trouble } from '../faults.ts'
import { managed } from '../spec-families.ts'
import type { Laboratory } from '../world.ts'
import { unchanged } from './copies.ts'
import { hasToken, isMarked, Life, nameOf, subjects } from './life.ts'
import { reasonOf } from './taking-back.ts'
import type { Trial } from './trial.ts'

/** Reasons of resources that can exist only once, and of those that refer to them. */
const ONCE = ['Conflict', 'ReferenceNotReady'] as const
/** Longer than an operator needs to notice that all its objects were taken. */
const LOOK_MS = 80_000

/**
 * With one id, each cluster considers the objects that only the other has as left over from a resource of its own, and
 * reports them.
 */
const ORPHANS = 100

type Scenario = (one: Life, other: Life) => Promise<readonly string[]>

interface Way {
  readonly point: string
  readonly fault: string
  readonly installations: readonly [one: string, other: string]
  readonly scenario: Scenario
}

const apart = ['one', 'other'] as const
const same = ['shop', 'shop'] as const

const ways: readonly Way[] = [
  { point: 'the first at rest', fault: 'two clusters, two ids', installations: apart, scenario: beside(true) },
  { point: 'both at once', fault: 'two clusters, two ids', installations: apart, scenario: beside(false) },
  ...(['noticed', 'noticed by its children first', 'deleted before it is noticed'] as const).map(
    (point): Way => ({ point, fault: 'two clusters, one id', installations: same, scenario: takenOver(point) }),
  ),
]

/** Two clusters that manage one account with the same manifests. */
export const clusters: readonly Trial[] = ways.flatMap(({ point, fault, installations, scenario }) =>
  subjects.map((subject): Trial => {
    const { kind, title } = subject
    const run = (laboratory: Laboratory): Promise<readonly string[]> =>
      within(laboratory, subject, installations, scenario)
    return { what: { write: `${kind} ${title}`, point, fault }, run }
  }),
)

async function within(
  laboratory: Laboratory,
  subject: SpecCase,
  [first, second]: Way['installations'],
  scenario: Scenario,
): Promise<readonly string[]> {
  const one = await Life.open(laboratory, subject, { installation: first })
  const other = await Life.open(laboratory, subject, { installation: second, seed: 77, beside: one.world })
  try {
    return await scenario(one, other)
  } finally {
    one.world.down()
    other.world.down()
  }
}

function idsOf(...lives: readonly Life[]): ReadonlySet<string> {
  return new Set(lives.flatMap((life) => [...life.ids().values()]))
}

/** Each with an id of its own: what can exist twice does, and neither touches the other's objects. */
function beside(isFirstAtRest: boolean): Scenario {
  return async (one, other) => {
    for (const life of [one, other]) {
      life.oracle.allow({ refused: ONCE })
      if (life === one || !isFirstAtRest)
        for (const { kind, name, spec } of life.manifests()) life.world.apply(kind, name, spec)
    }
    if (isFirstAtRest) {
      const unrest = await one.oracle.untilRest()
      if (unrest.length > 0) return unrest
      // A cluster's knowledge of an account is as old as its last list.
      await one.world.advance(LOOK_MS)
      for (const { kind, name, spec } of other.manifests()) other.world.apply(kind, name, spec)
    }
    const unrest = [...(await one.oracle.untilRest()), ...(await other.oracle.untilRest())]
    if (unrest.length > 0) return unrest
    await one.world.advance(LOOK_MS)
    const before = await one.bodies()
    const problems = [...(await peace(one, other)), ...shared(one, other), ...unchanged(before, await one.bodies())]
    if (isFirstAtRest) problems.push(...untold(other))
    for (const { kind, metadata } of other.world.all()) other.world.delete(kind, metadata.name)
    other.oracle.allow({ others: idsOf(one) })
    problems.push(...(await other.oracle.judge()))
    // Names of the other cluster are free: the refused resources get them, and all else stays.
    one.oracle.allow({})
    return [...problems, ...(await one.oracle.judge()), ...unchanged(before, await one.bodies())]
  }
}

/** Lists of objects with children are older than those of the children. */
const childrenFirst: Trouble = {
  request: ({ server, method, path }) => {
    const isList = server === 'api' && method === 'GET' && PARENTS.has(path.slice(1))
    return isList ? { type: 'stale', seconds: LOOK_MS / 1_000 } : undefined
  },
}

/** Collections whose objects have children in another. */
const PARENTS: ReadonlySet<string> = new Set(
  managed.flatMap(({ identity: { collections }, children }) =>
    children === undefined ? [] : collections.map(({ path }) => path),
  ),
)

/** When the older of two clusters learns that the newer has taken an object. */
type Notice = 'noticed' | 'noticed by its children first' | 'deleted before it is noticed'

/** Both with one id: the newer takes the marked objects, and the older reports it and deletes none of them. */
function takenOver(notice: Notice): Scenario {
  const isNoticed = notice !== 'deleted before it is noticed'
  return async (old, young) => {
    const unrest = await old.begin()
    if (unrest.length > 0) return unrest
    await old.world.advance(LOOK_MS)
    const before = old.ids()
    const subject = [...old.world.all()]
    young.oracle.allow({ refused: ONCE })
    old.oracle.allow({ refused: [...ONCE, 'TakenOver'] })
    for (const { kind, name, spec } of young.manifests()) young.world.apply(kind, name, spec)
    if (isNoticed) {
      if (notice === 'noticed by its children first') old.world.trouble = childrenFirst
      await young.world.advance(2 * LOOK_MS)
      old.world.calm()
    } else {
      // The newer has put its marker on what it took; unmarked objects and tokens it created again.
      const settled = await young.oracle.untilRest()
      if (settled.length > 0) return settled
    }
    const problems: string[] = isNoticed ? [...(await peace(old, young, ORPHANS))] : []
    for (const cr of isNoticed ? subject : []) problems.push(...claimed(old, young, cr, before.get(nameOf(cr))))
    const kept = await young.bodies()
    for (const { kind, metadata } of old.world.all()) old.world.delete(kind, metadata.name)
    await young.world.advance(LOOK_MS)
    old.oracle.allow({ others: idsOf(young) })
    problems.push(...(await old.oracle.judge(undefined, ORPHANS)))
    // Unmarked names of the older cluster are free by now.
    young.oracle.allow({})
    problems.push(...(await young.oracle.judge(undefined, ORPHANS)))
    const bodies = await young.bodies()
    return [...problems, ...(isNoticed ? unchanged(kept, bodies) : [])]
  }
}

/** The outcome for a resource of the older cluster, and the same one of the newer. */
function claimed(old: Life, young: Life, cr: CustomResource, former: string | undefined): readonly string[] {
  const mine = old.world.get(cr.kind, cr.metadata.name)
  const theirs = young.world.get(cr.kind, cr.metadata.name)
  if (mine === undefined || theirs === undefined) return [`${nameOf(cr)} is gone`]
  const about = nameOf(cr)
  if (!isMarked(cr))
    return statusOf(mine).id === former ? [] : [`${about} has ${statusOf(mine).id} in the older cluster`]
  if (hasToken(cr.kind)) {
    return statusOf(mine).id === statusOf(theirs).id ? [`${about} shares ${former}`] : []
  }
  const taken = statusOf(theirs).id === former ? [] : [`${about} has ${statusOf(theirs).id} in the newer cluster`]
  return reasonOf(mine) === 'TakenOver' ? taken : [...taken, `${about} says ${reasonOf(mine)} in the older cluster`]
}

/** What is wrong in either cluster when both run; and then silence. */
async function peace(one: Life, other: Life, orphans = 0): Promise<readonly string[]> {
  for (const life of [one, other]) life.oracle.allow({ refused: [...ONCE, 'TakenOver'], others: idsOf(one, other) })
  const { length } = one.oracle.writes
  const problems = [...(await other.oracle.judge(undefined, orphans))]
  const late = one.oracle.writes.length
  problems.push(...(await one.oracle.judge(undefined, orphans)))
  return late === length ? problems : [...problems, `${late - length} writes of the first cluster at rest`]
}

function shared(one: Life, other: Life): readonly string[] {
  const held = idsOf(one)
  return [...other.ids()].filter(([, id]) => held.has(id)).map(([name, id]) => `${name} of the other cluster has ${id}`)
}

/** Resources of the second cluster without an Event that says whose object may be theirs. */
function untold(other: Life): readonly string[] {
  return other.world
    .all()
    .filter((cr) => reasonOf(cr) !== 'ReferenceNotReady' && !other.wasTold(cr, 'PossibleDuplicate'))
    .map((cr) => `${nameOf(cr)} was not told of a possible duplicate`)
}
