import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { loosened, schemas, tightened } from '../../builders/schema-variants.ts'
import { schemaIncompatibilities } from '../../releases/compatibility/schema.ts'

const text: SchemaNode = { type: 'string', maxLength: 10 }
const count: SchemaNode = { type: 'integer', format: 'int32', minimum: 1, maximum: 9 }

function object(properties: Readonly<Record<string, SchemaNode>>, rest: SchemaNode = {}): SchemaNode {
  return { type: 'object', properties, ...rest }
}

function between(earlier: SchemaNode, later: SchemaNode): readonly string[] {
  return schemaIncompatibilities(earlier, later, 'Kind.spec').map(({ path, sort, what }) => `${path} ${sort}: ${what}`)
}

describe('a later schema may', () => {
  test.each<[string, SchemaNode, SchemaNode]>([
    ['have a new field that may be left out', object({ a: text }), object({ a: text, b: text })],
    ['have a new field with a default of its own', object({}), object({ b: { ...text, default: 'x' } })],
    ['let a field be left out', object({ a: text }, { required: ['a'] }), object({ a: text })],
    ['take longer texts', text, { ...text, maxLength: 11 }],
    ['take texts of any length', text, { type: 'string' }],
    ['say that a text may be empty', text, { ...text, minLength: 0 }],
    ['take more numbers', count, { ...count, minimum: 0, maximum: 10 }],
    ['take larger numbers', count, { ...count, format: 'int64' }],
    ['take multiples of less', { ...count, multipleOf: 4 }, { ...count, multipleOf: 2 }],
    ['take more words', { ...text, enum: ['A'] }, { ...text, enum: ['B', 'A'] }],
    ['take any word', { ...text, enum: ['A'] }, text],
    ['drop a pattern', { ...text, pattern: '^a$' }, text],
    ['take null', text, { ...text, nullable: true }],
    ['put things better', { ...text, description: 'Text.' }, { ...text, description: 'A text.' }],
  ])('%s', (_, earlier, later) => {
    expect(between(earlier, later)).toEqual([])
  })
})

describe('what is found of a later schema', () => {
  const listMap: SchemaNode = {
    type: 'array',
    items: object({ a: text }, { required: ['a'] }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
  }

  test.each<[string, SchemaNode, SchemaNode, string]>([
    ['a field that is gone', object({ a: text }), object({}), '.a removed: is gone'],
    ['a field with a new name', object({ a: text }), object({ b: text }), '.a removed: is gone'],
    ['another type', text, { type: 'integer', maxLength: 10 }, ' changed: type went from "string" to "integer"'],
    ['a map that became an object', { additionalProperties: text }, { properties: {} }, '.* removed: is gone'],
    [
      'a field that became required',
      object({ a: text }),
      object({ a: text }, { required: ['a'] }),
      '.a changed: became required',
    ],
    [
      'a new field that is required',
      object({}),
      object({ a: text }, { required: ['a'] }),
      '.a changed: became required',
    ],
    ['another default', { ...text, default: 'x' }, { ...text, default: 'y' }, ' changed: default went from "x" to "y"'],
    ['a default that is gone', { ...text, default: 'x' }, text, ' changed: default went from "x" to none'],
    ['a default that is new', text, { ...text, default: 'x' }, ' changed: default went from none to "x"'],
    [
      'a list merged otherwise',
      listMap,
      { ...listMap, 'x-kubernetes-list-type': 'atomic' },
      ' changed: x-kubernetes-list-type went from "map" to "atomic"',
    ],
    [
      'a list with another key',
      listMap,
      { ...listMap, 'x-kubernetes-list-map-keys': ['b'] },
      ' changed: x-kubernetes-list-map-keys went from ["a"] to ["b"]',
    ],
    [
      'an object that became atomic',
      object({}),
      object({}, { 'x-kubernetes-map-type': 'atomic' }),
      ' changed: x-kubernetes-map-type went from none to "atomic"',
    ],
    [
      'unknown fields that are pruned',
      { 'x-kubernetes-preserve-unknown-fields': true },
      {},
      ' removed: unknown fields are no longer kept',
    ],
    [
      'a schema for what was unknown',
      object({}, { 'x-kubernetes-preserve-unknown-fields': true }),
      object({ a: text }, { 'x-kubernetes-preserve-unknown-fields': true }),
      '.a changed: could be anything before',
    ],
    [
      'a keyword that nobody judges',
      text,
      { ...text, 'x-kubernetes-embedded-resource': true } as SchemaNode,
      ' changed: x-kubernetes-embedded-resource went from none to true',
    ],
    ['a shorter text', text, { ...text, maxLength: 9 }, ' tightened: maxLength went from 10 to 9'],
    ['a bound that is new', { type: 'string' }, text, ' tightened: maxLength went from none to 10'],
    ['a text that may not be empty', text, { ...text, minLength: 1 }, ' tightened: minLength went from none to 1'],
    ['a smaller number', count, { ...count, minimum: 2 }, ' tightened: minimum went from 1 to 2'],
    [
      'a word that is gone',
      { ...text, enum: ['A', 'B'] },
      { ...text, enum: ['A'] },
      ' tightened: the value "B" of the enum is gone',
    ],
    ['a text that became an enum', text, { ...text, enum: ['A'] }, ' tightened: became an enum'],
    ['a pattern that is new', text, { ...text, pattern: '^a$' }, ' tightened: the pattern ^a$ is new'],
    ['another pattern', { ...text, pattern: '^b$' }, { ...text, pattern: '^a$' }, ' tightened: the pattern ^a$ is new'],
    ['a format that is new', text, { ...text, format: 'date-time' }, ' tightened: the format date-time is new'],
    ['a smaller format', { ...count, format: 'int64' }, count, ' tightened: the format int32 is new'],
    ['multiples only', count, { ...count, multipleOf: 3 }, ' tightened: multipleOf 3 is new'],
    ['null that is refused', { ...text, nullable: true }, text, ' tightened: null is refused'],
    [
      'a rule that is new',
      object({ a: text }),
      object({ a: text }, { 'x-kubernetes-validations': [{ rule: 'has(self.a)', message: 'a is missing: set it' }] }),
      ' tightened: the rule has(self.a) is new',
    ],
  ])('%s', (_, earlier, later, expected) => {
    expect(between(earlier, later)).toEqual([`Kind.spec${expected}`])
  })

  test('stands with the path to it', () => {
    const nested = (field: SchemaNode) =>
      object({ list: { type: 'array', items: object({ map: { additionalProperties: field } }) } })
    expect(between(nested(text), nested({ ...text, maxLength: 1 }))).toEqual([
      'Kind.spec.list[].map.* tightened: maxLength went from 10 to 1',
    ])
  })
})

describe('of any schema', () => {
  test('any number of loosenings pass', () => {
    fc.assert(
      fc.property(schemas, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), (schema, choices) => {
        const later = choices.reduce<SchemaNode>((at, choice) => picked(loosened(at), choice), schema)
        expect(between(schema, later)).toEqual([])
      }),
    )
  })

  test('a single tightening is found, whatever was loosened next to it', () => {
    fc.assert(
      fc.property(schemas, fc.array(fc.nat(), { maxLength: 3 }), fc.nat(), (schema, choices, choice) => {
        const tighter = picked(tightened(schema), choice)
        // In reverse: a schema tightened from this one is looser than it was before.
        const earlier = choices.reduce<SchemaNode>((at, each) => picked(loosened(at), each), schema)
        expect(between(schema, tighter)).not.toEqual([])
        expect(between(earlier, tighter)).not.toEqual([])
      }),
    )
  })
})

function picked(variants: readonly SchemaNode[], choice: number): SchemaNode {
  const variant = variants[choice % variants.length]
  if (variant === undefined) throw new Error('a schema without variants')
  return variant
}
