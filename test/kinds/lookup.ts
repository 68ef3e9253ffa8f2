import type { SeedSpec } from '../../src/emulator/admin/seed.ts'
import { kindTests, managedKindTests } from './index.ts'
import type {
  Body,
  CollectionTestData,
  EditStory,
  ManagedKindTestData,
  Manifest,
  Referent,
  SpecTestData,
} from './kind-test-data.ts'
import { OF_NO_KIND } from './shared/account.ts'

/** Kinds whose specs take the most shapes. */
const VARIED = ['Backend', 'Edge', 'EventDestination', 'IPPolicy', 'ReservedDomain']

/** Tags of a test that does the same for each kind: the kinds with the most shapes stand for the others by day. */
export function nightlyUnlessVaried(kind: string): string[] {
  return VARIED.includes(kind) ? [] : ['nightly']
}

/** One valid spec of a kind. */
export interface SpecCase extends SpecTestData {
  readonly kind: string
  readonly title: string
  readonly needs: (name: string) => readonly Manifest[]
}

/** @throws Error for a kind without test data: each managed kind needs its own */
export function testsOf(kind: string): ManagedKindTestData {
  const found = managedKindTests.find((each) => each.kind === kind)
  if (found === undefined) throw new Error(`describe ${kind} in a file of test/kinds, and name it in index.ts there`)
  return found
}

/** Every spec of a kind, `minimal` and `full` first. @throws Error for a kind without test data */
export function specsOf(kind: string): readonly SpecCase[] {
  const { minimal, full, ...others } = testsOf(kind).specs
  return Object.entries({ minimal, full, ...others }).map(([title, spec]) => ({
    kind,
    title,
    needs: () => [],
    ...(spec as SpecTestData),
  }))
}

/** The spec of a kind with this title. @throws Error if there is none */
export function specTitled(kind: string, title: string): SpecCase {
  const found = specsOf(kind).find((each) => each.title === title)
  if (found === undefined) throw new Error(`${kind} has no spec ${title}`)
  return found
}

/** A spec that the CRD accepts, of any kind that has one. */
export function acceptedSpec(kind: string): Body {
  return kindTests.find((each) => each.kind === kind)?.accepted ?? {}
}

/** A story of a kind. */
export interface KindEditStory extends EditStory {
  readonly kind: string
}

/** The stories of every kind. */
export const editStories: readonly KindEditStory[] = managedKindTests.flatMap(({ kind, edits }) =>
  edits.map((story) => ({ kind, ...story })),
)

/** What the suites need to know of a collection; undefined if no kind has objects there. */
export function collectionTests(path: string): CollectionTestData | undefined {
  return managedKindTests.find(({ collections }) => collections[path] !== undefined)?.collections[path]
}

const referents: readonly (Referent & { readonly kind: string })[] = managedKindTests.flatMap(
  ({ kind, referents: own = [] }) => own.map((each) => ({ kind, ...each })),
)

/** Resources that edits and generated specs refer to by name, none of which refers to another. */
export const namedResources: readonly Manifest[] = referents.flatMap(({ kind, resource }) =>
  resource === undefined ? [] : [{ kind, name: resource.name, spec: resource.spec }],
)

/** The object of a named resource, in an account with `REFERENTS_SEED`. */
export function namedObject(kind: string, name: string | undefined): Referent | undefined {
  return referents.find((each) => each.kind === kind && each.resource?.name === name)
}

/** Objects that generated specs refer to by name or by id, with fixed ids. */
export const REFERENTS_SEED: SeedSpec = seedOf(referents)

/** The same without those of `namedResources`. */
export const UNNAMED_SEED: SeedSpec = seedOf(
  referents.filter(({ object, resource }) => {
    const named = referents.some((each) => each.resource !== undefined && each.object.id === object.ip_policy_id)
    return resource === undefined && !named
  }),
)

function seedOf(chosen: readonly Referent[]): SeedSpec {
  const objects: Record<string, Referent['object'][]> = { ...OF_NO_KIND }
  for (const { collection, object } of chosen) objects[collection] = [...(objects[collection] ?? []), object]
  return { objects }
}
