import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { choice, list, object, text } from '../../../src/schema/define.ts'
import {
  atMostOne,
  exactlyOne,
  fixedField,
  fixedOnceSet,
  immutable,
  type Rule,
  unionOf,
} from '../../../src/schema/rules.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { newRules } from '../../releases/compatibility/new-rules.ts'

const d = { description: 'A field.' }
const word = text({ ...d, maxLength: 9 })

function node(fields: Readonly<Record<string, TSchema>>, ...rules: readonly Rule[]) {
  const optional = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]))
  return toStructural(object(optional, { ...d, rules }), 'spec')
}

function rule(text: string): Rule {
  return { rule: text, message: 'spec is wrong: fix it' }
}

const earlier = { type: choice(['A', 'B'], d), a: word, b: word }
const later = { ...earlier, type: choice(['A', 'B', 'C'], d), c: word }

describe('a new rule passes when no earlier resource can break it', () => {
  test.each<[string, readonly Rule[], readonly Rule[]]>([
    ['nothing but a new message', [rule('has(self.a)')], [{ rule: 'has(self.a)', message: 'a is missing: set it' }]],
    ['at most one of an old field and a new one', [], [atMostOne(['a', 'c'])]],
    ['exactly one of more members', [exactlyOne(['a', 'b'])], [exactlyOne(['a', 'b', 'c'])]],
    ['at most one of more members', [atMostOne(['a', 'b'])], [atMostOne(['a', 'b', 'c'])]],
    [
      'a further member of a union',
      [unionOf('type', { A: 'a', B: 'b' })],
      [unionOf('type', { A: 'a', B: 'b', C: 'c' })],
    ],
    ['a new field that is fixed', [], [fixedField('c'), fixedOnceSet('c')]],
    ['a demand of the new field', [], [rule("!has(self.c) || self.c != 'x'")]],
    [
      'a demand that goes with the new field',
      [],
      [rule('!has(self.c) || has(self.a)'), rule('has(self.c) ? has(self.a) : true')],
    ],
    ['a demand of a new value', [], [rule("self.type != 'C' || has(self.c)"), rule("!(self.type in ['C', 'D'])")]],
    ['an old rule in two', [rule('has(self.a) && has(self.b)')], [rule('has(self.b)'), rule('has(self.a)')]],
    ['an old rule that a new field lifts', [rule('has(self.a)')], [rule('has(self.a) || has(self.c)')]],
    ['fewer rules', [rule('has(self.a)'), rule('has(self.b)')], [rule('has(self.b)')]],
  ])('%s', (_, before, after) => {
    expect(newRules(node(earlier, ...before), node(later, ...after), 'spec')).toEqual([])
  })

  test('of new fields of the items of a list', () => {
    const items = (...names: readonly string[]) =>
      list(object(Object.fromEntries(names.map((name) => [name, Type.Optional(word)])), d), { ...d, maxItems: 3 })
    const every = rule("self.list.all(item, !has(item.c) || item.c != '')")
    const some = rule('!self.list.exists(item, has(item.c) && has(item.a))')
    expect(newRules(node({ list: items('a') }), node({ list: items('a', 'c') }, every, some), 'spec')).toEqual([])
  })
})

describe('a new rule is found when an earlier resource can break it', () => {
  test.each<[string, readonly Rule[], readonly Rule[]]>([
    ['a demand of an old field', [], [rule('has(self.a)')]],
    ['a demand of a new field', [], [rule('has(self.c)')]],
    ['at most one of two old fields', [], [atMostOne(['a', 'b', 'c'])]],
    ['exactly one of an old field and a new one', [], [exactlyOne(['a', 'c'])]],
    ['a demand while the new field is not set', [], [rule('has(self.c) || has(self.a)')]],
    ['a demand of an old value', [], [rule("self.type != 'A' || has(self.a)")]],
    ['a demand of some old values', [], [rule("!(self.type in ['A', 'C'])")]],
    ['more than before', [rule('has(self.a) || has(self.b)')], [rule('has(self.a)')]],
    ['a demand next to one that was there', [rule('has(self.a)')], [rule('has(self.a) && has(self.b)')]],
  ])('%s', (_, before, after) => {
    expect(newRules(node(earlier, ...before), node(later, ...after), 'spec')).toEqual([
      expect.objectContaining({ path: 'spec', sort: 'tightened', what: expect.stringContaining('rule') }),
    ])
  })

  test.each<[string, Rule]>([
    ['an old field that is fixed', fixedField('a')],
    ['an old field that is fixed once set', fixedOnceSet('a')],
    ['everything that is fixed', immutable('spec is fixed')],
  ])('%s, from which what is stored is not exempt', (_, fixed) => {
    expect(newRules(node(earlier), node(later, fixed), 'spec')).toMatchObject([{ sort: 'changed' }])
  })

  test('a demand of a field that unknown fields may have held', () => {
    const anything = { ...node(earlier), 'x-kubernetes-preserve-unknown-fields': true }
    expect(newRules(anything, node(later, rule('!has(self.c)')), 'spec')).toHaveLength(1)
  })
})
