import { allCollections, collectionAt, createFields } from '../../contract/facts/all.ts'
import type { CollectionFact, FieldFact } from '../../contract/facts/facts.ts'
import type { Sample, Variant } from '../../kinds/kind-test-data.ts'
import { collectionTests } from '../../kinds/lookup.ts'
import type { Resource } from './api-client.ts'
import type { World } from './world.ts'

/** A sample of one field. Throws if a due collection lacks one. */
export async function sampleOf(
  world: World,
  row: CollectionFact,
  field: FieldFact,
  variant: Variant = 'first',
): Promise<Sample> {
  const make = collectionTests(row.path)?.samples[field.name]
  if (make === undefined) throw new Error(`no sample for ${field.id}`)
  return make(world, variant)
}

/** A body, and the response fields that follow from it. */
export interface BodySample {
  readonly body: Record<string, unknown>
  readonly shown: Record<string, unknown>
}

async function bodyOf(
  world: World,
  row: CollectionFact,
  fields: readonly FieldFact[],
  variant: Variant,
): Promise<BodySample> {
  const body: Record<string, unknown> = {}
  const shown: Record<string, unknown> = {}
  for (const field of fields) {
    // Of two fields that exclude each other, the first stays; a field that requires another's value follows it.
    if (field.sent?.excludes !== undefined && field.sent.excludes in body) continue
    const partner = field.sent?.goesWith
    if (partner !== undefined && body[partner.field] !== partner.value) continue
    const sample = await sampleOf(world, row, field, variant)
    body[field.name] = sample.sent
    if (field.sent?.shownAs !== undefined) shown[field.sent.shownAs] = sample.returned
  }
  return { body, shown }
}

/** The minimal body of a create. */
export function minimalBody(world: World, row: CollectionFact): Promise<BodySample> {
  const mandatory = createFields(row).filter((field) => field.sent?.create === 'mandatory')
  return bodyOf(world, row, mandatory, 'first')
}

/** Every field that a create may contain. */
export function fullBody(world: World, row: CollectionFact): Promise<BodySample> {
  return bodyOf(world, row, createFields(row), 'first')
}

/** Every field that an update may contain, each with another value than in `fullBody`. */
export function updateBody(world: World, row: CollectionFact): Promise<BodySample> {
  const mutable = row.fields.filter((field) => field.sent?.update === 'mutable')
  return bodyOf(world, row, mutable, 'second')
}

/** An object with only its mandatory fields. */
export async function createMinimal(world: World, path: string): Promise<Resource> {
  return world.api.create(path, (await minimalBody(world, collectionAt(path))).body)
}

/** Fields of collections without a sample; for the test that there are none. */
export function fieldsWithoutSample(): readonly string[] {
  return allCollections
    .flatMap((row) => row.fields.filter((field) => field.sent !== undefined).map((field) => [row, field] as const))
    .filter(([row, field]) => collectionTests(row.path)?.samples[field.name] === undefined)
    .map(([, field]) => field.id)
}
