import { type LivedSubject, pathOfObjects } from '../../../cluster/support/as-written.ts'
import { managed, withText } from '../../../cluster/support/cases.ts'
import { isAtRest } from '../../../cluster/support/journeys.ts'
import { hasToken } from '../../../cluster/support/tokens.ts'
import type { Resource, World } from '../../../cluster/support/world.ts'
import type { Edit } from '../../../kinds/kind-test-data.ts'
import { collectionTests, editStories, type SpecCase, specsOf } from '../../../kinds/lookup.ts'

type Fields = Readonly<Record<string, unknown>>

/** A CR of a life with its own name. */
export interface Living extends LivedSubject {
  readonly kind: string
  readonly name: string
  readonly spec: Record<string, unknown>
  readonly specName: string
}

/** A change to a CR at rest. */
export interface Act {
  readonly name: string
  /** Whether another object is created for it. */
  readonly makesAnother: boolean
  /** The edit of the spec. */
  readonly edit?: (spec: Record<string, unknown>) => Record<string, unknown>
  /** The change of the remote object by hand. */
  readonly harm?: (world: World, living: Living, cr: Resource) => Promise<void>
  /**
   * Does the rest to the current CR, which is what the operator observes. Nothing for `create`: then the CR was just
   * created.
   */
  readonly begin?: (world: World, living: Living, cr: Resource) => Promise<void>
  /** Whether the operator has finished. @param cr undefined once it is gone. @param former id of its object before */
  isOver(cr: Resource | undefined, former: unknown): boolean
  /** Fields of the object that differ afterwards. */
  readonly changes?: Fields
  /** Rules of a policy that differ afterwards. */
  readonly rules?: readonly Fields[]
}

/** All changes to a resource of one spec. */
export interface Life extends SpecCase {
  /** `kind-title`, as part of names. */
  readonly name: string
  readonly acts: readonly Act[]
}

const TEXT = 'edited in the middle of its life'
const LOOK = 'culvert.dev/reconcile-requested-at'
/** A replaced token that is no longer used is revoked at once. */
const NO_OVERLAP = { rotation: { interval: '720h', overlap: '0s' } }
const ROTATE = { 'culvert.dev/rotate-requested-at': 'now' }

/** The life of every managed kind with its spec of that title. */
export function livesTitled(title: 'minimal' | 'full'): readonly Life[] {
  return managed
    .flatMap(({ definition }) => specsOf(definition.kind))
    .filter((each) => each.title === title)
    .map((each) => (hasToken(descriptorOf(each.kind)) ? withoutOverlap(each) : each))
    .map((each) => ({ ...each, name: `${each.kind}-${title}`.toLowerCase(), acts: actsOf(each) }))
}

/** The CR of a life with this name. @param specName the name that the spec and its needs are built for */
export function living({ kind, title, spec }: SpecCase, name: string, specName = name): Living {
  const own = spec(specName)
  return { kind, name, title, specName, spec: own, path: pathOfObjects({ kind, name, spec: own }) }
}

function withoutOverlap(life: SpecCase): SpecCase {
  return { ...life, spec: (name) => ({ ...life.spec(name), ...NO_OVERLAP }) }
}

function descriptorOf(kind: string) {
  const found = managed.find(({ definition }) => definition.kind === kind)
  if (found === undefined) throw new Error(`there is no kind ${kind}`)
  return found
}

/** The CR's state after the act; undefined once it is gone. */
export function after(one: Living, { edit, changes, rules, isOver }: Act): Living | undefined {
  if (isOver(undefined, undefined)) return undefined
  const spec = edit === undefined ? one.spec : edit(one.spec)
  return { ...one, spec, changes: { ...one.changes, ...changes }, ...(rules === undefined ? {} : { rules }) }
}

function actsOf(life: SpecCase): readonly Act[] {
  const descriptor = descriptorOf(life.kind)
  const isRotated = hasToken(descriptor)
  return [
    create,
    ...updates(life, descriptor.identity.markedBy),
    ...replacements(life),
    drift,
    vanish,
    ...(isRotated ? [rotate] : []),
    remove,
  ]
}

const create: Act = { name: 'create', makesAnother: false, isOver: (cr) => cr !== undefined && isAtRest(cr) }

function updates(life: SpecCase, shownIn: 'metadata' | 'name'): readonly Act[] {
  const text = updating('update', (spec) => withText({ kind: life.kind, name: '', spec }, TEXT), {
    changes: shownIn === 'name' ? { name: TEXT } : { description: TEXT },
  })
  const ofRules = editsOf(life).find(({ rules = [] }) => rules.length > 1)
  if (ofRules?.rules === undefined) return [text]
  return [text, updating('update rules', (spec) => ({ ...spec, ...ofRules.spec }), { rules: ofRules.rules })]
}

/** Another value of an immutable field, if the kind has one. */
function replacements(life: SpecCase): readonly Act[] {
  // A value that refers to something else would need that as well.
  const edit = editsOf(life).find(
    ({ spec, sends }) => sends === 'another object' && !JSON.stringify(spec).includes('Ref'),
  )
  if (edit === undefined) return []
  const changes = edit.object?.(() => '') ?? {}
  const act = updating('replace', (spec) => ({ ...spec, ...edit.spec }), { changes })
  const isOver: Act['isOver'] = (cr, former) => act.isOver(cr, former) && cr?.status?.id !== former
  return [{ ...act, makesAnother: true, isOver }]
}

function editsOf({ kind }: SpecCase): readonly Edit[] {
  return editStories.filter((story) => story.kind === kind).flatMap(({ edits }) => edits)
}

function updating(name: string, edit: NonNullable<Act['edit']>, comesTo: Pick<Act, 'changes' | 'rules'>): Act {
  return {
    ...create,
    ...comesTo,
    name,
    edit,
    begin: async (world, { kind, name: cr, spec }) => {
      await world.apply(kind, cr, edit(spec))
    },
  }
}

/** Whether the reconcile that was requested after the change of the object has finished. */
function wasLookedAt(cr: Resource | undefined, name: string): boolean {
  return cr !== undefined && isAtRest(cr) && cr.status?.lastHandledReconcileAt === askedAfter(name)
}

/** The object is changed by hand, then a reconcile of the CR is requested. */
function harming(name: string, harm: NonNullable<Act['harm']>): Pick<Act, 'name' | 'harm' | 'begin'> {
  return { name, harm, begin: (world, one) => world.annotate(one.kind, one.name, { [LOOK]: askedAfter(name) }) }
}

function askedAfter(name: string): string {
  return name.replace(' ', '-')
}

const drift: Act = {
  makesAnother: false,
  ...harming('drift', async (world, { kind, name, path }, { status }) => {
    const id = String(status?.id)
    const object = (await world.api.get(`/${path}/${id}`)).body
    const [changed] = Object.values(collectionTests(path)?.drifts ?? {})[0] ?? []
    const answer = await world.api.patch(`/${path}/${id}`, { id, ...changed?.(object) })
    if (answer.status !== 200) throw new Error(`${kind}/${name} cannot be made to drift: ${answer.status}`)
  }),
  isOver: (cr) => wasLookedAt(cr, 'drift'),
}

const vanish: Act = {
  makesAnother: true,
  ...harming('external delete', async (world, { kind, name, path }, { status }) => {
    const answer = await world.api.delete(`/${path}/${status?.id}`)
    if (answer.status !== 204) throw new Error(`${kind}/${name} cannot be deleted: ${answer.status}`)
  }),
  isOver: (cr, former) => wasLookedAt(cr, 'external delete') && cr?.status?.id !== former,
}

const rotate: Act = {
  name: 'rotate',
  makesAnother: true,
  begin: (world, { kind, name }) => world.annotate(kind, name, ROTATE),
  isOver: (cr, former) => cr !== undefined && isAtRest(cr) && cr.status?.id !== former,
}

const remove: Act = {
  name: 'delete',
  makesAnother: false,
  begin: (world, { kind, name }) => world.delete(kind, name),
  isOver: (cr) => cr === undefined,
}
