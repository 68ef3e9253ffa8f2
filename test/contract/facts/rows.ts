import type { CollectionFact, FieldFact, Json, Limit, ReturnedFact, SentFact, Shape, SubResourceFact } from './facts.ts'

/** A field as a family's file writes it: the collection adds the id and, if missing, the source. */
export interface FieldRow {
  readonly name: string
  readonly source?: string
  readonly sent?: SentFact
  readonly returned?: ReturnedFact
}

export interface CollectionRow
  extends Omit<CollectionFact, 'fields' | 'uri' | 'unique' | 'subResources'>,
    Partial<Pick<CollectionFact, 'uri' | 'unique'>> {
  readonly fields: readonly FieldRow[]
  readonly subResources?: readonly Omit<SubResourceFact, 'id'>[]
}

export const string: Shape = { kind: 'string' }
export const boolean: Shape = { kind: 'boolean' }
export const timestamp: Shape = { kind: 'string', form: 'timestamp' }
const bytes = (max: number): Limit => ({ max, unit: 'bytes' })
export const chars = (max: number): Limit => ({ max, unit: 'chars' })
export const list = (of: Shape): Shape => ({ kind: 'list', of })
export const map = (of: Shape): Shape => ({ kind: 'map', of })
export const id = (...to: readonly string[]): Shape => ({ kind: 'id', to })
export const ref = (...to: readonly string[]): Shape => ({ kind: 'ref', to })
export const object = (name: string): Shape => ({ kind: 'object', object: name })
export const oneOf = (...values: readonly string[]): Shape => ({ kind: 'string', values })

/** Fills in values that follow from the rest of the row. */
export function collection(row: CollectionRow): CollectionFact {
  const fields: FieldFact[] = row.fields.map((field) => ({
    ...field,
    id: `${row.path}.${field.name}`,
    source: field.source ?? row.source,
  }))
  const subResources = (row.subResources ?? []).map((sub) => ({ ...sub, id: `${row.path}/{id}/${sub.path}` }))
  return {
    ...row,
    uri: row.uri ?? 'absolute',
    unique: row.unique ?? [],
    fields,
    subResources,
  }
}

/** A field that occurs only in responses. */
export function shown(name: string, shape: Shape, absent?: Json): FieldRow {
  return { name, returned: { shape, shown: 'always', ...(absent === undefined ? {} : { absent }) } }
}

interface Options {
  readonly create?: SentFact['create']
  readonly update?: SentFact['update']
  readonly whenNull?: SentFact['whenNull']
  readonly absent?: Json
  readonly returnedShape?: Shape
  readonly excludes?: string
}

/** A field sent and returned under one name: optional, mutable and clearable by default. */
export function value(name: string, shape: Shape, options: Options = {}): FieldRow {
  const { absent } = options
  return {
    ...sentAs(name, shape, name, options),
    returned: {
      shape: options.returnedShape ?? shape,
      shown: 'always',
      ...(absent === undefined ? {} : { absent }),
    },
  }
}

/** A field that occurs only in requests; its value is visible in the response field `shownAs`. */
export function sentAs(name: string, shape: Shape, shownAs: string, options: Options = {}): FieldRow {
  const { create = 'optional', update = 'mutable', excludes } = options
  const whenNull = options.whenNull ?? (create === 'mandatory' || update === 'fixed' ? 'refused' : 'clears')
  return { name, sent: { shape, create, update, whenNull, shownAs, ...(excludes === undefined ? {} : { excludes }) } }
}

/** A value that only the create response contains. */
export function secretAtCreate(name: string): FieldRow {
  return { name, returned: { shape: string, shown: 'create' } }
}

const conventions = 'management-api.md § Conventions'

/** `id`, `uri` and `created_at`, which every resource has. */
export function identity(): readonly FieldRow[] {
  return [shown('id', string), shown('uri', string), shown('created_at', timestamp)].map((row) => ({
    ...row,
    source: conventions,
  }))
}

/** `description` and `metadata`; without limits where the contract states none. */
export function texts(
  limits: { readonly description?: Limit; readonly metadata?: Limit } = {
    description: bytes(255),
    metadata: bytes(4096),
  },
): readonly FieldRow[] {
  const text = (limit?: Limit): Shape => (limit === undefined ? string : { kind: 'string', limit })
  return [
    { ...value('description', text(limits.description), { absent: '' }), source: conventions },
    { ...value('metadata', text(limits.metadata), { absent: '' }), source: conventions },
  ]
}
