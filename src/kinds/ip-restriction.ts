import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus, type Fields, reference } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { bool, choice, list, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { fixedField } from '../schema/rules.ts'
import { managedColumns, textColumn, wideColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, ID_LENGTH, namesOf, refIds, shownIds, sorted, textOf, textsOf } from './building-blocks/remote.ts'
import { sentPolicies } from './ip-policy/usable-policy.ts'

/** The contract states no limit; the same as for the policies of an Edge. */
const REFERENCES = 64
/** More than a spec may have, since changes made outside Culvert may add some. */
const SHOWN = 2 * REFERENCES

const definition = defineKind({
  ...managedKind,
  kind: 'IPRestriction',
  plural: 'iprestrictions',
  singular: 'iprestriction',
  shortNames: ['iprestr'],
  scope: 'Namespaced',
  description:
    'Applies IP policies to one kind of traffic of the whole account: its dashboard, its API, its agents or its endpoints. It is not created until every policy has all of its rules.',
  spec: object(
    {
      ...commonSpec('bytes'),
      type: choice(['Agent', 'API', 'Dashboard', 'Endpoints'], {
        description:
          "Which traffic is restricted. Agent: agents that start tunnel sessions. API: calls to the management API, Culvert's own included. Dashboard: the dashboard. Endpoints: traffic to all endpoints of the account. Immutable.",
      }),
      enforcement: Type.Optional(
        choice(['Enforce', 'Warn'], {
          description:
            'What happens to addresses that the policies do not let in. Enforce: they are refused. Warn: they only get a warning. Default: Warn.',
        }),
      ),
      ipPolicyRefs: list(reference('IPPolicy'), {
        description:
          'IP policies that decide which addresses are let in; at most 64. Order does not matter. A policy that was deleted at the API is left out when the list changes, as long as another remains.',
        maxItems: REFERENCES,
      }),
      acknowledgeAPIRestriction: Type.Optional(
        bool({
          description:
            'Confirms that the policies let in the addresses that Culvert calls from. Required for type API with enforcement Enforce: if they do not, Culvert is locked out too and cannot lift the restriction. Default: false.',
        }),
      ),
    },
    {
      description: 'Desired state of the restriction.',
      rules: [
        ...commonSpecRules,
        fixedField('type'),
        {
          rule: "self.type != 'API' || !has(self.enforcement) || self.enforcement != 'Enforce' || (has(self.acknowledgeAPIRestriction) && self.acknowledgeAPIRestriction)",
          message:
            'enforcement: Enforce with type: API can lock Culvert out of the API: check that the policies let in the addresses that Culvert calls from and set acknowledgeAPIRestriction: true, or set enforcement: Warn',
          fieldPath: '.enforcement',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      enforcement: Type.Optional(
        choice(['Enforce', 'Warn'], {
          description:
            'What happens to other addresses at the API. Enforce: they are refused. Warn: they get a warning.',
        }),
      ),
      ipPolicyIDs: Type.Optional(
        list(text({ description: 'Id of a policy.', maxLength: ID_LENGTH }), {
          description: `Ids of the policies that the restriction has at the API; at most ${SHOWN} are shown.`,
          maxItems: SHOWN,
        }),
      ),
    },
    { description: 'Observed state of the restriction.' },
  ),
  printerColumns: managedColumns(
    textColumn('Type', '.spec.type', 'Which traffic is restricted.'),
    textColumn(
      'Enforcement',
      '.status.enforcement',
      'Enforce: other addresses are refused. Warn: they only get a warning.',
    ),
    wideColumn('Policies', '.status.ipPolicyIDs', 'Ids of its policies.'),
  ),
})

export type IPRestrictionSpec = SpecOf<typeof definition>

/** The types as the API names them. */
const SENT_TYPES: Readonly<Record<IPRestrictionSpec['type'], string>> = {
  Agent: 'agent',
  API: 'api',
  Dashboard: 'dashboard',
  Endpoints: 'endpoints',
}

function isEnforced({ enforcement }: IPRestrictionSpec): boolean {
  return enforcement === 'Enforce'
}

/** IP restrictions (`management-api.md § IP policies, rules, restrictions`). The policies are a set. */
export const ipRestriction: ManagedDescriptor<IPRestrictionSpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition,
  identity: inCollection(collections.ipRestrictions),
  references: {
    kinds: [{ kind: 'IPPolicy', outlives: true, idsIn: ({ ip_policies }) => refIds(ip_policies) }],
    of: ({ ipPolicyRefs }) =>
      ipPolicyRefs.map((ref, index) => ({ path: `spec.ipPolicyRefs[${index}]`, kind: 'IPPolicy', ref })),
  },
  fields: {
    ...plainFields,
    createOnly: ['type'],
    setBy: ({ enforcement }) => namesOf({ type: true, enforced: enforcement, ip_policy_ids: true }),
    desire: (desired, remote) => {
      const { type, ipPolicyRefs } = desired.spec
      return {
        type: SENT_TYPES[type],
        enforced: isEnforced(desired.spec),
        ip_policy_ids: sentPolicies(desired, ipPolicyRefs, refIds(remote?.ip_policies)),
      }
    },
    observe: ({ type, enforced, ip_policies }) => ({
      type: textOf(type),
      enforced: enforced === true,
      ip_policy_ids: sorted(refIds(ip_policies)),
    }),
    comparable: (fields: Fields) => ({ ...fields, ip_policy_ids: sorted(textsOf(fields.ip_policy_ids)) }),
    risks: ({ before, after }) => {
      if (before?.enforced !== true) return []
      if (after?.enforced !== true) return [{ type: 'opened', text: 'the restriction is no longer enforced' }]
      const known = new Set(refIds(before.ip_policies))
      const more = refIds(after.ip_policies).filter((id) => !known.has(id))
      return more.length === 0 ? [] : [{ type: 'opened', text: `the restriction lets in more: ${more.join(', ')}` }]
    },
  },
  status: {
    shown: ({ enforced, ip_policies }) => ({
      enforcement: enforced === true ? 'Enforce' : 'Warn',
      ipPolicyIDs: shownIds(sorted(refIds(ip_policies)), SHOWN),
    }),
    readiness: ({ remote: { enforced } }) =>
      available(enforced === true ? 'the restriction is enforced' : 'the restriction is in place and only warns'),
  },
  manifest: {
    namedAfter: ({ description, type }) => [textOf(description), textOf(type)],
    specOf: ({ type, enforced, ip_policies }, { ref }) => {
      const [written = 'Agent'] = Object.entries(SENT_TYPES).flatMap(([name, sent]) => (sent === type ? [name] : []))
      const isLocking = written === 'API' && enforced === true
      return given({
        type: written,
        ipPolicyRefs: refIds(ip_policies).map((id) => ref('IPPolicy', id)),
        enforcement: enforced === true ? 'Enforce' : undefined,
        acknowledgeAPIRestriction: isLocking ? true : undefined,
      })
    },
  },
  apiAccess: {
    type: 'restricts',
    field: 'enforcement',
    spec: (spec) => spec.type === 'API' && isEnforced(spec),
    object: ({ type, enforced }) => type === SENT_TYPES.API && enforced === true,
  },
}
