import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import {
  accountRefTo,
  commonSpec,
  commonSpecRules,
  commonStatus,
  type Fields,
  reference,
} from '../managed/descriptor/common.ts'
import type { ManagedDescriptor, PlaceholderView } from '../managed/descriptor/descriptor.ts'
import type { FoundReference } from '../managed/descriptor/references.ts'
import { object } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { fixedField } from '../schema/rules.ts'
import { managedColumns, textColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, noReferences, plain, plainFields } from './building-blocks/plain-kind.ts'
import { textOf } from './building-blocks/remote.ts'
import {
  ACKNOWLEDGED,
  acknowledged,
  acknowledgement,
  isSameRule,
  letsFewerIn,
  specRule,
} from './ip-policy/api-restriction.ts'
import { cidr, normaliseCIDR } from './ip-policy/cidr.ts'
import { mayDeleteRule, mayReplaceRule } from './ip-policy/last-rule.ts'
import {
  heldRule,
  isMadeOfParts,
  placeholderDeny,
  policyOf,
  ruleAction,
  ruleRisks,
  sentAction,
  writtenRange,
} from './ip-policy/rules.ts'
import { refusesRules } from './ip-policy/usable-policy.ts'

const accountRef = accountRefTo(
  'The account that the rule belongs to. Only with `ipPolicyRef.id`: a rule that refers to its policy by name belongs to the account of that policy. Default: the Account named `default` in the namespace, otherwise the ClusterAccount named `default`. Immutable once set; an existing object cannot move to another account.',
)

const definition = defineKind({
  ...managedKind,
  kind: 'IPPolicyRule',
  plural: 'ippolicyrules',
  singular: 'ippolicyrule',
  shortNames: ['iprule'],
  scope: 'Namespaced',
  description:
    'One rule of an IPPolicy with `rulesSource: IPPolicyRules`: an address range, and whether it is allowed or denied. Use it where other people or tools maintain the rules; otherwise declare them in the policy itself. A rule lives in the account of the policy that it names. If it names the policy by id, it lives in the account of its own `accountRef`, or the default one.',
  spec: object(
    {
      ...commonSpec('bytes'),
      accountRef: Type.Optional(accountRef),
      ipPolicyRef: reference(
        'IPPolicy',
        'The IPPolicy that the rule belongs to, which must have `rulesSource: IPPolicyRules`. Immutable.',
      ),
      cidr,
      action: ruleAction(
        ' A change deletes the rule and creates a new one. The last Allow of a policy in use becomes a Deny only after another rule that declares Allow is in place, if there is one.',
      ),
      ...acknowledgement,
    },
    {
      description: 'Desired state of the rule.',
      rules: [
        ...commonSpecRules,
        fixedField('ipPolicyRef'),
        {
          rule: '!has(self.accountRef) || has(self.ipPolicyRef.id)',
          message:
            'accountRef goes with ipPolicyRef.id only, since a rule lives in the account of the policy that ipPolicyRef.name names: remove accountRef',
          fieldPath: '.accountRef',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: object({ ...commonStatus }, { description: 'Observed state of the rule.' }),
  printerColumns: managedColumns(
    textColumn('Policy', ".spec.ipPolicyRef['name','id']", 'Name or id of the policy that the rule belongs to.'),
    textColumn('CIDR', '.spec.cidr', 'Range of addresses.'),
    textColumn('Action', '.spec.action', 'Whether the range is allowed or denied.'),
  ),
  replacing: ['action'],
})

export type IPPolicyRuleSpec = SpecOf<typeof definition>

function policyReference({ ipPolicyRef }: IPPolicyRuleSpec): FoundReference {
  return { path: 'spec.ipPolicyRef', kind: 'IPPolicy', ref: ipPolicyRef, partOf: refusesRules }
}

/**
 * Rules of IP policies, one by one (`management-api.md § IP policies, rules, restrictions`). At the API they do not
 * keep their policy in use, since they are deleted with it.
 */
export const ipPolicyRule: ManagedDescriptor<IPPolicyRuleSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition,
  identity: {
    ...inCollection(collections.ipPolicyRules),
    uniqueNames: ({ ip_policy_id, cidr: range }) => [`${range} in ${ip_policy_id}`],
  },
  references: { ...noReferences, of: (spec) => [policyReference(spec)] },
  fields: {
    ...plainFields,
    createOnly: ['ip_policy_id', 'action'],
    setBy: () => ['ip_policy_id', 'cidr', 'action'],
    desire: (desired) => {
      const { ipPolicyRef, cidr: range, action } = desired.spec
      const ipPolicyId = desired.id('IPPolicy', ipPolicyRef)
      return { ip_policy_id: ipPolicyId, cidr: normaliseCIDR(range), action: sentAction(action) }
    },
    observe: (remote) => {
      const { cidr: range, action } = heldRule(remote)
      return { ip_policy_id: policyOf(remote), cidr: range, action }
    },
    comparable: (fields) => ({ ...fields, cidr: normaliseCIDR(textOf(fields.cidr) ?? '') }),
    risks: ruleRisks,
  },
  status: {
    shown: () => ({}),
    readiness: () => available('the rule is in place'),
  },
  replacement: { fields: ['ip_policy_id', 'action'], first: 'delete', placeholder },
  apiAccess: {
    type: 'admits',
    kind: 'IPPolicy',
    field: ACKNOWLEDGED,
    acknowledged,
    narrows: ({ desired, remote, siblings }) => {
      const own = remote === undefined ? [] : [heldRule(remote)]
      const wanted = desired === undefined ? [] : [specRule(desired.spec)]
      // Every reconcile asks, and a policy may have a thousand rules.
      if (isSameRule(own[0], wanted[0])) return undefined
      const policyId = remote === undefined ? desired?.id('IPPolicy', desired.spec.ipPolicyRef) : policyOf(remote)
      const rules = policyId === undefined ? [] : siblings(policyId)
      const others = rules.filter((rule) => rule.id !== remote?.id).map(heldRule)
      return letsFewerIn([...others, ...own], [...others, ...wanted]) ? policyId : undefined
    },
  },
  manifest: {
    namedAfter: (remote) => [textOf(remote.description), textOf(remote.cidr)],
    specOf: (remote, { ref }) => ({ ipPolicyRef: ref('IPPolicy', policyOf(remote) ?? ''), ...writtenRange(remote) }),
    isPartOf: (remote, { siblings, whole }) => {
      const policyId = policyOf(remote) ?? ''
      return !isMadeOfParts(whole(policyId), siblings(policyId))
    },
  },
  part: { mayDelete: mayDeleteRule, mayReplace: mayReplaceRule },
}

/**
 * An action cannot be changed and a range may occur only once, so the rule is deleted before its successor is created.
 * Another rule may be on its way out at the same time, so the placeholder, a deny of a documentation address, is
 * created regardless of what else the policy has.
 */
function placeholder({ remote, all, marker }: PlaceholderView<IPPolicyRuleSpec>): Fields | undefined {
  const policyId = policyOf(remote)
  if (policyId === undefined) return undefined
  const taken = all.filter((rule) => policyOf(rule) === policyId).map((rule) => heldRule(rule).cidr)
  return placeholderDeny(policyId, new Set(taken), marker, startFor(remote.id))
}

/** Rules of one policy that change at the same time should choose different addresses. */
function startFor(id: string): number {
  return createHash('sha256').update(id).digest().readUInt16BE(0)
}
