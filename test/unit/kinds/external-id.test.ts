import { Environment } from '@marcbachmann/cel-js'
import { expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { commonRootRules } from '../../../src/managed/descriptor/common.ts'

type Fields = Readonly<Record<string, unknown>>

const environment = new Environment({ unlistedVariablesAreDyn: true })
const observed = { id: 'x_1' }
const held = { id: 'x_1', internal: { create: { nonce: 'n', attempt: 0 } } }

function isTaken(spec: Fields, oldSpec: Fields, status: Fields | undefined): boolean {
  const self = { spec, ...(status && { status }) }
  const oldSelf = { spec: oldSpec, ...(status && { status }) }
  return commonRootRules.every(({ rule }) => environment.evaluate(rule, { self, oldSelf }) === true)
}

test.each([
  ['set', {}, { externalID: 'x_2' }],
  ['changed', { externalID: 'x_1' }, { externalID: 'x_2' }],
  ['removed', { externalID: 'x_1' }, {}],
])('externalID can be %s as long as no object is held', (_, before, after) => {
  expect(isTaken(after, before, undefined)).toBe(true)
  expect(isTaken(after, before, observed)).toBe(true)
  expect(isTaken(after, before, held)).toBe(false)
})

test.each([
  ['an edit of something else', { externalID: 'x_1' }, { externalID: 'x_1', description: 'new' }],
  ['an edit without it', {}, { description: 'new' }],
  ['the id of the object that took the place of an adopted one', { externalID: 'x_0' }, { externalID: 'x_1' }],
  ['the id of an object that Culvert created', {}, { externalID: 'x_1' }],
])('a resource that holds an object takes %s', (_, before, after) => {
  expect(isTaken(after, before, held)).toBe(true)
})

test('every kind that stands for an object has these rules', () => {
  const managed = kinds.filter(({ role }) => role === 'managed')
  expect(managed.map(({ definition }) => definition.rootRules)).toEqual(managed.map(() => commonRootRules))
})
