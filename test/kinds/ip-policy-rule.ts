import { refTo as refToResource } from '../builders/contract/api-client.ts'
import { idOf } from '../builders/declared/forms.ts'
import type { Ref } from '../builders/declared/types.ts'
import type { Body, ManagedKindTestData, Surrounding } from './kind-test-data.ts'
import { ref } from './shared/account.ts'
import { another, patch, story } from './shared/edits.ts'
import { acknowledgedEdits, range } from './shared/ip-policies.ts'
import { bare, need, refTo, shownWorded, worded } from './shared/objects.ts'
import { crossingRefusal, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const rule = (name: string, cidr: string) => ({ ipPolicyRef: { name: `${name}-policy` }, cidr, action: 'Allow' })
const shown = ({ id, name }: Surrounding, cidr: string): Body => ({
  cidr,
  action: 'allow',
  ip_policy: refTo(id('IPPolicy', `${name}-policy`)),
})
const needs = (name: string) => [need.openPolicy(`${name}-policy`)]
const everybody = ['0.0.0.0/0', '::/0']

export const ipPolicyRule: ManagedKindTestData = {
  kind: 'IPPolicyRule',
  accepted: { ipPolicyRef: { id: 'ipp_1' }, cidr: '10.0.0.0/8', action: 'Allow' },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    crossingRefusal((ofAnother) => ({ ipPolicyRef: ofAnother })),
    refuseChange('with another policy', { ipPolicyRef: { name: 'other' } }, 'ipPolicyRef is immutable'),
    refuse(
      'with an account of its own next to a policy by name',
      { ipPolicyRef: { name: 'office' }, accountRef: { kind: 'Account', name: 'default' } },
      'accountRef is allowed only with ipPolicyRef.id',
    ),
    refuse('without a policy', { ipPolicyRef: {} }, 'set exactly one of name, id'),
    refuse(
      'with what is no address',
      { cidr: '10.0.0' },
      'cidr must be an address, such as 192.0.2.1, or a range in CIDR notation',
    ),
    refuse('with host bits', { cidr: '10.0.0.1/8' }, 'cidr has host bits set: write'),
    refuse('with upper case', { cidr: '2001:DB8::/32' }, 'cidr is not in canonical form: write'),
  ],
  specs: {
    minimal: {
      spec: (name) => rule(name, '10.0.0.0/8'),
      needs,
      object: (around) => ({ ...bare, ...shown(around, '10.0.0.0/8') }),
    },
    full: {
      spec: (name) => ({ ...worded(name), ...rule(name, '2001:db8::/32') }),
      needs,
      object: (around) => ({ ...shownWorded(around.name), ...shown(around, '2001:db8::/32') }),
    },
  },
  edits: [
    story('rule', { ipPolicyRef: { name: 'open' }, cidr: range, action: 'Allow' }, [
      ...textEdits,
      patch('cidr', { cidr: '2001:db8:7::/48' }, { cidr: '2001:db8:7::/48' }),
      another({ action: 'Deny' }, { action: 'deny' }),
      ...acknowledgedEdits,
    ]),
  ],
  collections: {
    ip_policy_rules: withTexts({
      samples: {
        cidr: pick('192.0.2.0/24', '2001:db8::/32'),
        ip_policy_id: async (world) => {
          const policy = await world.api.create('ip_policies', {})
          return { sent: policy.id, returned: refToResource(policy) }
        },
        action: pick('allow', 'deny'),
      },
      drifts: { cidr: [() => ({ cidr: '0.0.0.0/0' })] },
      stranger: async (number, of) => ({
        cidr: `203.0.113.${number}/32`,
        action: 'allow',
        ip_policy_id: await of('ip_policies'),
      }),
    }),
  },
  places: { 'spec.ipPolicyRef': ref(['open'], ['ipp_other']) },
  declares: ({ cidr, action, ipPolicyRef }, { object }, { id }) => [
    ['cidr', cidr, object.cidr],
    ['action', String(action).toLowerCase(), object.action],
    ['ip_policy', id('IPPolicy', ipPolicyRef as Ref), idOf(object.ip_policy)],
  ],
  // A restriction of the API that a spec enforces must not lock out the test.
  referents: ['ipp_office', 'ipp_home', 'ipp_lab'].flatMap((policy, index) =>
    everybody.map((cidr, at) => ({
      collection: 'ip_policy_rules',
      object: { id: `ipr_${index}${at}`, ip_policy_id: policy, cidr, action: 'allow' },
    })),
  ),
}
