import type { Json, JsonObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { type JsonSchema, nullable } from './json-schema.ts'

/**
 * Checks a value at path `at` of a body and returns its canonical form, or throws a RequestError naming `at`. Carries
 * the schema for the OpenAPI document; created by `reader`.
 */
export interface Reader<T extends Json = Json> {
  (value: Json, at: string): T
  /** Describes the accepted values. Fewer may be accepted: a `description` says what a schema cannot express. */
  readonly schema: JsonSchema
}

/** A reader made from the schema of what it accepts and the check itself. */
export function reader<T extends Json>(schema: JsonSchema, read: (value: Json, at: string) => T): Reader<T> {
  return Object.assign((value: Json, at: string) => read(value, at), { schema })
}

/** One field of a collection's bodies. */
export interface Field {
  readonly read: Reader
  /** Which bodies may carry it. */
  readonly within: 'both' | 'create' | 'update'
  /** The value when absent at create; `mandatory` when there is none. */
  readonly absent: { readonly value: Json } | 'mandatory'
  /**
   * What an explicit null in an update does: it resets the field to the absent value, or is refused with this reason.
   */
  readonly whenNull: 'clear' | { readonly refuse: string }
}

export type Fields = Readonly<Record<string, Field>>

/** A field that may be left out and then has the value `absent`; null in an update resets it to that. */
export function optional(read: Reader, absent: Json): Field {
  return { read, within: 'both', absent: { value: absent }, whenNull: 'clear' }
}

/** A field without which the object cannot exist. */
export function mandatory(read: Reader): Field {
  return { read, within: 'both', absent: 'mandatory', whenNull: { refuse: 'must not be null' } }
}

/** A field that is fixed at create: an update that contains it is refused. */
export function fixed(field: Field): Field {
  return { ...field, within: 'create' }
}

/** A field that exists in update bodies only. */
export function updateOnly(field: Field): Field {
  return { ...field, within: 'update' }
}

/**
 * Whether a value says nothing: null, and what clients send for an unset scalar where it is no value of the field: an
 * empty text, or 0 for a number with few values.
 */
export function isUnset(value: Json | undefined, { schema }: Reader): boolean {
  if (value === '') return schema.type === 'string' && RESTRICTIONS.some((name) => schema[name] !== undefined)
  if (value === 0) return schema.type === 'integer' && schema.enum !== undefined
  return value === undefined || value === null
}

/** Keywords of the schemas of texts that are never empty. */
const RESTRICTIONS = ['enum', 'minLength', 'pattern', 'format'] as const

/** The values of a field that may be left out, with those that say nothing. */
export function unsettable(read: Reader): JsonSchema {
  const unset = ['', 0].filter((value) => isUnset(value, read))
  return unset.length === 0 ? nullable(read.schema) : { anyOf: [read.schema, { enum: [...unset, null] }] }
}

/**
 * Every field of a new object: those of the body, checked, and the absent values of the rest.
 *
 * @param defaults absent values that replace those of the fields
 */
export function readCreate(fields: Fields, body: JsonObject, defaults: JsonObject = {}): JsonObject {
  const values: JsonObject = {}
  for (const name of Object.keys(body)) {
    if (fieldOf(fields, name)?.within === undefined || fieldOf(fields, name)?.within === 'update')
      throw unknownField(name)
  }
  for (const [name, field] of Object.entries(fields)) {
    const given = Object.hasOwn(body, name) ? body[name] : undefined
    if (field.absent === 'mandatory') {
      if (given === undefined || given === null) throw missingField(name)
      values[name] = field.read(given, name)
    } else {
      values[name] =
        given === undefined || isUnset(given, field.read)
          ? (defaults[name] ?? field.absent.value)
          : field.read(given, name)
    }
  }
  return values
}

/** The fields an update body changes, checked. `id` is accepted and ignored; an absent field is not in the result. */
export function readUpdate(fields: Fields, body: JsonObject): JsonObject {
  const changes: JsonObject = {}
  for (const [name, given] of Object.entries(body)) {
    if (name === 'id') continue
    const field = fieldOf(fields, name)
    if (field === undefined) throw unknownField(name)
    if (field.within === 'create') {
      throw new RequestError('fixedField', `${name} is fixed when the object is created`, { field: name })
    }
    const clears = given === null || (field.absent !== 'mandatory' && isUnset(given, field.read))
    changes[name] = clears ? nullValue(field, name) : field.read(given, name)
  }
  return changes
}

function nullValue(field: Field, name: string): Json {
  if (field.whenNull !== 'clear')
    throw new RequestError('invalidField', `${name}: ${field.whenNull.refuse}`, { field: name })
  if (field.absent === 'mandatory') throw missingField(name)
  return field.absent.value
}

function fieldOf(fields: Fields, name: string): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

export function unknownField(at: string): RequestError {
  return new RequestError('unknownField', `unknown field ${JSON.stringify(at)}`, { field: at })
}

export function missingField(at: string): RequestError {
  return new RequestError('missingField', `${at} is required`, { field: at })
}
