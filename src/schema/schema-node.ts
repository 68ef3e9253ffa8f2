import type { TSchema } from 'typebox'
import type { Rule } from './rules.ts'

/** A schema as plain JSON, with the keywords that a structural schema of Kubernetes may have. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly additionalProperties?: SchemaNode
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  /** What matches the pattern, in words. Only here: a CRD has a rule in place of both. */
  readonly mustBe?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly nullable?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-validations'?: readonly Rule[]
}

/** A schema or a rule that the apiserver would refuse, with its path. */
export class SchemaError extends Error {
  readonly code = 'SCHEMA_REFUSED'
  /** Such as `spec.hostports[].port`. */
  readonly path: string

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`${path}: ${problem}`, options)
    this.name = 'SchemaError'
    this.path = path
  }
}

/** Any JSON schema, before it is known to be structural. */
export type RawSchema = Readonly<Record<string, unknown>>

/** The schema as plain JSON, without typebox's own properties, which are not enumerable. */
export function toRaw(schema: TSchema): RawSchema {
  return JSON.parse(JSON.stringify(schema)) as RawSchema
}
