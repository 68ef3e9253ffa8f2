import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { letsFewerIn } from '../../../src/kinds/ip-policy/api-restriction.ts'
import { ipPolicyRule } from '../../../src/kinds/ip-policy-rule.ts'

const rules = (text: string): { readonly cidr: string; readonly action: string }[] => {
  return text.split(', ').flatMap((each) => {
    const [action, cidr] = each.split(' ')
    return action === undefined || cidr === undefined ? [] : [{ action, cidr }]
  })
}

describe('the rules of a policy', () => {
  test.each([
    ['allow 10.0.0.0/8', 'allow 10.0.0.0/8', false, 'nothing changes'],
    ['allow 10.0.0.0/8', 'allow 10.0.0.1/8', false, 'a range is written another way'],
    ['allow 10.0.0.0/8', 'allow 10.0.0.0/8, allow 192.0.2.0/24', false, 'another allow comes'],
    ['allow 10.0.0.0/8, allow 192.0.2.0/24', 'allow 10.0.0.0/8', true, 'an allow goes'],
    ['allow 10.0.0.0/8', 'allow 10.0.0.0/8, deny 10.0.0.1/32', true, 'a deny comes'],
    ['allow 10.0.0.0/8, deny 10.0.0.1/32', 'allow 10.0.0.0/8', false, 'a deny goes, an allow stays'],
    ['', 'allow 203.0.113.0/24', true, 'the first allow: without any rule everybody may have been admitted'],
    ['deny 10.0.0.1/32', 'deny 10.0.0.1/32, allow 203.0.113.0/24', true, 'the first allow next to a deny'],
    ['deny 10.0.0.1/32, deny 10.0.0.2/32', 'deny 10.0.0.1/32', false, 'one deny of two goes'],
    ['deny 10.0.0.1/32', '', true, 'the last deny: without any rule nobody may be admitted'],
    ['allow 10.0.0.0/8', '', true, 'the last allow'],
    ['', '', false, 'there is none and none comes'],
  ])('may let fewer addresses in when they change from [%s] to [%s]: %s, as %s', (before, after, expected) => {
    expect(letsFewerIn(rules(before), rules(after))).toBe(expected)
  })
})

describe('a rule of its own', () => {
  const policy = 'ipp_1'
  const object = (id: string, action: string, range: string, of = policy): RemoteObject => {
    return { id, action, cidr: range, ip_policy: { id: of } }
  }
  const narrows = (own: RemoteObject | undefined, wanted: string | undefined, others: readonly RemoteObject[]) => {
    const [action, range] = wanted?.split(' ') ?? []
    const spec = { ipPolicyRef: { id: policy }, cidr: range, action }
    const desired = wanted === undefined ? undefined : { spec, id: () => policy }
    const rules = [...others, ...(own === undefined ? [] : [own])]
    const siblings = (parent: string) => rules.filter(({ ip_policy: of }) => (of as { id: string }).id === parent)
    const access = ipPolicyRule.apiAccess
    if (access?.type !== 'admits') throw new Error('rules decide who is admitted')
    return access.narrows({ desired, remote: own, children: [], siblings } as never)
  }
  const elsewhere = object('ipr_9', 'allow', '192.0.2.0/24', 'ipp_2')

  test('counts as the first allow of its policy only if that has no other', () => {
    expect(narrows(undefined, 'Allow 203.0.113.0/24', [elsewhere])).toBe(policy)
    expect(narrows(undefined, 'Allow 203.0.113.0/24', [object('ipr_2', 'deny', '10.0.0.1/32')])).toBe(policy)
    expect(narrows(undefined, 'Allow 203.0.113.0/24', [object('ipr_2', 'allow', '10.0.0.0/8')])).toBeUndefined()
  })

  test('counts as the last one of its policy only if that has no other', () => {
    const own = object('ipr_1', 'deny', '10.0.0.1/32')
    expect(narrows(own, undefined, [elsewhere])).toBe(policy)
    expect(narrows(own, undefined, [object('ipr_2', 'deny', '10.0.0.2/32')])).toBeUndefined()
  })

  test('that stays as it is lets no fewer addresses in', () => {
    expect(narrows(object('ipr_1', 'allow', '10.0.0.0/8'), 'Allow 10.0.0.1/8', [])).toBeUndefined()
  })
})
