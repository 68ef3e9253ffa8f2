import type { CollectionFact, FieldFact, OperatorSide, SentFact } from '../facts/facts.ts'
import { lives, managingKinds, reaches } from './kinds.ts'
import type { CoverageRow } from './row.ts'

const create = (path: string, title: string): string => `contract/create.test.ts > creating in ${path} > ${title}`
const update = (path: string, title: string): string => `contract/update.test.ts > updating in ${path} > ${title}`

type Part = readonly [part: string, statement: string, emulator: readonly string[], operator: OperatorSide]

/** The facts about one field: in requests, in responses, its limits. */
export function fieldRows(row: CollectionFact, field: FieldFact): readonly CoverageRow[] {
  const { due, operatorDue } = row
  const parts = [
    ...returned(row, field),
    ...(field.sent === undefined ? unsendable(row, field) : sent(row, field, field.sent)),
  ]
  return parts.map(([part, statement, emulator, operator]) => {
    return { id: `${field.id}, ${part}`, statement, source: field.source, due, operatorDue, emulator, operator }
  })
}

const kindOf = ({ path }: CollectionFact): string => managingKinds[path]?.kind ?? `the kind of ${path}`
const settles = ({ path }: CollectionFact): string => managingKinds[path]?.settles ?? `there is no kind for ${path}`
const bounds = (row: CollectionFact): string =>
  `cluster/kinds/bounds.test.ts > every bound in the spec of ${kindOf(row)} is kept by the apiserver, which names the field`
const sends = ({ path }: CollectionFact): string =>
  `unit/kinds/facts.test.ts > ${path} > a spec can set every field of the create body, and no other`
const changes = ({ path }: CollectionFact): string =>
  `unit/kinds/facts.test.ts > ${path} > a spec can change every field of the update body, and no other`

function returned(row: CollectionFact, { name, sent: request, returned: response }: FieldFact): readonly Part[] {
  if (response === undefined) return []
  const minimal = 'with the mandatory fields alone answers 201 with every field of the contract and its default'
  const settable = request !== undefined || row.fields.some((other) => other.sent?.shownAs === name)
  const operator = settable
    ? [settles(row), lives(kindOf(row))]
    : ['unit/kinds/facts.test.ts > every response field that no request sets is in the status']
  const absent =
    response.absent === undefined
      ? 'is in every response'
      : `is ${JSON.stringify(response.absent)} when nothing was set`
  const statement = response.shown === 'create' ? 'is in the create response alone' : absent
  return [['response', statement, [create(row.path, minimal)], { tests: operator }]]
}

function unsendable(row: CollectionFact, { name }: FieldFact): readonly Part[] {
  const updating =
    name === 'id'
      ? 'takes an id in the body and ignores it'
      : `with ${name}, which only responses carry, is a 400 naming it`
  const tests = [
    create(row.path, `with ${name}, which a create may not carry, is a 400 naming it`),
    update(row.path, updating),
  ]
  return [['request', 'no request may set it', tests, { tests: [sends(row), changes(row)] }]]
}

function sent(row: CollectionFact, field: FieldFact, fact: SentFact): readonly Part[] {
  return [...atCreate(row, field, fact), ...atUpdate(row, field, fact), ...ofValue(row, field, fact)]
}

function atCreate(row: CollectionFact, { name }: FieldFact, fact: SentFact): readonly Part[] {
  const { path } = row
  const all = create(path, 'with every field answers each value, and a later GET shows the same')
  const nulls = create(path, 'with null for every optional field is the same as without them')
  const type = create(path, `with another type for ${name} is a 400 naming it`)
  switch (fact.create) {
    case 'refused':
      return [
        [
          'create',
          'is for updates only',
          [create(path, `with ${name}, which a create may not carry, is a 400 naming it`)],
          { tests: [sends(row)] },
        ],
      ]
    case 'mandatory': {
      const missing = create(path, `without ${name}, or with null for it, is a 400 naming it`)
      return [['create', 'is mandatory', [all, missing, type], { tests: [sends(row)] }]]
    }
    case 'optional':
      return [['create', 'is optional; null is the same as absent', [all, nulls, type], { tests: [sends(row)] }]]
  }
}

function atUpdate(row: CollectionFact, { name }: FieldFact, fact: SentFact): readonly Part[] {
  const { path } = row
  if (fact.update === 'fixed') {
    const refused = update(path, `with ${name}, which is fixed at create, is a 400 naming it`)
    return [['update', 'is fixed at create', [refused], { tests: [changes(row)] }]]
  }
  const alone = update(path, `with ${name} alone changes it and leaves the rest`)
  const type = update(path, `with another type for ${name} is a 400 naming it`)
  const cleared = update(path, `with null for ${name} puts back its default`)
  const refused = update(path, `with null for ${name} is a 400 naming it`)
  return [
    ['update', 'may change', [alone, type], { tests: [changes(row)] }],
    fact.whenNull === 'clears'
      ? ['null', 'null in an update clears it', [cleared], { tests: [settles(row), lives(kindOf(row))] }]
      : ['null', 'null in an update is refused', [refused], { tests: [lives(kindOf(row))] }],
  ]
}

function ofValue(row: CollectionFact, { id, name }: FieldFact, { shape, excludes }: SentFact): readonly Part[] {
  const parts: Part[] = []
  if (shape.kind === 'string' && shape.limit !== undefined) {
    const { max, unit } = shape.limit
    const tests = ['create', 'update'].map((when) => {
      const title = `is accepted at the limit and a 400 naming it beyond, at ${when}`
      return `contract/limits.test.ts > ${name} of ${row.path}, at most ${max} ${unit} > ${title}`
    })
    const agrees = `unit/kinds/limits.test.ts > ${id}: the spec takes ${max} ${unit} and no more`
    parts.push(['limit', `at most ${max} ${unit}`, tests, { tests: [agrees, bounds(row)] }])
  }
  if (shape.kind === 'string' && shape.values !== undefined) {
    const tests = [
      `contract/limits.test.ts > ${id} takes each value of its closed list and a 400 naming it for any other`,
    ]
    parts.push(['values', shape.values.join(', '), tests, { tests: [reaches(kindOf(row)), lives(kindOf(row))] }])
  }
  if (excludes !== undefined) {
    const rule = 'certificate_id and certificate_management_policy in one body are refused, at create and at update'
    const operator = [
      'unit/kinds/reserved-domain.test.ts > certificate and policy are never sent together, even if a spec has both',
    ]
    parts.push(['excludes', `not beside ${excludes}`, [`contract/* > ${rule}*`], { tests: operator }])
  }
  return parts
}
