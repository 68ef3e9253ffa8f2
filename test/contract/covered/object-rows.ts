import { allCollections } from '../facts/all.ts'
import type { CollectionFact, FieldFact, Shape } from '../facts/facts.ts'
import { allObjects, objectNamed } from '../facts/objects.ts'
import { managingKinds } from './kinds.ts'
import type { CoverageRow } from './row.ts'

/** A field of a due collection that holds an object, in requests or in responses. */
interface Use {
  readonly row: CollectionFact
  readonly field: FieldFact
  readonly way: 'sent' | 'returned'
}

/** The members of objects inside resources: each is held by the tests of a field that holds the object. */
export function objectRows(): readonly CoverageRow[] {
  return allObjects.flatMap(({ name, source, fields }) => {
    const uses = usesOf(name)
    const { due = 'later', operatorDue = 'later' } = uses[0]?.row ?? {}
    return fields.map((member) => ({
      id: `${name}.${member.name}`,
      statement: member.secret
        ? 'is a secret: null in every response'
        : member.mandatory
          ? 'is mandatory'
          : 'is optional',
      source,
      due,
      operatorDue,
      emulator: uses.flatMap(emulatorTests),
      operator: { tests: [...new Set(uses.map(({ row }) => managingKinds[row.path]?.settles ?? row.path))] },
    }))
  })
}

function emulatorTests({ row: { path }, field, way }: Use): readonly string[] {
  const creating = `contract/create.test.ts > creating in ${path}`
  const documented = `contract/openapi.test.ts > every answer in ${path} > is as documented`
  // The wrong values of a field go through every member of the object.
  return way === 'sent' ? [`${creating} > with another type for ${field.name} is a 400 naming it`] : [documented]
}

function usesOf(name: string): readonly Use[] {
  return allCollections.flatMap((row) =>
    row.fields.flatMap((field) =>
      (['sent', 'returned'] as const)
        .filter((way) => field[way] !== undefined && holds(field[way].shape, name))
        .map((way) => ({ row, field, way })),
    ),
  )
}

function holds(shape: Shape, name: string): boolean {
  switch (shape.kind) {
    case 'object':
      return shape.object === name || objectNamed(shape.object).fields.some((field) => holds(field.shape, name))
    case 'list':
    case 'map':
      return holds(shape.of, name)
    case 'string':
    case 'boolean':
    case 'integer':
    case 'id':
    case 'ref':
    case 'free-object':
      return false
  }
}
