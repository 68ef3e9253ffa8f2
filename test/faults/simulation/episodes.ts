import { kinds } from '../../../src/kinds/index.ts'
import type { CustomResource } from '../../../src/managed/cr.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import type { Edit, Manifest, Surrounding } from '../../kinds/kind-test-data.ts'
import {
  collectionTests,
  editStories,
  type KindEditStory,
  namedResources,
  type SpecCase,
  specsOf,
} from '../../kinds/lookup.ts'
import type { WrittenDown } from './written-down.ts'

type Fields = Readonly<Record<string, unknown>>

/** What an episode needs of a world, either simulated or with real servers, which answer later. */
export interface EpisodeWorld {
  /** Like `kubectl apply`. */
  apply(kind: string, name: string, spec: Fields): unknown
  annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): unknown
  delete(kind: string, name: string): unknown
  get(kind: string, name: string): CustomResource | undefined | Promise<CustomResource | undefined>
  /** Where the API stores the object of a resource. */
  placeOf(cr: CustomResource): { readonly path: string; readonly id: string } | undefined
  /** Calls the API as the administrator. */
  readonly api: { ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> }
}

/** Is notified before something happens to a resource. */
export interface EpisodeWitness {
  specChanges(kind: string, name: string, spec: Fields): void
  meddled(kind: string, name: string): void
}

/** One event in the life of a resource: the state before, and the change. */
export interface Episode {
  /** `Backend group / update`. */
  readonly title: string
  readonly kind: string
  readonly name: string
  /** The dependencies of its specs, in order of creation. */
  readonly needs: readonly Manifest[]
  /** The resource's spec before; undefined: there is no resource. */
  readonly before: Fields | undefined
  act(world: EpisodeWorld, witness: EpisodeWitness): Promise<void>
  /** Whether the operator notices it only when it polls the account. */
  readonly isUnseen: boolean
  /** The object that the API then shows; undefined: none was written down. */
  readonly written?: ((around: Surrounding) => WrittenDown) | undefined
}

const DRIFT = 'drift'
const DELETED = 'deleted by somebody'

/** Every event in the lives of every kind, and the creation of every possible spec. */
export const episodes: readonly Episode[] = [
  ...editStories.flatMap(episodesOf),
  ...kinds
    .filter(({ role }) => role === 'managed')
    .flatMap(({ definition }) => specsOf(definition.kind).slice(1))
    .map(creationOf),
]

/** The kinds of an episode. */
export function kindsOf({ kind, needs }: Episode): ReadonlySet<string> {
  return new Set([kind, ...needs.map((need) => need.kind)])
}

function episodesOf(story: KindEditStory): readonly Episode[] {
  const { kind, title, base, edits } = story
  const name = title
  const needs = needsOf(story)
  const episode = (
    turn: string,
    before: Fields | undefined,
    act: Episode['act'],
    made: readonly Edit[] = [],
  ): Episode => {
    const isUnseen = turn === DRIFT || turn === DELETED
    const written = made.length === 0 ? undefined : afterEdits(made)
    return { title: `${kind} ${title} / ${turn}`, kind, name, needs, before, act, isUnseen, written }
  }
  const apply = (spec: Fields): Episode['act'] => applied(kind, name, spec)
  const first = edits.find(({ sends, rules }) => sends.length > 0 && rules === undefined && sends !== 'another object')
  const ruled = edits.findIndex(({ rules }) => rules !== undefined)
  const replaced = edits.findIndex(({ sends }) => sends === 'another object')
  const unshown = edits.findIndex(({ sends, object }) => {
    const isPatch = sends !== 'another object' && sends.length > 0
    return isPatch && object !== undefined && Object.keys(object(() => '')).length === 0
  })
  const told = kinds.some(
    (each) => each.definition.kind === kind && each.role === 'managed' && each.output?.type === 'one-time',
  )
  /** From the spec after the first edits to that after a few more; nothing without the edit concerned. */
  const further = (turn: string, from: number, count: number): readonly Episode[] => {
    const made = edits.slice(0, from + count)
    return from < 0 ? [] : [episode(turn, edited(base, edits.slice(0, from)), apply(edited(base, made)), made)]
  }
  return [
    episode('create', undefined, apply(base)),
    ...(first === undefined ? [] : [episode('update', base, apply(edited(base, [first])), [first])]),
    ...further('change of rules', ruled, 5),
    ...further('replace', replaced, 1),
    ...further('change of a value that is never shown', unshown, 1),
    episode(DRIFT, base, drift(kind, name)),
    episode(DELETED, base, deleteByHand(kind, name)),
    ...(told
      ? [episode('rotate', { ...base, rotation: { interval: '720h', overlap: '2s' } }, rotate(kind, name))]
      : []),
    episode('delete', base, async (world) => void (await world.delete(kind, name))),
  ]
}

function creationOf({ kind, title, spec, needs, object, rules }: SpecCase): Episode {
  const name = title.replaceAll(/[^a-z]+/gi, '-').toLowerCase()
  const act = applied(kind, name, spec(name))
  const at = `${kind} ${title} / create`
  const written = (around: Surrounding): WrittenDown => ({ object: object(around), isWhole: true, rules })
  return { title: at, kind, name, needs: needs(name), before: undefined, act, isUnseen: false, written }
}

function applied(kind: string, name: string, spec: Fields): Episode['act'] {
  return async (world, witness) => {
    witness.specChanges(kind, name, spec)
    await world.apply(kind, name, spec)
  }
}

/** The object written down after edits. */
function afterEdits(edits: readonly Edit[]): NonNullable<Episode['written']> {
  return ({ id }) => ({
    object: Object.assign({}, ...edits.map(({ object }) => object?.(id))) as Fields,
    isWhole: false,
    rules: edits.findLast(({ rules }) => rules !== undefined)?.rules,
  })
}

/** The spec after edits, as `Edit.spec` says. */
export function edited(base: Fields, edits: readonly Edit[]): Fields {
  const merged = Object.assign({}, base, ...edits.map(({ spec }) => spec)) as Fields
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
}

/** Changes the resource's object by hand, in a field that its spec sets. */
export function drift(kind: string, name: string): Episode['act'] {
  return async (world, witness) => {
    const place = await placeOf(world, kind, name)
    const object = await world.api.ask('GET', `/${place.path}/${place.id}`)
    const change = Object.entries(collectionTests(place.path)?.drifts ?? {}).find(
      ([field]) => field !== 'metadata',
    )?.[1][0]
    witness.meddled(kind, name)
    if (change !== undefined) await world.api.ask('PATCH', `/${place.path}/${place.id}`, change(object))
  }
}

/** Deletes the resource's object by hand. */
export function deleteByHand(kind: string, name: string): Episode['act'] {
  return async (world, witness) => {
    const place = await placeOf(world, kind, name)
    witness.meddled(kind, name)
    await world.api.ask('DELETE', `/${place.path}/${place.id}`)
  }
}

function rotate(kind: string, name: string): Episode['act'] {
  return async (world) => void (await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'now' }))
}

async function placeOf(world: EpisodeWorld, kind: string, name: string) {
  const cr = await world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (place === undefined) throw new Error(`${kind}/${name} has no object`)
  return place
}

/** The resources that specs of a story refer to. */
export function needsOf({ kind, base, edits }: KindEditStory): readonly Manifest[] {
  const descriptor = kinds.find(({ definition }) => definition.kind === kind)
  if (descriptor?.role !== 'managed') return []
  const specs = edits.map((_, index) => edited(base, edits.slice(0, index + 1)))
  const references = [base, ...specs].flatMap((spec) => descriptor.references.of(spec as CommonSpec))
  return namedResources.filter((each) =>
    references.some(({ kind: to, ref }) => to === each.kind && ref.name === each.name),
  )
}
