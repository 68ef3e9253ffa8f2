import {
  type Static,
  type TArray,
  type TBoolean,
  type TInteger,
  type TObject,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox'
import { assertPortablePattern } from './pattern.ts'
import { bytesLimit, type Rule } from './rules.ts'

/**
 * Builders of schemas that serve as TypeScript type, validator and part of a CRD at once.
 *
 * @example
 * ```ts
 * const spec = object({
 *   region: Type.Optional(choice(['us', 'eu'], { description: 'Where the domain is served.' })),
 *   description: Type.Optional(bytesText('description', 255, { description: 'Free text.' })),
 * }, { description: 'Desired state of the domain.', rules: [fixedField('region')] })
 * type Spec = Static<typeof spec> // { region?: 'us' | 'eu', description?: string }
 * ```
 */

/** Options of every schema. */
export interface Described {
  /** Shown by `kubectl explain` and in the documentation. Full sentences. */
  readonly description: string
  readonly rules?: readonly Rule[]
}

export interface TextOptions extends Described {
  /** In characters (code points). */
  readonly maxLength?: number
  readonly minLength?: number
  /** In the common subset of JavaScript and RE2, see `assertPortablePattern`. Not anchored automatically. */
  readonly pattern?: string
  /**
   * What matches the pattern, in words that follow "must be", with an example or a remedy. The CRD says this instead of
   * the pattern.
   */
  readonly mustBe?: string
  readonly default?: string
  /** Messages of the validator never show the value. */
  readonly secret?: boolean
}

/** A string. */
export function text(options: TextOptions) {
  const { secret, ...rest } = options
  if (rest.pattern !== undefined) {
    assertPortablePattern(rest.pattern)
  }
  return Type.String({ ...keywords(rest), ...(secret ? { format: 'password' } : {}) })
}

/** A string limited in bytes of UTF-8; `field` is the name that the message about the limit uses. */
export function bytesText(field: string, maxBytes: number, options: Omit<TextOptions, 'maxLength'>) {
  const rules = [bytesLimit(maxBytes, field), ...(options.rules ?? [])]
  return text({ ...options, maxLength: maxBytes, rules })
}

export interface IntegerOptions extends Described {
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

/** A whole number, written as `int32` if the bounds allow it and as `int64` otherwise. */
export function integer(options: IntegerOptions): TInteger {
  const { minimum, maximum } = options
  const fits = minimum !== undefined && maximum !== undefined && minimum >= -(2 ** 31) && maximum < 2 ** 31
  return Type.Integer({ ...keywords(options), format: fits ? 'int32' : 'int64' })
}

export function bool(options: Described & { readonly default?: boolean }): TBoolean {
  return Type.Boolean(keywords(options))
}

/** An RFC 3339 time. */
export function timestamp(options: Described) {
  return Type.String({ ...keywords(options), format: 'date-time' })
}

/** One of a few values. */
export function choice<const Values extends readonly [string, ...string[]]>(
  values: Values,
  options: Described & { readonly default?: Values[number] },
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...keywords(options) })
}

export interface ObjectOptions extends Described {
  /** Server-side apply treats the whole object as one value. */
  readonly atomic?: boolean
  readonly default?: Readonly<Record<string, unknown>>
}

/** An object with these fields; wrap optional ones in `Type.Optional`. */
export function object<Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: ObjectOptions,
): TObject<Properties> {
  const { atomic, ...rest } = options
  return Type.Object(properties, { ...keywords(rest), ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}) })
}

export interface ListOptions extends Described {
  readonly minItems?: number
  /**
   * Required: the apiserver estimates the cost of rules inside the list by it, and refuses those that could cost too
   * much.
   */
  readonly maxItems: number
  /** How server-side apply merges: `map` by `mapKeys`, `set` of scalars, `atomic` (default) as one value. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly mapKeys?: readonly string[]
  readonly default?: readonly unknown[]
}

export function list<Items extends TSchema>(items: Items, options: ListOptions): TArray<Items> {
  const { listType = 'atomic', mapKeys, ...rest } = options
  return Type.Array(items, {
    ...keywords(rest),
    'x-kubernetes-list-type': listType,
    ...(mapKeys ? { 'x-kubernetes-list-map-keys': [...mapKeys] } : {}),
  })
}

export interface StringMapOptions extends Described {
  readonly minProperties?: number
  readonly maxProperties: number
  readonly atomic?: boolean
}

/** A map from any string to `values`. */
export function stringMap<Values extends TSchema>(
  values: Values,
  options: StringMapOptions,
): TUnsafe<Record<string, Static<Values>>> {
  const { atomic, ...rest } = options
  return Type.Unsafe<Record<string, Static<Values>>>({
    type: 'object',
    additionalProperties: values,
    ...keywords(rest),
    ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  })
}

/** An object with any content, preserved unchanged. */
export function anyObject(options: Described): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...keywords(options),
  })
}

/** An object with these fields and any others, preserved unchanged. */
export function openObject<Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: Described,
): TObject<Properties> {
  return Type.Object(properties, { ...keywords(options), 'x-kubernetes-preserve-unknown-fields': true })
}

/** The same schema, or null. Wrap in `Type.Optional` outside, not inside. */
export function nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, nullable: true })
}

function keywords(options: Described): Record<string, unknown> {
  const { rules, ...rest } = options
  return {
    ...rest,
    ...(rules && rules.length > 0 ? { 'x-kubernetes-validations': rules.map((rule) => ({ ...rule })) } : {}),
  }
}
