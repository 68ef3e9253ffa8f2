import type { Json, JsonObject } from '../values/json.ts'
import { ERRORS } from '../values/request-error.ts'

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<JsonObject>

/** Where the document keeps shared schemas. */
const COMPONENTS = '#/components/schemas/'

/** A reference to a shared schema by its name. */
export function shared(name: string): JsonSchema {
  return { $ref: `${COMPONENTS}${name}` }
}

/** The same values, or null. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}

/** An object with exactly these members; `optional` ones may be left out. */
export function members(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties },
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  }
}

export function list(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

/** Valid when exactly one of the members is present and not null. */
export function exactlyOneOf(names: readonly string[]): JsonSchema {
  return { oneOf: names.map((name): Json => ({ required: [name], properties: { [name]: { type: 'object' } } })) }
}

export const TEXT: JsonSchema = { type: 'string' }
export const FLAG: JsonSchema = { type: 'boolean' }
export const WHOLE_NUMBER: JsonSchema = { type: 'integer' }
export const TEXTS: JsonSchema = list(TEXT)
export const TEXT_MAP: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
/** RFC 3339 in UTC with whole seconds (`api-decisions.md § Values`). */
export const TIMESTAMP: JsonSchema = { type: 'string', format: 'date-time' }
/** `{id, uri}` of another object (`management-api.md § Conventions`). */
export const REF: JsonSchema = shared('Ref')
export const REFS: JsonSchema = list(REF)

/** Schemas that belong to no collection. */
export const COMMON_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Ref: { ...members({ id: TEXT, uri: TEXT }), description: 'Points at another resource.' },
  Error: members({
    error_code: { type: 'string', enum: Object.values(ERRORS).map(({ code }) => code) },
    status_code: { type: 'integer' },
    msg: TEXT,
    details: {
      type: 'object',
      properties: { operation_id: TEXT },
      required: ['operation_id'],
      additionalProperties: TEXT,
    },
  }),
}
