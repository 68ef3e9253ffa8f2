import { allCollections } from '../facts/all.ts'
import type { CollectionFact, FieldFact, Shape } from '../facts/facts.ts'
import { allObjects, type ObjectFact, objectNamed } from '../facts/objects.ts'
import { stated } from '../facts/rules/all.ts'
import { lives, managingKinds, reaches } from './kinds.ts'
import type { CoverageRow } from './row.ts'

/** A field of a due collection that holds an object, in requests or in responses. */
interface Use {
  readonly row: CollectionFact
  readonly field: FieldFact
  readonly way: 'sent' | 'returned'
}

/** The members of objects inside resources: each is covered by the tests of a field that contains the object. */
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
      emulator: emulatorTests(name, member, uses),
      operator: { tests: [...new Set(uses.flatMap(operatorTests))] },
    }))
  })
}

/** A member that is sent has tests of its own; one that is only returned appears in a collection's answers. */
function emulatorTests(
  object: string,
  { name, mandatory, secret }: ObjectFact['fields'][number],
  uses: readonly Use[],
): readonly string[] {
  const returned = uses.filter(({ way }) => way === 'returned')
  const seen = [...new Set(returned.flatMap(returnedTests))]
  if (returned.length === uses.length) return seen
  const member = `contract/objects.test.ts > ${object} > ${name}`
  return [
    `${member} of another type is a 400 naming it`,
    `${member} ${mandatory ? 'is mandatory' : 'may be left out'}`,
    ...(secret ? [`${member} is null in every response`] : []),
    ...seen,
  ]
}

function returnedTests({ row, field }: Use): readonly string[] {
  const { path } = row
  const values = isSettable(row, field)
    ? `contract/create.test.ts > creating in ${path} > with every field answers each value, and a later GET shows the same`
    : CERTIFICATES[path]
  const documented = `contract/openapi.test.ts > every answer in ${path} > is as documented`
  return values === undefined ? [documented] : [values, documented]
}

/** Whether a request can set what the response shows in the field. */
function isSettable({ fields }: CollectionFact, { name, sent }: FieldFact): boolean {
  return sent !== undefined || fields.some((other) => other.sent?.shownAs === name)
}

/** No request determines what happens to certificates. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  reserved_domains: `contract/* > ${stated('certificates.dns-error')}*`,
  agent_ingresses: `contract/* > ${stated('ingresses.ns-records')}*`,
}

/** Fields that no request sets are shown in the status. */
function operatorTests({ row, field }: Use): readonly string[] {
  if (!isSettable(row, field))
    return ['unit/kinds/facts.test.ts > every response field that no request sets is in the status']
  const kind = managingKinds[row.path]?.kind ?? row.path
  return [reaches(kind), lives(kind)]
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
