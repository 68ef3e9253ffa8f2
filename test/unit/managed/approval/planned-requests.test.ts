import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import { ipPolicy } from '../../../../src/kinds/ip-policy.ts'
import { ipPolicyRule } from '../../../../src/kinds/ip-policy-rule.ts'
import { hashOfPlan, shownPlan } from '../../../../src/managed/approval/pending-plan.ts'
import { deletionOf, plannedRequests, type Scene } from '../../../../src/managed/approval/planned-requests.ts'
import type { Observed } from '../../../../src/managed/plan/plan.ts'
import { plan } from '../../../../src/managed/plan/plan.ts'
import { desiredOf } from '../../../builders/kinds/desired.ts'

type Rule = { readonly cidr: string; readonly action: 'Allow' | 'Deny'; readonly description?: string }
const cidrs = ['10.0.0.0/8', '192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32']

const rules: fc.Arbitrary<readonly Rule[]> = fc.uniqueArray(
  fc.record(
    {
      cidr: fc.constantFrom(...cidrs),
      action: fc.constantFrom('Allow' as const, 'Deny' as const),
      description: fc.constantFrom('one', 'two'),
    },
    { requiredKeys: ['cidr', 'action'] },
  ),
  { selector: ({ cidr }) => cidr, minLength: 1 },
)
const specs = fc.record({ description: fc.constantFrom('', 'office'), rules })
const policies: fc.Arbitrary<Observed> = fc
  .record({
    description: fc.constantFrom('', 'office'),
    rules: fc.uniqueArray(fc.record({ cidr: fc.constantFrom(...cidrs), action: fc.constantFrom('allow', 'deny') }), {
      selector: ({ cidr }) => cidr,
    }),
  })
  .map((policy) => ({
    remote: { id: 'ipp_1', description: policy.description, metadata: 'marker' },
    children: policy.rules.map((rule, index) => ({
      ...rule,
      id: `ippr_${index}`,
      ip_policy: { id: 'ipp_1' },
      description: '',
      metadata: '',
    })),
  }))

const context = { markedMetadata: 'marker', inputsChanged: false }

function sceneOf(spec: object, observed: Observed | undefined): Scene {
  const desired = desiredOf({ spec }) as Scene['desired']
  const collection = { path: 'ip_policies' }
  return { descriptor: ipPolicy as Scene['descriptor'], desired, collection, observed, context, marker: 'marker' }
}

describe('the requests of a plan that waits for approval', () => {
  test('are those that the reconciler plans for an object that exists, in the same order', () => {
    fc.assert(
      fc.property(specs, policies, (spec, observed) => {
        const scene = sceneOf(spec, observed)
        const operations = plan(scene.descriptor, scene.desired, observed, context)
        const requests = plannedRequests(scene)
        expect(requests.map(({ action }) => action.toLowerCase())).toEqual(operations.map(({ type }) => type))
        const ids = operations.map((operation) => ('id' in operation ? operation.id : undefined))
        expect(requests.map(({ id, collection }) => (collection === 'ip_policies' ? undefined : id))).toEqual(ids)
      }),
    )
  })

  test('create the object and then each of its rules', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const [first, ...others] = plannedRequests(sceneOf(spec, undefined))
        expect(first).toMatchObject({ action: 'Create', collection: 'ip_policies', id: undefined })
        expect(others.map(({ action, collection }) => `${action} ${collection}`)).toEqual(
          spec.rules.map(() => 'Create ip_policy_rules'),
        )
        const shown = others.flatMap(({ changes }) => changes.filter(({ path }) => path === 'cidr'))
        expect(shown.map(({ new: cidr }) => cidr).toSorted()).toEqual(spec.rules.map(({ cidr }) => cidr).toSorted())
      }),
    )
  })

  test('show first what opens or deletes, wherever its place is, and the hash covers their order', () => {
    const denied = Array.from({ length: 25 }, (_, index) => ({ cidr: `10.0.${index}.0/24`, action: 'Deny' as const }))
    const spec = { rules: [...denied, { cidr: '0.0.0.0/0', action: 'Allow' as const }] }
    const rule = { id: 'ippr_1', ip_policy: { id: 'ipp_1' }, cidr: '198.51.100.0/24', action: 'deny', metadata: '' }
    const observed = { remote: { id: 'ipp_1', metadata: 'marker' }, children: [rule] }
    const requests = plannedRequests(sceneOf(spec, observed))
    const { operations, moreOperations } = shownPlan(requests, 'hash', '2026-01-01T00:00:00.000Z')
    expect(moreOperations).toBeUndefined()
    expect(operations).toHaveLength(27)
    const marked = operations.slice(0, 2).toSorted((one, other) => one.action.localeCompare(other.action))
    expect(marked).toMatchObject([
      { action: 'Create', marks: ['the policy admits 0.0.0.0/0'] },
      { action: 'Delete', marks: ['the object is deleted', 'the policy no longer refuses 198.51.100.0/24'] },
    ])
    for (const { step, action, object } of operations) {
      const { action: sent, collection, id } = requests[step - 1] ?? {}
      expect([action, object]).toEqual([sent, id === undefined ? collection : `${collection}/${id}`])
    }
    const origin = { of: 'o', after: undefined }
    expect(hashOfPlan(requests.toReversed(), origin)).not.toBe(hashOfPlan(requests, origin))
  })
})

describe('the last allow of a policy', () => {
  const LOST = 'the policy has no allow rule left without 10.0.0.0/8: the service may then admit everyone'
  const rule = (id: string, cidr: string, action: string): RemoteObject => {
    return { id, cidr, action, ip_policy: { id: 'ipp_1' }, description: '', metadata: '' }
  }
  const allow = rule('ipr_1', '10.0.0.0/8', 'allow')
  const deny = rule('ipr_2', '10.1.0.0/16', 'deny')
  const marksOf = (wanted: readonly Rule[], children = [allow, deny]): readonly string[] => {
    const remote = { id: 'ipp_1', description: '', metadata: 'marker' }
    return plannedRequests(sceneOf({ rules: wanted }, { remote, children })).flatMap(({ marks }) => marks)
  }

  test('is marked when only denies are left', () => {
    expect(marksOf([{ cidr: '10.1.0.0/16', action: 'Deny' }])).toContain(LOST)
    expect(marksOf([{ cidr: '10.0.0.0/8', action: 'Deny' }], [allow])).toContain(LOST)
  })

  test('is not marked when another one comes first, nor is the guard pair that stands in', () => {
    const marks = marksOf([
      { cidr: '10.0.0.0/8', action: 'Deny' },
      { cidr: '10.1.0.0/16', action: 'Allow' },
    ])
    expect(marks).not.toContain(LOST)
    expect(marks.filter((mark) => mark.includes('admits'))).toEqual(['the policy admits 10.1.0.0/16'])
  })

  test.each([
    ['next to a deny', [deny], true],
    ['alone', [], true],
    ['next to another allow', [rule('ipr_3', '10.2.0.0/16', 'allow')], false],
  ] as const)(
    'is marked as a resource of its own that is deleted or becomes a deny, %s',
    (_beside, others, isMarked) => {
      const spec = { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Deny' }
      const scene: Scene = {
        ...sceneOf(spec, { remote: { ...allow, ip_policy: { id: 'id-of-office' } }, children: [] }),
        descriptor: ipPolicyRule as unknown as Scene['descriptor'],
        collection: { path: 'ip_policy_rules' },
        others,
      }
      expect(
        plannedRequests(scene)
          .flatMap(({ marks }) => marks)
          .includes(LOST),
      ).toBe(isMarked)
      expect(deletionOf(scene, allow).marks.includes(LOST)).toBe(isMarked)
    },
  )
})
