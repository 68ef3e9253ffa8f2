import { refTo as refToResource } from '../builders/contract/api-client.ts'
import { idOf, idsOf, list, sorted } from '../builders/declared/forms.ts'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { asBody, asList } from './shared/drifts.ts'
import { patch, quiet, story } from './shared/edits.ts'
import { acknowledgedEdits, policyPlace } from './shared/ip-policies.ts'
import { bare, described, need, refTo, shownDescribed } from './shared/objects.ts'
import { crossingRefusal, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

export const ipRestriction: ManagedKindTestData = {
  kind: 'IPRestriction',
  accepted: { type: 'Agent', enforcement: 'Enforce', ipPolicyRefs: [{ name: 'office' }] },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    crossingRefusal((ofAnother) => ({ ipPolicyRefs: [ofAnother] })),
    refuseChange('with another type', { type: 'Dashboard' }, 'type is immutable: delete'),
    refuse(
      'that could shut Culvert out of the API unawares',
      { type: 'API' },
      'enforcement: Enforce with type: API can lock Culvert out of the API: check',
    ),
    refuseChange(
      'when enforcing it takes the acknowledgement away',
      { acknowledgeAPIRestriction: undefined },
      'set acknowledgeAPIRestriction: true, or set enforcement: Warn',
      { type: 'API', acknowledgeAPIRestriction: true },
    ),
    refuse('with a policy by name and id', { ipPolicyRefs: [{ name: 'a', id: 'b' }] }, 'set exactly one of'),
  ],
  specs: {
    minimal: {
      spec: (name) => ({ type: 'Dashboard', ipPolicyRefs: [{ name: `${name}-a` }] }),
      needs: (name) => [need.policy(`${name}-a`)],
      object: ({ id, name }) => ({
        ...bare,
        type: 'dashboard',
        enforced: false,
        ip_policies: [refTo(id('IPPolicy', `${name}-a`))],
      }),
    },
    full: {
      spec: (name) => ({
        ...described(name),
        type: 'Agent',
        enforcement: 'Enforce',
        ipPolicyRefs: [{ name: `${name}-a` }, { name: `${name}-b` }],
        acknowledgeAPIRestriction: true,
      }),
      needs: (name) => [need.policy(`${name}-a`), need.policy(`${name}-b`)],
      object: ({ id, name }) => ({
        ...shownDescribed(name),
        type: 'agent',
        enforced: true,
        ip_policies: [refTo(id('IPPolicy', `${name}-a`)), refTo(id('IPPolicy', `${name}-b`))],
      }),
    },
  },
  edits: [
    story('restriction', { type: 'Endpoints', ipPolicyRefs: [{ name: 'office' }] }, [
      ...textEdits,
      patch('enforced', { enforcement: 'Enforce' }, { enforced: true }),
      patch('enforced', { enforcement: 'Warn' }, { enforced: false }),
      ...quiet({ enforcement: undefined }),
      patch('ip_policy_ids', { ipPolicyRefs: [{ name: 'home' }] }, (id) => ({
        ip_policies: [refTo(id('IPPolicy', 'home'))],
      })),
      ...acknowledgedEdits,
    ]),
  ],
  collections: {
    ip_restrictions: withTexts({
      samples: {
        enforced: pick(true, false),
        // Of a type that the emulator only stores, so that it restricts no other test.
        type: pick('dashboard', 'endpoints'),
        ip_policy_ids: async (world) => {
          const [one, two] = [await world.api.create('ip_policies', {}), await world.api.create('ip_policies', {})]
          return { sent: [two.id, one.id], returned: [refToResource(two), refToResource(one)] }
        },
      },
      drifts: {
        enforced: [({ enforced }) => ({ enforced: !enforced })],
        ip_policy_ids: [
          () => ({ ip_policy_ids: [] }),
          ({ ip_policies }) => ({ ip_policy_ids: [asBody(asList(ip_policies)[0]).id] }),
        ],
      },
      stranger: async (_number, of) => ({ type: 'dashboard', ip_policy_ids: [await of('ip_policies')] }),
    }),
  },
  places: { 'spec.ipPolicyRefs[]': policyPlace },
  declares: ({ type, enforcement, ipPolicyRefs }, { object }, resolved) => [
    ['type', String(type).toLowerCase(), object.type],
    ['enforced', enforcement === 'Enforce', object.enforced],
    ['ip_policies', idsOf('IPPolicy', ipPolicyRefs, resolved), sorted(list(object.ip_policies).map(idOf))],
  ],
}
