import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { checkRules } from '../../../scripts/crds/rule-checks.ts'
import {
  anyObject,
  bool,
  choice,
  integer,
  list,
  nullable,
  object,
  stringMap,
  text,
  timestamp,
} from '../../../src/schema/define.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { compile, compileNode } from '../../../src/schema/validator.ts'
import { schemaCase } from '../../builders/schema-cases.ts'

const d = { description: 'A field.' }

describe('for a schema of any shape', () => {
  test('the values it describes validate and those wrong in one place do not, in the structural form alike', () => {
    fc.assert(
      fc.property(
        schemaCase.chain(({ schema, valid, invalid }) => fc.tuple(fc.constant(schema), valid, invalid)),
        ([schema, valid, invalid]) => {
          const structural = toStructural(schema, 'spec')
          checkRules(structural, 'spec')
          for (const validator of [compile(schema), compileNode(structural)]) {
            expect(validator.validate(valid)).toEqual({ ok: true, value: valid })
            expect(validator.validate(invalid).ok).toBe(false)
          }
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('a problem names the path and the value', () => {
  const schema = object(
    {
      hostports: list(object({ port: integer({ ...d, minimum: 1, maximum: 65535 }) }, d), {
        ...d,
        minItems: 1,
        maxItems: 2,
      }),
      region: Type.Optional(choice(['us', 'eu'], d)),
      name: Type.Optional(text({ ...d, minLength: 2, maxLength: 4, pattern: '^[a-z]*$' })),
      enabled: Type.Optional(bool(d)),
      at: Type.Optional(timestamp(d)),
      big: Type.Optional(integer(d)),
      labels: Type.Optional(stringMap(text(d), { ...d, minProperties: 1, maxProperties: 1 })),
      token: Type.Optional(text({ ...d, secret: true, maxLength: 3 })),
      config: Type.Optional(anyObject(d)),
    },
    d,
  )
  const validator = compile(schema, 'spec')
  const hostports = [{ port: 1 }]

  test.each<[unknown, string, string]>([
    [{}, 'spec.hostports', 'spec.hostports is missing'],
    [{ hostports: [] }, 'spec.hostports', 'spec.hostports must have at least 1 items, has 0'],
    [
      { hostports: [...hostports, ...hostports, ...hostports] },
      'spec.hostports',
      'spec.hostports must have at most 2 items, has 3',
    ],
    [{ hostports: [{}] }, 'spec.hostports[0].port', 'spec.hostports[0].port is missing'],
    [{ hostports: [{ port: 0 }] }, 'spec.hostports[0].port', 'spec.hostports[0].port must be at least 1, is 0'],
    [
      { hostports: [{ port: 65536 }] },
      'spec.hostports[0].port',
      'spec.hostports[0].port must be at most 65535, is 65536',
    ],
    [{ hostports: [{ port: '80' }] }, 'spec.hostports[0].port', 'spec.hostports[0].port must be an integer, is "80"'],
    [{ hostports, region: 'jp' }, 'spec.region', 'spec.region must be one of us, eu, is "jp"'],
    [{ hostports, name: 'a' }, 'spec.name', 'spec.name must have at least 2 characters, is "a"'],
    [{ hostports, name: 'abcde' }, 'spec.name', 'spec.name must have at most 4 characters, has 5'],
    [{ hostports, name: 'A1' }, 'spec.name', 'spec.name must match ^[a-z]*$, is "A1"'],
    [{ hostports, enabled: { a: 1 } }, 'spec.enabled', 'spec.enabled must be a boolean, is an object'],
    [{ hostports, at: 'now' }, 'spec.at', 'spec.at must be an RFC 3339 time (2026-01-31T12:00:00Z), is "now"'],
    [{ hostports, big: 2 ** 60 }, 'spec.big', `spec.big must be a whole number of at most 53 bits, is ${2 ** 60}`],
    [{ hostports, labels: {} }, 'spec.labels', 'spec.labels must have at least 1 entries, has 0'],
    [{ hostports, labels: { a: 'a', b: 'b' } }, 'spec.labels', 'spec.labels must have at most 1 entries, has 2'],
    [{ hostports, labels: { 'a/b': 1 } }, 'spec.labels.a/b', 'spec.labels.a/b must be a string, is 1'],
    [{ hostports, labels: [] }, 'spec.labels', 'spec.labels must be an object, is a list'],
    [null, 'spec', 'spec must be an object, is null'],
    [undefined, 'spec', 'spec must be an object, is undefined'],
  ])('%j: %s', (value, path, message) => {
    expect(validator.validate(value)).toEqual({ ok: false, errors: [{ path, message }] })
  })

  test('a secret value is never repeated', () => {
    for (const token of [12345678, 'hunter2hunter2']) {
      const result = validator.validate({ hostports, token })
      expect(result.ok).toBe(false)
      expect(JSON.stringify(result)).not.toContain(String(token))
    }
  })

  test('a long value is cut', () => {
    const result = validator.validate({ hostports, region: 'x'.repeat(1000) })
    expect(result.ok ? '' : result.errors[0]?.message.length).toBeLessThan(150)
  })

  test('every problem is reported at once', () => {
    const result = validator.validate({ region: 'jp', name: 'A' })
    expect(result.ok ? [] : result.errors.map((error) => error.path).sort()).toEqual([
      'spec.hostports',
      'spec.name',
      'spec.name',
      'spec.region',
    ])
  })
})

test('a value that validates has the static type of the schema, and is the same object', () => {
  const schema = object({ name: text(d), parent: nullable(text(d)) }, d)
  const value: unknown = { name: 'a', parent: null, unknownField: 1 }
  const result = compile(schema).validate(value)
  if (!result.ok) {
    throw new Error('refused')
  }
  expectTypeOf(result.value).toEqualTypeOf<{ name: string; parent: string | null }>()
  expect(result.value).toBe(value)
})

test.each([
  ['2026-01-31T12:00:00Z', true],
  ['2026-01-31T12:00:00.123456Z', true],
  ['2026-01-31t12:00:00+05:30', true],
  ['2024-02-29T00:00:00Z', true],
  ['0004-02-29T00:00:00Z', true],
  ['2023-02-29T00:00:00Z', false],
  ['2026-04-31T00:00:00Z', false],
  ['2026-00-01T00:00:00Z', false],
  ['2026-01-31T25:00:00Z', false],
  ['2026-01-31T12:00:00', false],
  ['2026-01-31 12:00:00Z', false],
])('the time %s is accepted: %s', (time, accepted) => {
  expect(compile(timestamp(d)).validate(time).ok).toBe(accepted)
})

test('what a text must be is said in words, and a domain with other letters in the form in which it is right', () => {
  const domain = text({ ...d, pattern: '^([a-z0-9-]+[.])+[a-z]+$', mustBe: 'a DNS name in lower case' })
  const validator = compile(object({ domain }, d), 'spec')
  const messages = (value: string) => {
    const result = validator.validate({ domain: value })
    return result.ok ? [] : result.errors.map(({ message }) => message)
  }
  expect(messages('shop.example')).toEqual([])
  expect(messages('shop')).toEqual(['spec.domain must be a DNS name in lower case, is "shop"'])
  expect(messages('bücher.example')).toEqual([
    'spec.domain must be a DNS name in lower case; write it as xn--bcher-kva.example, is "bücher.example"',
  ])
})
