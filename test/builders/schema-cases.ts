import fc, { type Arbitrary } from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { bool, choice, integer, list, object, stringMap, text, timestamp } from '../../src/schema/define.ts'

/** A schema with values that it accepts and values that it rejects. */
export interface SchemaCase {
  readonly schema: TSchema
  readonly valid: Arbitrary<unknown>
  /** Each is wrong in one place: out of bounds, of another type, or without a required field. */
  readonly invalid: Arbitrary<unknown>
}

const d = { description: 'A field.' }
const notText = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant([]))
const notContainer = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null))
const bounds = (max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

const textCase: Arbitrary<SchemaCase> = bounds(12).map(([minLength, maxLength]) => {
  const of = (least: number, most: number) => fc.string({ unit: 'binary', minLength: least, maxLength: most })
  const tooShort = minLength > 0 ? [of(0, minLength - 1)] : []
  return {
    schema: text({ ...d, minLength, maxLength }),
    valid: of(minLength, maxLength),
    invalid: fc.oneof(notText, of(maxLength + 1, maxLength + 9), ...tooShort),
  }
})

const patternCase: Arbitrary<SchemaCase> = fc.constant({
  schema: text({ ...d, maxLength: 20, pattern: '^[a-z]+(-[a-z]+)*$' }),
  valid: fc.stringMatching(/^[a-z]{1,9}(-[a-z]{1,9})?$/),
  invalid: fc.stringMatching(/^[a-z]{1,9}[A-Z-]$/),
})

const integerCase: Arbitrary<SchemaCase> = bounds(100_000).map(([minimum, maximum]) => ({
  schema: integer({ ...d, minimum, maximum }),
  valid: fc.integer({ min: minimum, max: maximum }),
  invalid: fc.oneof(
    fc.integer({ min: maximum + 1 }),
    fc.integer({ max: minimum - 1 }),
    fc.nat(100).map((n) => minimum + n + 0.5),
    fc.string(),
  ),
}))

const boolCase: Arbitrary<SchemaCase> = fc.constant({
  schema: bool(d),
  valid: fc.boolean(),
  invalid: fc.oneof(fc.string(), fc.nat(1), fc.constant(null)),
})

const choiceCase: Arbitrary<SchemaCase> = fc
  .uniqueArray(fc.stringMatching(/^[A-Z][a-z]{0,5}$/), { minLength: 1, maxLength: 4 })
  .map((words) => {
    const [first = '', ...others] = words
    return {
      schema: choice([first, ...others], d),
      valid: fc.constantFrom(...words),
      invalid: fc.string().filter((word) => !words.includes(word)),
    }
  })

const timeCase: Arbitrary<SchemaCase> = fc.constant({
  schema: timestamp(d),
  valid: fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  invalid: fc.constantFrom(
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01',
    '2026-01-01T24:00:00Z',
    'now',
    7,
  ),
})

function listOf(item: SchemaCase, [minItems, maxItems]: readonly [number, number]): SchemaCase {
  const of = (least: number, most: number) => fc.array(item.valid, { minLength: least, maxLength: most })
  const wrongItem =
    maxItems > 0 ? [fc.tuple(of(Math.max(minItems - 1, 0), maxItems - 1), item.invalid).map(([a, b]) => [...a, b])] : []
  return {
    schema: list(item.schema, { ...d, minItems, maxItems }),
    valid: of(minItems, maxItems),
    invalid: fc.oneof(notContainer, of(maxItems + 1, maxItems + 2), ...wrongItem),
  }
}

function mapOf(value: SchemaCase, maxProperties: number): SchemaCase {
  const key = fc.stringMatching(/^[a-z]{1,6}$/)
  const of = (least: number, most: number) => fc.dictionary(key, value.valid, { minKeys: least, maxKeys: most })
  return {
    schema: stringMap(value.schema, { ...d, maxProperties }),
    valid: of(0, maxProperties),
    invalid: fc.oneof(
      notContainer,
      of(maxProperties + 1, maxProperties + 2),
      fc.tuple(of(0, maxProperties - 1), value.invalid).map(([entries, wrong]) => ({ ...entries, WRONG: wrong })),
    ),
  }
}

function objectOf(required: readonly SchemaCase[], optional: readonly SchemaCase[]): SchemaCase {
  const requiredFields = required.map((field, index) => [`req${index}`, field] as const)
  const optionalFields = optional.map((field, index) => [`opt${index}`, field] as const)
  const all = [...requiredFields, ...optionalFields]
  const schemas = [
    ...requiredFields.map(([name, field]) => [name, field.schema] as const),
    ...optionalFields.map(([name, field]) => [name, Type.Optional(field.schema)] as const),
  ]
  const valid: Arbitrary<Record<string, unknown>> = fc.record(
    Object.fromEntries(all.map(([name, field]) => [name, field.valid])),
    { requiredKeys: requiredFields.map(([name]) => name) },
  )
  const wrong = all.map(([name, field]) =>
    fc.tuple(valid, field.invalid).map(([value, bad]) => ({ ...value, [name]: bad })),
  )
  const lacking = requiredFields.map(([name]) => valid.map(({ [name]: _left, ...rest }) => rest))
  return {
    schema: object(Object.fromEntries(schemas), d),
    valid,
    invalid: fc.oneof(notContainer, ...wrong, ...lacking),
  }
}

/** Schemas of any sort, nested to a small depth. */
export const schemaCase: Arbitrary<SchemaCase> = fc.letrec<{ any: SchemaCase }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(textCase, patternCase, integerCase, boolCase, choiceCase, timeCase),
    fc.tuple(tie('any'), bounds(4)).map(([item, limits]) => listOf(item, limits)),
    fc.tuple(tie('any'), fc.integer({ min: 1, max: 4 })).map(([value, most]) => mapOf(value, most)),
    fc
      .tuple(fc.array(tie('any'), { maxLength: 3 }), fc.array(tie('any'), { maxLength: 3 }))
      .map(([required, optional]) => objectOf(required, optional)),
  ),
})).any
