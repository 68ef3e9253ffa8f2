import { Environment } from '@marcbachmann/cel-js'
import { describe, expect, test } from 'vitest'
import {
  atMostOne,
  bytesLimit,
  celName,
  exactlyOne,
  fixedField,
  fixedOnceSet,
  immutable,
  type Rule,
  unionOf,
} from '../../../src/schema/rules.ts'

/** Evaluates a rule; the real apiserver decides in the cluster suite. */
function holds(rule: Rule, variables: Readonly<Record<string, unknown>>): unknown {
  return new Environment({ unlistedVariablesAreDyn: true }).evaluate(rule.rule, { ...variables })
}

describe('exactlyOne', () => {
  const rule = exactlyOne(['http', 'namespace'])

  test.each([
    [{}, false],
    [{ http: 1 }, true],
    [{ __namespace__: 1 }, true],
    [{ http: 1, __namespace__: 1 }, false],
  ])('of %j is %s', (self, expected) => {
    expect(holds(rule, { self })).toBe(expected)
  })

  test('names its fields in the message', () => {
    expect(rule.message).toBe('set exactly one of http, namespace')
  })
})

test('atMostOne accepts none and one, and refuses two', () => {
  const rule = atMostOne(['a', 'b'])
  expect(holds(rule, { self: {} })).toBe(true)
  expect(holds(rule, { self: { a: 1 } })).toBe(true)
  expect(holds(rule, { self: { a: 1, b: 1 } })).toBe(false)
})

test('bytesLimit counts bytes of UTF-8, not characters', () => {
  const rule = bytesLimit(4, 'description')
  expect(holds(rule, { self: 'éé' })).toBe(true)
  expect(holds(rule, { self: 'ééa' })).toBe(false)
  expect(rule.message).toContain('description')
  expect(rule.message).toContain('4 bytes')
})

test('immutable compares the value with the old one', () => {
  const rule = immutable('protocol is fixed: create another edge')
  expect(holds(rule, { self: 'a', oldSelf: 'a' })).toBe(true)
  expect(holds(rule, { self: 'a', oldSelf: 'b' })).toBe(false)
})

describe('fixedField', () => {
  const rule = fixedField('region')

  test.each([
    [{}, {}, true],
    [{ region: 'us' }, { region: 'us' }, true],
    [{ region: 'us' }, { region: 'eu' }, false],
    [{ region: 'us' }, {}, false],
    [{}, { region: 'us' }, false],
  ])('from %j to %j is allowed: %s', (oldSelf, self, expected) => {
    expect(holds(rule, { self, oldSelf })).toBe(expected)
  })

  test('reports at the field, with the remedy', () => {
    expect(rule.fieldPath).toBe('.region')
    expect(fixedField('region', { remedy: 'reserve another' }).message).toBe('region is immutable: reserve another')
  })
})

test('fixedOnceSet lets a field be added, and then neither changed nor removed', () => {
  const rule = fixedOnceSet('accountRef')
  expect(holds(rule, { oldSelf: {}, self: {} })).toBe(true)
  expect(holds(rule, { oldSelf: {}, self: { accountRef: 'a' } })).toBe(true)
  expect(holds(rule, { oldSelf: { accountRef: 'a' }, self: { accountRef: 'a' } })).toBe(true)
  expect(holds(rule, { oldSelf: { accountRef: 'a' }, self: { accountRef: 'b' } })).toBe(false)
  expect(holds(rule, { oldSelf: { accountRef: 'a' }, self: {} })).toBe(false)
  expect(rule.message).toBe('accountRef is immutable once set: delete this resource and recreate it')
})

describe('unionOf', () => {
  const rule = unionOf('type', { HTTP: 'http', Weighted: 'weighted' })

  test.each([
    [{ type: 'HTTP', http: 1 }, true],
    [{ type: 'Weighted', weighted: 1 }, true],
    [{ type: 'HTTP' }, false],
    [{ type: 'HTTP', weighted: 1 }, false],
    [{ type: 'HTTP', http: 1, weighted: 1 }, false],
  ])('of %j is %s', (self, expected) => {
    expect(holds(rule, { self })).toBe(expected)
  })

  test('names each member with its value in the message', () => {
    expect(rule.message).toBe('set the member for the type, and no other: http for HTTP, weighted for Weighted')
  })
})

describe('unionOf with an optional member', () => {
  const rule = unionOf('type', { Managed: { field: 'managed', optional: true }, Uploaded: 'uploaded' })

  test.each([
    [{ type: 'Managed' }, true],
    [{ type: 'Managed', managed: 1 }, true],
    [{ type: 'Managed', uploaded: 1 }, false],
    [{ type: 'Uploaded' }, false],
    [{ type: 'Uploaded', uploaded: 1 }, true],
    [{ type: 'Uploaded', uploaded: 1, managed: 1 }, false],
  ])('of %j is %s', (self, expected) => {
    expect(holds(rule, { self })).toBe(expected)
  })

  test('says in the message which one may be left out', () => {
    expect(rule.message).toContain('managed for Managed (optional), uploaded for Uploaded')
  })
})

test.each([
  ['namespace', '__namespace__'],
  ['in', '__in__'],
  ['a-b.c/d', 'a__dash__b__dot__c__slash__d'],
  ['a__b', 'a__underscores__b'],
  ['plain', 'plain'],
])('CEL knows the field %s as %s', (field, name) => {
  expect(celName(field)).toBe(name)
})
