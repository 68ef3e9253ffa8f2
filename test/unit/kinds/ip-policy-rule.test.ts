import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { type IPPolicyRuleSpec, ipPolicyRule } from '../../../src/kinds/ip-policy-rule.ts'
import type { AccountView, PartView, SiblingView, TargetView } from '../../../src/managed/descriptor/references.ts'
import { plan } from '../../../src/managed/plan/plan.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const spec: IPPolicyRuleSpec = { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' }
const held = (fields: Partial<RemoteObject> = {}): RemoteObject => ({
  id: 'ipr_1',
  ip_policy: { id: 'id-of-office', uri: '' },
  cidr: '10.0.0.0/8',
  action: 'allow',
  description: '',
  metadata: 'marker',
  ...fields,
})
const planned = (remote: RemoteObject) =>
  plan(ipPolicyRule, desiredOf({ spec }), { remote, children: [] }, { markedMetadata: 'marker', inputsChanged: false })

test('a range is changed in place, and spelt differently it is the same', () => {
  expect(planned(held({ cidr: '10.1.0.0/16' }))).toMatchObject([{ type: 'update', body: { cidr: '10.0.0.0/8' } }])
  expect(planned(held({ cidr: '10.0.0.1/8' }))).toEqual([])
})

test('another action, or another policy, makes another rule', () => {
  expect(planned(held({ action: 'deny' }))).toEqual([{ type: 'replace', fields: ['action'] }])
  expect(planned(held({ ip_policy: { id: 'ipp_9', uri: '' } }))).toEqual([
    { type: 'replace', fields: ['ip_policy_id'] },
  ])
})

describe('while a rule is replaced', () => {
  const placeholder = (all: readonly RemoteObject[], remote = held()) =>
    ipPolicyRule.replacement?.placeholder?.({ desired: desiredOf({ spec }), remote, all, marker: 'mark' })

  test('the deny of a documentation address stands in, marked, even next to others: they may be going too', () => {
    for (const others of [[], [held({ id: 'ipr_2', cidr: '10.1.0.0/16' })]]) {
      expect(placeholder([held(), ...others])).toMatchObject({
        ip_policy_id: 'id-of-office',
        cidr: expect.stringMatching(/^192\.0\.2\.\d+\/32$/),
        action: 'deny',
        metadata: 'mark',
      })
    }
  })

  test('it takes an address that no rule of the policy has', () => {
    const first = String(placeholder([held()])?.cidr)
    const taken = held({ id: 'ipr_2', cidr: first })
    expect(placeholder([held(), taken])?.cidr).not.toBe(first)
    expect(placeholder([held(), { ...taken, ip_policy: { id: 'ipp_other', uri: '' } }])?.cidr).toBe(first)
  })

  test('rules of one policy that change together choose different addresses', () => {
    const chosen = ['ipr_1', 'ipr_2', 'ipr_3'].map((id) => placeholder([held()], held({ id }))?.cidr)
    expect(new Set(chosen).size).toBe(3)
  })
})

const part = (fields: Partial<PartView> = {}): PartView => ({
  name: 'IPPolicyRule/other',
  generation: 1,
  deleting: false,
  spec: { action: 'Allow' },
  status: {
    id: 'ipr_2',
    conditions: ['Ready', 'Synced'].map((type) => ({
      type,
      status: 'True',
      reason: '',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
      observedGeneration: 1,
    })),
  },
  ...fields,
})
const policy = (fields: Partial<TargetView> = {}): TargetView => ({
  generation: 1,
  deleting: false,
  spec: { rulesSource: 'IPPolicyRules' },
  status: {},
  parts: [],
  dependents: ['Edge/shop'],
  ...fields,
})

test('a policy with its own rules takes no other, and the refusal says what helps', () => {
  const [reference] = ipPolicyRule.references.of(spec)
  expect(reference?.partOf?.(policy())).toBeUndefined()
  expect(reference?.partOf?.(policy({ spec: { rules: [] } }))).toContain('set its rulesSource: IPPolicyRules')
})

describe('a rule that is deleted', () => {
  const sibling = (holder?: PartView): SiblingView => ({ object: held({ id: 'ipr_2' }), holder })
  const release = (wholes: readonly TargetView[], account: AccountView = {}) =>
    ipPolicyRule.part?.mayDelete(wholes, account)

  test.each([
    ['nobody uses the policy', release([policy({ dependents: [] })], { siblings: [], dependents: [] })],
    ['nobody uses the policy, which is no resource', release([], { siblings: [], dependents: [] })],
    ['another rule stands', release([policy()], { siblings: [sibling(part())] })],
    ['a rule stands that is no resource', release([policy()], { siblings: [sibling()] })],
    ['the policy may be empty', release([policy({ spec: { rulesSource: 'IPPolicyRules', allowEmpty: true } })])],
  ])('goes when %s', (_when, found) => {
    expect(found).toEqual({ type: 'delete' })
  })

  test.each([
    ['it is the last', release([policy()], { siblings: [] })],
    ['the other is going too', release([policy()], { siblings: [sibling(part({ deleting: true }))] })],
    ['the other is not as it should be yet', release([policy()], { siblings: [sibling(part({ status: {} }))] })],
    ['the policy is to go as well, but is still in use', release([policy({ deleting: true })], { siblings: [] })],
    [
      'only the account shows who uses the policy',
      release([policy({ dependents: [] })], { siblings: [], dependents: ['Edge/shop'] }),
    ],
    ['the policy is no resource, and in use', release([], { siblings: [], dependents: ['Edge/shop'] })],
  ])('stays while %s, and the refusal names who uses the policy', (_when, found) => {
    expect(found).toEqual({ type: 'wait', message: expect.stringContaining('Edge/shop') })
  })

  test('stays without asking for another rule while one is being made, and asks for one when that is refused', () => {
    const message = (...parts: readonly PartView[]): string => {
      const found = release([policy({ parts })], { siblings: [] })
      return found?.type === 'wait' ? found.message : ''
    }
    const coming = part({ name: 'IPPolicyRule/coming', status: {} })
    expect(message(coming)).toContain('it is deleted once IPPolicyRule/coming exists in the service')
    expect(message(coming)).not.toContain('add another rule')
    const stalled = (part().status.conditions ?? []).slice(0, 1).map((condition) => ({ ...condition, type: 'Stalled' }))
    const refused = part({ name: 'IPPolicyRule/refused', status: { conditions: stalled } })
    expect(message(refused)).toContain('add another rule')
    expect(message(part({ deleting: true }))).toContain('add another rule')
  })

  test('has the account looked at for what resources do not tell: other rules first, then dependents', () => {
    // A Ready resource does not prove that its rule was not deleted at the API.
    expect(release([policy({ parts: [part()] })])).toEqual({ type: 'observe', at: 'siblings' })
    expect(release([policy({ dependents: [] })], { siblings: [] })).toEqual({ type: 'observe', at: 'dependents' })
    expect(release([])).toEqual({ type: 'observe', at: 'siblings' })
  })

  describe('that is the last allow', () => {
    const deny: SiblingView = { object: held({ id: 'ipr_2', action: 'deny' }), holder: part() }
    const own = [held()]

    test('stays next to denies, as the last rule does, and the refusal says what is needed', () => {
      const found = release([policy()], { siblings: [deny], own })
      expect(found).toEqual({ type: 'wait', message: expect.stringContaining('Edge/shop') })
      expect(found).toEqual({ type: 'wait', message: expect.stringContaining('add another rule with action: Allow') })
    })

    test('waits for an allow on its way, and for no deny', () => {
      const message = (action: string): string => {
        const coming = part({ name: 'IPPolicyRule/coming', status: {}, spec: { action } })
        const found = release([policy({ parts: [coming] })], { siblings: [deny], own })
        return found?.type === 'wait' ? found.message : ''
      }
      expect(message('Allow')).toContain('it is deleted once IPPolicyRule/coming exists in the service')
      expect(message('Deny')).toContain('add another rule')
    })

    test.each([
      ['another allow stands', release([policy()], { siblings: [deny, sibling(part())], own })],
      ['an allow stands that is no resource', release([policy()], { siblings: [deny, sibling()], own })],
      ['it is a deny itself', release([policy()], { siblings: [deny], own: [held({ action: 'deny' })] })],
      ['nobody uses the policy', release([policy({ dependents: [] })], { siblings: [deny], own, dependents: [] })],
      ['the policy may be empty', release([policy({ spec: { rulesSource: 'IPPolicyRules', allowEmpty: true } })])],
    ])('goes when %s', (_when, found) => {
      expect(found).toEqual({ type: 'delete' })
    })
  })

  test('is left to a policy that has its own rules by now', () => {
    expect(release([policy({ spec: { rules: [] }, dependents: [] })])).toEqual({ type: 'leave' })
  })
})

describe('a rule that changes its action to Deny', () => {
  const own = [held()]
  const deny: SiblingView = {
    object: held({ id: 'ipr_2', action: 'deny' }),
    holder: part({ spec: { action: 'Allow' } }),
  }
  const coming = part({ name: 'IPPolicyRule/coming', status: {} })
  const replaced = (account: AccountView, wholes: readonly TargetView[] = [policy()], action = 'Deny') =>
    ipPolicyRule.part?.mayReplace({ ...spec, action }, wholes, account)

  test('stays an allow until a rule that declares Allow is in place, if it is the last one of a policy in use', () => {
    const found = replaced({ siblings: [deny], own, parts: [coming] })
    expect(found).toEqual({
      type: 'wait',
      message: expect.stringContaining('IPPolicyRule/coming exists in the service'),
    })
    expect(found).toEqual({ type: 'wait', message: expect.stringContaining('Edge/shop') })
  })

  test.each([
    ['no other rule declares Allow', replaced({ siblings: [deny], own, parts: [part({ spec: { action: 'Deny' } })] })],
    ['the rule that declares Allow is going', replaced({ siblings: [], own, parts: [part({ deleting: true })] })],
    ['another allow is in place', replaced({ siblings: [{ object: held({ id: 'ipr_2' }), holder: part() }], own })],
    ['it holds a deny', replaced({ siblings: [deny], own: [held({ action: 'deny' })], parts: [coming] })],
    ['it becomes an allow', replaced({ siblings: [deny], own, parts: [coming] }, [policy()], 'Allow')],
    ['nobody uses the policy', replaced({ siblings: [], own, parts: [coming], dependents: [] }, [])],
    ['the policy may be empty', replaced({}, [policy({ spec: { rulesSource: 'IPPolicyRules', allowEmpty: true } })])],
  ])('does so when %s', (_when, found) => {
    expect(found).toEqual({ type: 'delete' })
  })

  test('counts no other allow that is about to change as well', () => {
    const changing = part({ name: 'IPPolicyRule/changing', generation: 2, spec: { action: 'Deny' } })
    const other: SiblingView = { object: held({ id: 'ipr_2' }), holder: changing }
    expect(replaced({ siblings: [other], own, parts: [changing, coming] })?.type).toBe('wait')
  })
})
