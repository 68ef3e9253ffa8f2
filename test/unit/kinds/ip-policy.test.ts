import { describe, expect, test } from 'vitest'
import { ipPolicy } from '../../../src/kinds/ip-policy.ts'
import type { PartView, TargetView } from '../../../src/managed/descriptor/references.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

type Condition = NonNullable<TargetView['status']['conditions']>[number]

const condition = (type: string, status: Condition['status'], observedGeneration: number): Condition => {
  return { type, status, observedGeneration, reason: 'Any', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }
}
const outside = { deleting: false, parts: [], dependents: [] }
const view = (fields: { ready?: number; synced?: boolean; rules?: number; allowEmpty?: boolean }): TargetView => ({
  ...outside,
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
  expect(ipPolicy.whole?.unusable(view({}))).toBeUndefined()
})

test.each([
  ['while its conditions are of an older spec', view({ ready: 2 })],
  ['while a changed spec is being applied, although it still counts as Ready', view({ synced: false })],
  ['without any condition', { ...outside, generation: 1, spec: {}, status: { ruleCount: 1 } }],
  ['without rules', view({ rules: 0 })],
])('a policy may not be referred to %s', (_when, found) => {
  expect(ipPolicy.whole?.unusable(found)).toEqual(expect.any(String))
})

test('a policy that is meant to be empty may be referred to', () => {
  expect(ipPolicy.whole?.unusable(view({ rules: 0, allowEmpty: true }))).toBeUndefined()
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

describe('a policy whose rules are IPPolicyRules', () => {
  const part = (name: string, fields: Partial<PartView> = {}): PartView => ({
    name: `IPPolicyRule/${name}`,
    generation: 7,
    deleting: false,
    spec: { action: 'Allow' },
    status: { id: 'ipr_1', conditions: [condition('Ready', 'True', 7), condition('Synced', 'True', 7)] },
    ...fields,
  })
  const edited = part('edited', { generation: 8 })
  const policy = (parts: readonly PartView[], fields: { rules?: number; allowEmpty?: boolean } = {}): TargetView => {
    const found = view(fields)
    return { ...found, spec: { ...found.spec, rulesSource: 'IPPolicyRules' }, parts }
  }

  test('may be referred to once each of them is in force', () => {
    expect(ipPolicy.whole?.unusable(policy([part('a'), part('b')]))).toBeUndefined()
  })

  test('does not count one that is being deleted, and may go as soon as nobody uses the policy', () => {
    const going = part('going', { deleting: true })
    expect(ipPolicy.whole?.unusable(policy([going]))).toContain('being deleted')
    expect(ipPolicy.whole?.unusable(policy([going, part('a')], { rules: 2 }))).toBeUndefined()
    expect(ipPolicy.whole?.unusable(policy([going], { allowEmpty: true }))).toBeUndefined()
  })

  test('says how many rules it has that are no IPPolicyRules', () => {
    const remote = { id: 'ipp_1' }
    const message = (unclaimed: number): string =>
      ipPolicy.status.readiness({ spec: { rulesSource: 'IPPolicyRules' }, remote, unclaimed, now: 0 }).message
    expect(message(0)).toBe('the policy exists and has every IPPolicyRule that refers to it')
    expect(message(1)).toContain('1 further rule is in force without an IPPolicyRule')
    expect(message(7)).toContain('7 further rules are in force without an IPPolicyRule')
  })

  test('waits for the one that is still being changed, and names it', () => {
    expect(ipPolicy.whole?.unusable(policy([part('a'), edited]))).toContain('IPPolicyRule/edited')
    expect(ipPolicy.whole?.unusable(policy([edited], { allowEmpty: true }))).toContain('IPPolicyRule/edited')
  })

  test('waits until there is one, whatever else the policy holds at the API, unless it may be empty', () => {
    expect(ipPolicy.whole?.unusable(policy([], { rules: 3 }))).toContain('create an IPPolicyRule')
    expect(ipPolicy.whole?.unusable(policy([], { rules: 0, allowEmpty: true }))).toBeUndefined()
  })

  test('asks for no rule while it does not count one yet that was just made', () => {
    const message = ipPolicy.whole?.unusable(policy([part('a')], { rules: 0 }))
    expect(message).toContain('does not have every declared rule yet')
    expect(message).not.toMatch(/add|make/)
  })

  test('writes no rule and removes none', () => {
    const held = [{ id: 'ipr_1', cidr: '10.0.0.0/8', action: 'allow' }]
    const desired = desiredOf({ spec: { rulesSource: 'IPPolicyRules' as const } })
    expect(ipPolicy.children?.plan(desired, 'ipp_1', held)).toEqual([])
  })
})
