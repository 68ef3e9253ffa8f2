import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { anyObject, choice, list, nullable, object, stringMap, text } from '../../../src/schema/define.ts'
import { PatternError } from '../../../src/schema/pattern.ts'
import { SchemaError } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'

const d = { description: 'A field.' }

/** A schema with one field, so that its path is in the message. */
function within(schema: TSchema): TSchema {
  return object({ field: schema }, d)
}

function pathRefused(schema: TSchema): string | undefined {
  try {
    toStructural(schema, 'spec')
  } catch (error) {
    if (error instanceof SchemaError) {
      return error.path
    }
    throw error
  }
  return undefined
}

describe('what typebox emits is rewritten', () => {
  test.each<[string, TSchema, unknown]>([
    [
      'a union of literals',
      Type.Union([Type.Literal('a'), Type.Literal('b')], d),
      { type: 'string', enum: ['a', 'b'] },
    ],
    ['an enum without type', Type.Enum(['a', 'b'], d), { type: 'string', enum: ['a', 'b'] }],
    ['a literal', Type.Literal('a', d), { type: 'string', enum: ['a'] }],
    ['a union with null', Type.Union([Type.String(), Type.Null()], d), { type: 'string', nullable: true }],
    [
      'a record',
      Type.Record(Type.String(), Type.String(d), d),
      { type: 'object', additionalProperties: { type: 'string', ...d } },
    ],
    [
      'a closed object',
      Type.Object({ a: Type.String(d) }, { ...d, additionalProperties: false }),
      { type: 'object', required: ['a'], properties: { a: { type: 'string', ...d } } },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toStructural(schema, 'spec')).toEqual({ ...d, ...(expected as object) })
  })
})

describe('the builders are structural as they are', () => {
  test.each<[string, TSchema, unknown]>([
    ['a nullable text', nullable(text({ ...d, maxLength: 3 })), { type: 'string', maxLength: 3, nullable: true }],
    ['a free object', anyObject(d), { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    ['a choice', choice(['a', 'b'], { ...d, default: 'a' }), { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['a secret', text({ ...d, secret: true }), { type: 'string', format: 'password' }],
    [
      'a map',
      stringMap(text(d), { ...d, maxProperties: 2, atomic: true }),
      {
        type: 'object',
        additionalProperties: { type: 'string', ...d },
        maxProperties: 2,
        'x-kubernetes-map-type': 'atomic',
      },
    ],
    [
      'a set',
      list(text(d), { ...d, maxItems: 2, listType: 'set' }),
      { type: 'array', items: { type: 'string', ...d }, maxItems: 2, 'x-kubernetes-list-type': 'set' },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toStructural(schema, 'spec')).toEqual({ ...d, ...(expected as object) })
  })
})

describe('what a structural schema cannot say is refused with its path', () => {
  const item = object({ key: Type.Optional(text(d)), ports: list(text(d), { ...d, maxItems: 1 }) }, d)

  test.each<[string, TSchema]>([
    ['allOf', Type.Unsafe({ type: 'object', ...d, allOf: [] })],
    ['oneOf', Type.Unsafe({ type: 'object', ...d, oneOf: [] })],
    ['$ref', Type.Unsafe({ $ref: '#/x', ...d })],
    ['$id', Type.String({ ...d, $id: 'x' })],
    ['exclusiveMinimum as a number', Type.Integer({ ...d, exclusiveMinimum: 1 })],
    ['uniqueItems', Type.Array(Type.String(d), { ...d, uniqueItems: true })],
    ['propertyNames', Type.Object({}, { ...d, propertyNames: Type.String() })],
    ['a tuple', Type.Tuple([Type.String(d)], d)],
    ['a pattern of keys', Type.Record(Type.String({ pattern: '^a' }), Type.String(d), d)],
    ['a union of objects', Type.Union([Type.Object({}, d), Type.String(d)], d)],
    ['an enum of mixed types', Type.Enum(['a', 1], d)],
    ['no type', Type.Unknown(d)],
    ['null', Type.Null(d)],
    ['no description', Type.String()],
    [
      'fields next to additionalProperties',
      Type.Object({ a: Type.String(d) }, { ...d, additionalProperties: Type.String(d) }),
    ],
    ['additionalProperties: true', Type.Object({}, { ...d, additionalProperties: true })],
    ['a nullable choice', nullable(choice(['a'], d))],
    ['a set of objects', list(object({}, d), { ...d, maxItems: 1, listType: 'set' })],
    ['a list map without keys', list(item, { ...d, maxItems: 1, listType: 'map' })],
    ['map keys of an atomic list', list(item, { ...d, maxItems: 1, mapKeys: ['key'] })],
    ['an optional map key without default', list(item, { ...d, maxItems: 1, listType: 'map', mapKeys: ['key'] })],
    ['a map key that is a list', list(item, { ...d, maxItems: 1, listType: 'map', mapKeys: ['ports'] })],
    ['a map key that is no field', list(item, { ...d, maxItems: 1, listType: 'map', mapKeys: ['other'] })],
    ['nullable items of a set', list(nullable(text(d)), { ...d, maxItems: 1, listType: 'set' })],
    ['a list without items', Type.Unsafe({ type: 'array', ...d })],
    ['a pattern that RE2 lacks', Type.String({ ...d, pattern: '(?=a)' })],
  ])('%s', (_, schema) => {
    expect(pathRefused(within(schema))).toMatch(/^spec\.field(\[\]|\{\})?$/)
  })

  test('the path leads through lists and maps', () => {
    const inner = object({ bad: Type.String() }, d)
    expect(pathRefused(object({ items: list(inner, { ...d, maxItems: 1 }) }, d))).toBe('spec.items[].bad')
    expect(pathRefused(object({ values: stringMap(inner, { ...d, maxProperties: 1 }) }, d))).toBe('spec.values{}.bad')
  })

  test.each<[string, string, TSchema]>([
    ['an object', 'spec.field.mode', object({ mode: text({ ...d, default: 'a' }) }, { ...d, atomic: true })],
    ['a list', 'spec.field[].mode', list(object({ mode: text({ ...d, default: 'a' }) }, d), { ...d, maxItems: 1 })],
    [
      'a map',
      'spec.field{}.mode',
      stringMap(object({ mode: text({ ...d, default: 'a' }) }, d), { ...d, maxProperties: 1, atomic: true }),
    ],
  ])('a default inside of %s that goes as a whole: two managers of one manifest would conflict', (_, path, schema) => {
    expect(pathRefused(within(schema))).toBe(path)
  })

  test('text refuses a pattern that RE2 lacks where it is written', () => {
    expect(() => text({ ...d, pattern: '(?!a)' })).toThrow(PatternError)
  })
})
