import { expect, test } from 'vitest'
import { ipPolicy } from '../../../src/kinds/ip-policy.ts'
import type { TargetView } from '../../../src/managed/types/descriptor.ts'

type Condition = NonNullable<TargetView['status']['conditions']>[number]

const condition = (type: string, status: Condition['status'], observedGeneration: number): Condition => {
  return { type, status, observedGeneration, reason: 'Any', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }
}
const view = (fields: { ready?: number; synced?: boolean; rules?: number; allowEmpty?: boolean }): TargetView => ({
  generation: 3,
  spec: fields.allowEmpty === undefined ? {} : { allowEmpty: fields.allowEmpty },
  status: {
    ruleCount: fields.rules ?? 1,
    conditions: [
      condition('Ready', 'True', fields.ready ?? 3),
      condition('Synced', fields.synced === false ? 'False' : 'True', 3),
    ],
  },
})

test('a policy may be referred to once its rules equal the current spec', () => {
  expect(ipPolicy.unusable(view({}))).toBeUndefined()
})

test.each([
  ['while its conditions are of an older spec', view({ ready: 2 })],
  ['while a changed spec is being applied, although it still counts as Ready', view({ synced: false })],
  ['without any condition', { generation: 1, spec: {}, status: { ruleCount: 1 } }],
  ['without rules', view({ rules: 0 })],
])('a policy may not be referred to %s', (_when, found) => {
  expect(ipPolicy.unusable(found)).toEqual(expect.any(String))
})

test('a policy that is meant to be empty may be referred to', () => {
  expect(ipPolicy.unusable(view({ rules: 0, allowEmpty: true }))).toBeUndefined()
})

test('the rules at the API are in the status, sorted, and found there by id', () => {
  const rules = [
    { id: 'ipr_2', cidr: '2001:DB8::/32', action: 'allow' },
    { id: 'ipr_1', cidr: '10.0.0.0/8', action: 'deny' },
  ]
  const status = ipPolicy.children?.status(rules) ?? {}
  expect(status).toEqual({
    ruleCount: 2,
    rules: [
      { cidr: '10.0.0.0/8', action: 'deny', id: 'ipr_1' },
      { cidr: '2001:db8::/32', action: 'allow', id: 'ipr_2' },
    ],
  })
  expect(ipPolicy.children?.idsIn(status)).toEqual(['ipr_1', 'ipr_2'])
})
