import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { checkRules } from '../../../scripts/crds/rule-checks.ts'
import { bool, choice, list, object, stringMap, text, timestamp } from '../../../src/schema/define.ts'
import { exactlyOne, fixedField, immutable, type Rule } from '../../../src/schema/rules.ts'
import { SchemaError } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'

const d = { description: 'A field.' }

function refusal(schema: TSchema): string | undefined {
  try {
    checkRules(toStructural(schema, 'spec'), 'spec')
  } catch (error) {
    if (error instanceof SchemaError) {
      return error.message
    }
    throw error
  }
  return undefined
}

function rule(expression: string, message = 'name, field, items, values: change it'): Rule {
  return { rule: expression, message }
}

describe('what a rule reads needs an upper bound', () => {
  const name = text(d)
  const items = list(object({ name: Type.Optional(name), note: text(d) }, d), { ...d, maxItems: 4 })

  test.each<[string, TSchema]>([
    ['a text', object({ name: text({ ...d, rules: [rule("self != ''")] }) }, d)],
    ['a field', object({ name }, { ...d, rules: [rule("self.name != ''")] })],
    ['a field of each item', object({ items }, { ...d, rules: [rule("self.items.all(item, item.name != '')")] })],
    ['an item by index', object({ items }, { ...d, rules: [rule("self.items[0].note == ''")] })],
    ['an object compared as a whole', object({ name }, { ...d, rules: [rule('self == oldSelf')] })],
    ['the argument of a function', object({ name }, { ...d, rules: [rule('isCIDR(self.name)')] })],
    ['the receiver of a method', object({ name }, { ...d, rules: [rule("self.name.startsWith('a')")] })],
    ['an optional field', object({ name }, { ...d, rules: [rule("self.?name.orValue('') == ''")] })],
    [
      'a filtered list',
      object({ items }, { ...d, rules: [rule("self.items.filter(i, true).exists(i, i.note == '')")] }),
    ],
    [
      'a map',
      object(
        { values: Type.Unsafe({ type: 'object', ...d, additionalProperties: { type: 'boolean', ...d } }) },
        {
          ...d,
          rules: [rule('self.values.size() > 0')],
        },
      ),
    ],
    ['a list around the rule', object({ items: Type.Array(bool({ ...d, rules: [rule('self')] }), d) }, d)],
  ])('%s', (_, schema) => {
    expect(refusal(schema)).toMatch(/needs/)
  })

  test('what a rule only asks the presence of may be unbounded', () => {
    expect(refusal(object({ name: Type.Optional(name) }, { ...d, rules: [rule('has(self.name)')] }))).toBeUndefined()
    expect(
      refusal(object({ a: Type.Optional(name), b: Type.Optional(name) }, { ...d, rules: [exactlyOne(['a', 'b'])] })),
    ).toBeUndefined()
  })

  test('choices, times and fields that no item rule reads need none', () => {
    const schema = object(
      { kind: choice(['a', 'b'], d), at: timestamp(d), items },
      {
        ...d,
        rules: [
          rule(
            "self.kind == 'a' || self.at > timestamp('2026-01-01T00:00:00Z') || self.items.exists(i, has(i.name))",
            'kind must be a',
          ),
        ],
      },
    )
    expect(refusal(schema)).toBeUndefined()
  })
})

describe('a rule is refused', () => {
  const name = text({ ...d, maxLength: 8 })
  const fixed = text({ ...d, maxLength: 8, rules: [immutable('name is fixed: create another')] })
  const item = object({ name: fixed }, d)

  test.each<[string, TSchema, RegExp]>([
    ['when it is not CEL', object({ name }, { ...d, rules: [rule('self.name ==')] }), /not CEL/],
    ['when it names an unknown field', object({ name }, { ...d, rules: [rule('has(self.nome)')] }), /"nome"/],
    ['with an empty message', object({ name }, { ...d, rules: [rule('has(self.name)', ' ')] }), /not empty/],
    ['with a message of two lines', object({ name }, { ...d, rules: [rule('has(self.name)', 'name\nx')] }), /one line/],
    [
      'when its message names no field',
      object({ name }, { ...d, rules: [rule('has(self.name)', 'wrong')] }),
      /names none/,
    ],
    [
      'when its fieldPath leads nowhere',
      object({ name }, { ...d, rules: [{ ...rule('has(self.name)'), fieldPath: '.other' }] }),
      /fieldPath/,
    ],
    [
      'with oldSelf in an atomic list',
      object({ items: list(item, { ...d, maxItems: 2 }) }, d),
      /oldSelf is refused inside of spec\.items/,
    ],
    [
      'with oldSelf in an atomic object',
      object({ child: object({ name: fixed }, { ...d, atomic: true }) }, d),
      /oldSelf/,
    ],
  ])('%s', (_, schema, message) => {
    expect(refusal(schema)).toMatch(message)
  })

  test('but oldSelf is allowed in a list map and in a map', () => {
    expect(
      refusal(object({ items: list(item, { ...d, maxItems: 2, listType: 'map', mapKeys: ['name'] }) }, d)),
    ).toBeUndefined()
    expect(refusal(object({ values: stringMap(item, { ...d, maxProperties: 2 }) }, d))).toBeUndefined()
  })

  test('but a field whose name CEL reserves is found under its escaped name', () => {
    expect(
      refusal(object({ namespace: Type.Optional(name) }, { ...d, rules: [fixedField('namespace')] })),
    ).toBeUndefined()
  })
})
