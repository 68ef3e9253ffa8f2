import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus, reference } from '../managed/types/common.ts'
import type { Fields, ManagedDescriptor } from '../managed/types/descriptor.ts'
import { bool, choice, list, object } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { fixedField } from '../schema/rules.ts'
import { managedColumns, textColumn } from './columns.ts'
import { available, plain } from './defaults.ts'
import { managedKind } from './names.ts'
import { refIds, sorted, textOf, textsOf } from './remote.ts'

/** The contract states no limit; the same as for the policies of an Edge. */
const REFERENCES = 64

const definition = defineKind({
  ...managedKind,
  kind: 'IPRestriction',
  plural: 'iprestrictions',
  singular: 'iprestriction',
  shortNames: ['iprestr'],
  scope: 'Namespaced',
  description:
    'Holds a kind of traffic of the whole account to IP policies: that to its dashboard, its API, its agents or its endpoints. It is not made before every policy has all of its rules.',
  spec: object(
    {
      ...commonSpec('bytes'),
      type: choice(['dashboard', 'api', 'agent', 'endpoints'], {
        description: 'Which traffic is restricted. Fixed at create.',
      }),
      enforced: Type.Optional(
        bool({
          description: 'Whether others are kept out; while false they are only warned. Default: false.',
          default: false,
        }),
      ),
      ipPolicyRefs: list(reference('IPPolicy'), {
        description: 'IP policies that decide who gets in; at least one. Their order means nothing.',
        minItems: 1,
        maxItems: REFERENCES,
      }),
      acknowledgeAPIRestriction: Type.Optional(
        bool({
          description:
            'Says that the policies of an enforced restriction of type api admit the addresses that Culvert calls from. If they do not, Culvert is shut out with everybody else, and cannot take the restriction back. Default: false.',
          default: false,
        }),
      ),
    },
    {
      description: 'What the restriction should be.',
      rules: [
        ...commonSpecRules,
        fixedField('type'),
        {
          rule: "self.type != 'api' || !(has(self.enforced) && self.enforced) || (has(self.acknowledgeAPIRestriction) && self.acknowledgeAPIRestriction)",
          message:
            'enforced: true with type: api can shut Culvert out of the API: see that ipPolicyRefs admit its address and set acknowledgeAPIRestriction: true, or set enforced: false',
          fieldPath: '.enforced',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: object({ ...commonStatus }, { description: 'The restriction at the API.' }),
  printerColumns: managedColumns(textColumn('Type', '.spec.type', 'Which traffic is restricted.'), {
    name: 'Enforced',
    type: 'boolean',
    jsonPath: '.spec.enforced',
    description: 'Whether others are kept out, and not only warned.',
  }),
})

export type IPRestrictionSpec = SpecOf<typeof definition>

/** IP restrictions (`management-api.md § IP policies, rules, restrictions`). The policies are a set. */
export const ipRestriction: ManagedDescriptor<IPRestrictionSpec> = {
  ...plain,
  role: 'managed',
  definition,
  collections: [collections.ipRestrictions],
  collectionOf: () => collections.ipRestrictions,
  refersTo: [{ kind: 'IPPolicy', idsIn: ({ ip_policies }) => refIds(ip_policies) }],
  references: ({ ipPolicyRefs }) =>
    ipPolicyRefs.map((ref, index) => ({ path: `spec.ipPolicyRefs[${index}]`, kind: 'IPPolicy', ref })),
  restrictsAPI: ({ type, enforced }) => type === 'api' && enforced === true,
  createOnly: ['type'],
  desire: (desired) => {
    const { type, enforced = false, ipPolicyRefs } = desired.spec
    return { type, enforced, ip_policy_ids: [...new Set(ipPolicyRefs.map((ref) => desired.id('IPPolicy', ref)))] }
  },
  observe: ({ type, enforced, ip_policies }) => ({
    type: textOf(type),
    enforced: enforced === true,
    ip_policy_ids: sorted(refIds(ip_policies)),
  }),
  comparable: (fields: Fields) => ({ ...fields, ip_policy_ids: sorted(textsOf(fields.ip_policy_ids)) }),
  status: () => ({}),
  readiness: ({ spec }) =>
    available(spec.enforced === true ? 'the restriction is enforced' : 'the restriction is in place and only warns'),
}
