import { type CustomResource, hasFinalizer, internalOf, statusOf } from '../../../../src/managed/cr.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import { subjects } from '../restore/life.ts'
import type { Trial } from '../restore/trial.ts'
import { NAMESPACE, type SimulatedWorld } from '../world.ts'
import { type FoundObject, findObject, isGuarded, objectAt, refusalOf } from './found.ts'
import { type Hurt, hurtIn, hurts } from './hurts.ts'

type Fields = Readonly<Record<string, unknown>>

const NAME = 'subject'
const TEXT = 'as the resource has it'

/** How a resource relates to the object; undefined: there is no resource. */
type Stance = 'observing' | 'managing' | 'managing, to delete' | undefined

/** One step of a resource that names an existing object. */
interface Turn {
  readonly title: string
  readonly before: Stance
  readonly after: Stance
  /** Whether another resource of that name is created after the previous one is gone. */
  readonly isAnother?: true
  /** Whether the resource loses all of its annotations and its status. */
  readonly isStripped?: true
  /** What happens to the object. */
  readonly object: 'stays as it was' | 'is as the resource has it' | 'goes'
}

const turns: readonly Turn[] = [
  { title: 'observed', before: undefined, after: 'observing', object: 'stays as it was' },
  { title: 'adopted at once', before: undefined, after: 'managing', object: 'is as the resource has it' },
  { title: 'adopted', before: 'observing', after: 'managing', object: 'is as the resource has it' },
  { title: 'released', before: 'managing', after: 'observing', object: 'stays as it was' },
  { title: 'no longer observed', before: 'observing', after: undefined, object: 'stays as it was' },
  { title: 'left behind', before: 'managing', after: undefined, object: 'stays as it was' },
  {
    title: 'left behind and adopted by another',
    before: 'managing',
    after: 'managing',
    isAnother: true,
    object: 'is as the resource has it',
  },
  { title: 'stripped', before: 'managing', after: 'managing', isStripped: true, object: 'stays as it was' },
  {
    title: 'stripped while observed',
    before: 'observing',
    after: 'observing',
    isStripped: true,
    object: 'stays as it was',
  },
  { title: 'deleted', before: 'managing, to delete', after: undefined, object: 'goes' },
]

/**
 * Every step from observing an object to its deletion, without faults, in an account of the namespace or a shared one.
 */
export const adoptions: readonly Trial[] = each((subject, turn, isShared) => [trial(subject, turn, isShared)])

/** The same with a kill or a fault at each write. */
export const hurtAdoptions: readonly Trial[] = each((subject, turn, isShared) => {
  return hurts.map((hurt) => trial(subject, turn, isShared, hurt))
})

function each(trialsOf: (subject: SpecCase, turn: Turn, isShared: boolean) => readonly Trial[]): readonly Trial[] {
  return subjects.flatMap((subject) => {
    return turns
      .filter(({ object }) => object !== 'goes' || !isGuarded(subject))
      .flatMap((turn) => [false, true].flatMap((isShared) => trialsOf(subject, turn, isShared)))
  })
}

function trial(subject: SpecCase, turn: Turn, isShared: boolean, hurt?: (typeof hurts)[number]): Trial {
  const account = isShared ? 'ClusterAccount' : 'Account'
  return {
    what: {
      write: `${subject.kind} ${subject.title} / ${turn.title}, ${account}`,
      point: hurt?.point ?? 'at rest',
      fault: hurt?.title ?? 'none',
    },
    run: async (laboratory) => {
      const found = await findObject(laboratory, subject, { isShared })
      try {
        return await played(found, subject.kind, turn, hurt)
      } finally {
        found.world.down()
      }
    },
  }
}

async function played(
  found: FoundObject,
  kind: string,
  turn: Turn,
  hurt: Hurt | undefined,
): Promise<readonly string[] | undefined> {
  const { world, oracle, id, path } = found
  oracle.allow({ refused: ['Observed'], others: new Set([id]) })
  if (turn.before !== undefined) take(found, kind, turn.before)
  const unrest = await oracle.untilRest()
  if (unrest.length > 0) return unrest
  await world.advance(1_000)
  const before = JSON.stringify(await objectAt(found))
  const isHurt = hurtIn(world, hurt)
  const posts = postsOf(world)
  if (turn.isStripped === true) strip(world, kind)
  if (turn.after === undefined || turn.isAnother === true) {
    world.delete(kind, NAME)
    await world.until(() => world.get(kind, NAME) === undefined, FAREWELL_MS)
  }
  if (turn.after !== undefined) take(found, kind, turn.after)
  await oracle.untilRest()
  if (!isHurt()) return undefined
  const problems = [...(await oracle.judge(undefined, LEFT_RULES))]
  const after = await objectAt(found)
  // The spec sets the object: losing other information creates no second one.
  problems.push(...posts)
  problems.push(...unlikeTurn(turn, before, after), ...unlikeStance(world.get(kind, NAME), turn.after, id))
  world.delete(kind, NAME)
  await world.until(() => world.get(kind, NAME) === undefined, FAREWELL_MS)
  if ((await objectAt(found)) !== undefined) await world.api.ask('DELETE', path)
  for (const cr of world.all()) world.delete(cr.kind, cr.metadata.name)
  oracle.allow({})
  return [...problems, ...(await oracle.judge({}))]
}

/** Every POST to the API from now on. */
function postsOf({ network }: SimulatedWorld): readonly string[] {
  const posts: string[] = []
  const { onSend } = network
  network.onSend = (sighting) => {
    onSend(sighting)
    const { method, path, server } = sighting
    if (server === 'api' && method === 'POST') posts.push(`sent POST ${path}`)
  }
  return posts
}

function strip(world: SimulatedWorld, kind: string): void {
  const key = { namespace: NAMESPACE, name: NAME }
  world.kube.mergePatch(world.typeOf(kind), key, { metadata: { annotations: null } })
  world.kube.mergePatch(world.typeOf(kind), key, { status: null }, { subresource: 'status' })
}

/** Time until a resource is gone. Milliseconds. */
const FAREWELL_MS = 60_000
/** Rules of a policy that is left behind carry the marker of the deleted resource: they are reported. */
const LEFT_RULES = 3

/** Applies the resource with that relation to the object. */
function take({ world, id, spec }: FoundObject, kind: string, stance: NonNullable<Stance>): void {
  const text = kind === 'BotUser' ? { displayName: TEXT } : { description: TEXT }
  const wanted: Fields = {
    ...spec,
    ...text,
    externalID: id,
    managementPolicy: stance === 'observing' ? 'Observe' : 'Manage',
    ...(stance === 'managing, to delete' && { deletionPolicy: 'Delete' }),
  }
  world.apply(kind, NAME, wanted)
}

function unlikeTurn({ object }: Turn, before: string, after: Fields | undefined): readonly string[] {
  const text = JSON.stringify(after)
  switch (object) {
    case 'stays as it was':
      return text === before ? [] : [`the object was ${before} and is ${text}`]
    case 'is as the resource has it':
      return after?.description === TEXT || after?.name === TEXT ? [] : [`the object is ${text}`]
    case 'goes':
      return after === undefined ? [] : [`the object is still ${text}`]
  }
}

function unlikeStance(cr: CustomResource | undefined, stance: Stance, id: string): readonly string[] {
  if (cr === undefined || stance === undefined) return cr === stance ? [] : ['the resource is still there']
  const { adopted = false, id: held } = statusOf(cr)
  const { create } = internalOf(cr)
  const problems = held === id ? [] : [`the resource has ${held}`]
  if (stance !== 'observing')
    return adopted && hasFinalizer(cr) ? problems : [...problems, 'it did not adopt the object']
  if (create === undefined && hasFinalizer(cr)) problems.push('it has a finalizer for what it only looks at')
  const { reason } = refusalOf(cr)
  return ['InSync', 'Observed'].includes(reason) ? problems : [...problems, `it says ${reason}`]
}
