import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { type IPRestrictionSpec, ipRestriction } from '../../../src/kinds/ip-restriction.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const spec: IPRestrictionSpec = {
  type: 'Agent',
  enforcement: 'Enforce',
  ipPolicyRefs: [{ name: 'office' }, { id: 'ipp_9' }],
}
const remote: RemoteObject = {
  id: 'ipx_1',
  type: 'agent',
  enforced: true,
  ip_policies: [
    { id: 'ipp_9', uri: '' },
    { id: 'id-of-office', uri: '' },
  ],
}
const planned = (held: RemoteObject, wanted = spec) =>
  plan(
    ipRestriction,
    desiredOf({ spec: wanted }),
    { remote: held, children: [] },
    { markedMetadata: undefined, inputsChanged: false },
  )

test('policies are a set: another order is no difference, and one named twice is sent once', () => {
  expect(planned(remote)).toEqual([])
  const twice = { ...spec, ipPolicyRefs: [{ id: 'ipp_9' }, { id: 'ipp_9' }] }
  expect(planCreate(ipRestriction, desiredOf({ spec: twice }), 'm')).toMatchObject({ ip_policy_ids: ['ipp_9'] })
})

test('the status says what the API has: whether it is enforced, and by which policies', () => {
  expect(ipRestriction.status.shown(remote, {})).toEqual({
    enforcement: 'Enforce',
    ipPolicyIDs: ['id-of-office', 'ipp_9'],
  })
  expect(ipRestriction.status.shown({ id: 'ipx_1' }, {})).toEqual({ enforcement: 'Warn', ipPolicyIDs: [] })
})

test('a restriction that is silent about it is created without enforcing, and stops enforcing', () => {
  const { enforcement: _, ...silent } = spec
  expect(planCreate(ipRestriction, desiredOf({ spec: silent }), 'm')).toMatchObject({ enforced: false })
  expect(planned(remote, silent)).toMatchObject([{ body: { enforced: false } }])
})

test('its type is fixed and not sent again, even where the API holds another', () => {
  expect(planned({ ...remote, type: 'api' })).toEqual([])
})

test('it uses the policies that it has at the API, so that these are not deleted under it', () => {
  expect(ipRestriction.references.kinds.map(({ kind, idsIn }) => [kind, idsIn(remote)])).toEqual([
    ['IPPolicy', ['ipp_9', 'id-of-office']],
  ])
})

test('it refers to the policies of its spec, each by its place', () => {
  expect(ipRestriction.references.of(spec)).toEqual([
    { path: 'spec.ipPolicyRefs[0]', kind: 'IPPolicy', ref: { name: 'office' } },
    { path: 'spec.ipPolicyRefs[1]', kind: 'IPPolicy', ref: { id: 'ipp_9' } },
  ])
})
