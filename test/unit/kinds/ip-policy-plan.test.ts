import fc from 'fast-check'
import { expect, test } from 'vitest'
import { guardRanges } from '../../../src/kinds/ip-policy/cidr.ts'
import { type IPPolicySpec, ipPolicy } from '../../../src/kinds/ip-policy.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'
import {
  admits,
  areas,
  modelWith,
  POLICY,
  PolicyModel,
  planRulesOf,
  policySpec,
  ruleSet,
  type SettleOptions,
  settleRules,
} from '../../builders/kinds/ip-policy-model.ts'

/** A plan that was not interrupted leaves nothing to do. */
function settle(spec: IPPolicySpec, model: PolicyModel, look: () => void, options: Partial<SettleOptions> = {}): void {
  if (settleRules(spec, model, look, options)) expect(planRulesOf(spec, model)).toEqual([])
}

const names = (rules: readonly { readonly cidr: string; readonly action: string }[]): ReadonlySet<string> =>
  new Set(rules.map(({ cidr, action }) => `${action.toLowerCase()} ${cidr}`))

test('on the way between any two sets of rules no address is admitted that both refuse, and none is refused that both admit', () => {
  fc.assert(
    fc.property(ruleSet, ruleSet, fc.boolean(), (before, after, isReversed) => {
      const model = modelWith(before)
      const old = [...model.rules]
      const wanted = policySpec(after).rules ?? []
      const look = (): void => {
        for (const area of areas) {
          if (!admits(old, area) && !admits(wanted, area)) expect(admits(model.rules, area)).toBe(false)
          if (admits(old, area) && admits(wanted, area)) expect(admits(model.rules, area)).toBe(true)
        }
      }
      settle(policySpec(after), model, look, { isReversed })
      expect(names(model.rules)).toEqual(names(wanted))
    }),
    { numRuns: 2000 },
  )
})

test('a new policy waits twice for its rules, however many they are: for its denies, then for its allows', () => {
  const rules = { '10.0.0.0/8': 'Allow', '10.1.0.0/16': 'Deny', '10.2.0.0/16': 'Deny', '11.0.0.0/8': 'Allow' } as const
  const steps = planRulesOf(policySpec(rules), new PolicyModel()).map((operation) => {
    return [operation.about, operation.type === 'create' && operation.together === true]
  })
  expect(steps).toEqual([
    ['deny 10.1.0.0/16', false],
    ['deny 10.2.0.0/16', true],
    ['allow 10.0.0.0/8', false],
    ['allow 11.0.0.0/8', true],
  ])
})

test('a policy is never empty on the way, unless it ends or began so', () => {
  fc.assert(
    fc.property(ruleSet, ruleSet, (before, after) => {
      const model = modelWith(before)
      const counts: number[] = []
      settle(policySpec(after), model, () => counts.push(model.rules.length))
      expect(counts.slice(0, -1)).not.toContain(0)
      expect(model.rules).toHaveLength(Object.keys(after).length)
    }),
    { numRuns: 2000 },
  )
})

test('a plan that is cut off anywhere, with the spec changed meanwhile, continues as safely', () => {
  fc.assert(
    fc.property(ruleSet, ruleSet, ruleSet, fc.nat(8), (first, second, third, steps) => {
      const model = modelWith(first)
      const ends = [first, second, third].map((rules) => policySpec(rules).rules ?? [])
      const look = (): void => {
        for (const area of areas) {
          if (!ends.some((rules) => admits(rules, area))) expect(admits(model.rules, area)).toBe(false)
        }
      }
      settle(policySpec(second), model, look, { steps })
      settle(policySpec(third), model, look)
      expect(names(model.rules)).toEqual(names(ends[2] ?? []))
    }),
    { numRuns: 1000 },
  )
})

test('the only rule of a policy changes its action behind a placeholder deny of a documentation address', () => {
  const model = modelWith({ '10.0.0.0/8': 'Allow' })
  const abouts: string[] = []
  for (const operation of planRulesOf(policySpec({ '10.0.0.0/8': 'Deny' }), model)) {
    abouts.push(`${operation.type} ${operation.about}`)
    model.apply(operation)
  }
  expect(abouts).toEqual(['create deny 192.0.2.1/32 temporarily', 'delete allow 10.0.0.0/8', 'create deny 10.0.0.0/8'])
  expect(planRulesOf(policySpec({ '10.0.0.0/8': 'Deny' }), model).map(({ type, about }) => `${type} ${about}`)).toEqual(
    ['delete deny 192.0.2.1/32'],
  )
})

test('rules that all change their actions do so behind a guard pair: an allow that counts, inside a deny', () => {
  const model = modelWith({ '10.0.0.0/8': 'Allow', '10.1.0.0/16': 'Deny' })
  const spec = policySpec({ '10.0.0.0/8': 'Deny', '10.1.0.0/16': 'Allow' })
  expect(planRulesOf(spec, model).map(({ type, about }) => `${type} ${about}`)).toEqual([
    'create deny 192.0.2.0/31 temporarily',
    'create allow 192.0.2.0/32 temporarily',
    'delete allow 10.0.0.0/8',
    'create deny 10.0.0.0/8',
    'delete deny 10.1.0.0/16',
    'create allow 10.1.0.0/16',
  ])
})

test.each([
  [['192.0.2.7/32'], '198.51.100.0/31', '198.51.100.0/32'],
  [['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/25'], '2001:db8::/127', '2001:db8::/128'],
  [['::ffff:c000:200/120'], '198.51.100.0/31', '198.51.100.0/32'],
  [['0.0.0.0/0'], '2001:db8::/127', '2001:db8::/128'],
  [['::/0', '2001:db8::/127', '2001:db8::2/128'], '2001:db8::4/127', '2001:db8::4/128'],
])('a guard pair takes a documentation range that no rule uses, next to %j', (taken, deny, allow) => {
  expect(guardRanges(new Set(taken))).toEqual({ deny, allow })
})

test('the placeholder deny takes a documentation address that no rule holds', () => {
  const model = modelWith({})
  model.add({ cidr: '192.0.2.1/32', action: 'allow', description: '', metadata: '' })
  const spec: IPPolicySpec = { rules: [{ cidr: '192.0.2.1/32', action: 'Deny' }] }
  expect(planRulesOf(spec, model)[0]).toMatchObject({ type: 'create', body: { cidr: '192.0.2.2/32', action: 'deny' } })
})

test('a policy is not emptied, nor left without an allow, by a plan that does not know which of its rules somebody has deleted meanwhile', () => {
  fc.assert(
    fc.property(ruleSet, ruleSet, fc.nat(), (before, after, chance) => {
      const model = modelWith(before)
      const plan = planRulesOf(policySpec(after), model)
      if (model.rules.length < 2 || Object.keys(after).length === 0) return
      const gone = model.rules[chance % model.rules.length]?.id ?? ''
      model.apply({ type: 'delete', id: gone, about: 'by hand' })
      const keepsAllow = model.rules.some(({ action }) => action === 'allow') && Object.values(after).includes('Allow')
      const isThere = (id: string): boolean => model.rules.some((rule) => rule.id === id)
      for (const operation of plan) {
        // A new plan is made in that case.
        if (operation.type === 'delete' && operation.beside !== undefined && !isThere(operation.beside)) return
        if (operation.type === 'create' || isThere(operation.id)) model.apply(operation)
        expect(model.rules.length).toBeGreaterThan(0)
        if (keepsAllow) expect(model.rules.map(({ action }) => action)).toContain('allow')
      }
    }),
  )
})

test('of equal rules the one with the lowest id stays', () => {
  const model = modelWith({ '10.0.0.0/8': 'Allow' })
  model.add({ cidr: '10.0.0.0/8', action: 'allow', description: '', metadata: '' })
  const plan = planRulesOf(policySpec({ '10.0.0.0/8': 'Allow' }), model)
  expect(plan).toEqual([{ type: 'delete', id: 'ipr_000002', about: 'allow 10.0.0.0/8', beside: 'ipr_000001' }])
})

test('a range that the API spells differently is the same range', () => {
  const model = new PolicyModel()
  const spec: IPPolicySpec = {
    rules: [
      { cidr: '2001:db8::/32', action: 'Allow' },
      { cidr: '192.0.2.7/32', action: 'Deny' },
    ],
  }
  settle(spec, model, () => undefined)
  const respelled = model.objects(POLICY).map((rule) => ({
    ...rule,
    cidr: rule.cidr === '192.0.2.7/32' ? '192.0.2.7' : '2001:0DB8:0::/32',
  }))
  expect(ipPolicy.children?.plan(desiredOf({ spec }), POLICY, respelled)).toEqual([])
})

test('a rule without metadata of its own carries a marker that is the same over all attempts', () => {
  const spec: IPPolicySpec = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: 'office' }] }
  const [first] = planRulesOf(spec, new PolicyModel())
  const [again] = planRulesOf(spec, new PolicyModel())
  expect(first).toEqual(again)
  expect(first).toMatchObject({
    type: 'create',
    body: { ip_policy_id: POLICY, cidr: '10.0.0.0/8', action: 'allow', description: 'office' },
  })
  expect(first?.type === 'create' && first.body.metadata).toMatch(/^\{"culvert":"[0-9a-f]{32}"\}$/)
})

test('a changed text is an update that names the fields, and the cidr stays', () => {
  const model = modelWith({ '10.0.0.0/8': 'Allow' })
  const spec: IPPolicySpec = {
    rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: 'office', metadata: { team: 'mine' } }],
  }
  expect(planRulesOf(spec, model)).toEqual([
    {
      type: 'update',
      id: 'ipr_000001',
      body: { description: 'office', metadata: expect.stringMatching(/^\{"culvert":"[0-9a-f]{32}","team":"mine"\}$/) },
      about: 'allow 10.0.0.0/8',
      fields: ['rules.description', 'rules.metadata'],
    },
  ])
})
