import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Children } from '../managed/descriptor/desired.ts'
import { sharing } from '../managed/descriptor/grant.ts'
import { metadataProblems, type OwnMetadata, ownMetadata } from '../managed/descriptor/metadata.ts'
import { bool, bytesText, choice, integer, list, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { cut } from '../util/printable.ts'
import { managedColumns } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { compareTexts, ID_LENGTH, listOf, namesOf, objectOf, textOf } from './building-blocks/remote.ts'
import { ACKNOWLEDGED, acknowledged, acknowledgement, letsFewerIn, specRule } from './ip-policy/api-restriction.ts'
import { cidr, normaliseCIDR } from './ip-policy/cidr.ts'
import {
  heldRule,
  isMadeOfParts,
  planRules,
  policyOf,
  ruleAction,
  ruleNonce,
  ruleRisks,
  type SentAction,
  sentAction,
  type WantedRule,
  writtenRule,
} from './ip-policy/rules.ts'
import { RULE_KIND, takesRules, unusablePolicy, unusablePolicyObject } from './ip-policy/usable-policy.ts'

const RULES = 1000
/** Maximum length of a rule's range and action in a status, in characters. */
const RANGE = 64
const ACTION = 32
/** For each rule, so that a policy with the maximum number of rules fits into the cluster's store. */
const RULE_METADATA_BYTES = 160

const rule = object(
  {
    cidr,
    action: ruleAction(),
    description: Type.Optional(
      bytesText('description', 255, { description: 'What these addresses are. At most 255 bytes. Default: empty.' }),
    ),
    metadata: ownMetadata({
      bytes: RULE_METADATA_BYTES,
      keys: 8,
      description:
        'Your own key-value pairs for this rule. They are stored in its metadata at the API, as one JSON object together with the key `culvert`. Default: none.',
    }),
  },
  { description: 'An address range, and whether it is allowed or denied.' },
)

const definition = defineKind({
  ...managedKind,
  kind: 'IPPolicy',
  plural: 'ippolicies',
  singular: 'ippolicy',
  shortNames: ['ippol'],
  scope: 'Namespaced',
  description:
    'A list of address ranges that are allowed or denied. It affects no traffic until an Edge or an IPRestriction refers to it. Its rules are declared here in `rules`, or each as an IPPolicyRule (see `rulesSource`).',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      rules: Type.Optional(
        list(rule, {
          description: `The rules, each range once, at most ${RULES}; order does not matter. Only with \`rulesSource: Inline\`.`,
          maxItems: RULES,
          listType: 'map',
          mapKeys: ['cidr'],
        }),
      ),
      rulesSource: Type.Optional(
        choice(['Inline', 'IPPolicyRules'], {
          description:
            'Inline: the policy has the rules in `rules`, and any others at the API are removed. IPPolicyRules: the policy has the IPPolicyRules that refer to it, and any other rules at the API stay. Default: Inline.',
        }),
      ),
      allowEmpty: Type.Optional(
        bool({
          description:
            'Whether the policy may have no rules. If false, an Inline policy needs at least one, an Edge or IPRestriction waits until the policy has one, and a policy in use keeps its last IPPolicyRule, and the last one with action Allow. Default: false.',
        }),
      ),
      ...acknowledgement,
    },
    {
      description: 'Desired state of the policy.',
      rules: [
        ...commonSpecRules,
        {
          rule: "!has(self.rules) || !has(self.rulesSource) || self.rulesSource == 'Inline'",
          message: 'rules goes with rulesSource: Inline only: remove rules, or set rulesSource: Inline',
          fieldPath: '.rules',
          reason: 'FieldValueForbidden',
        },
        {
          rule: "(has(self.rules) && size(self.rules) > 0) || (has(self.rulesSource) && self.rulesSource != 'Inline') || (has(self.allowEmpty) && self.allowEmpty)",
          message:
            'rules is empty: add a rule, set rulesSource: IPPolicyRules, or set allowEmpty: true if the policy is meant to have none',
          fieldPath: '.rules',
          reason: 'FieldValueRequired',
        },
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      // Read by `children.ts` (objects known from before), by `unusablePolicy` (rules about to be deleted), and by
      // people in search of unclaimed rules.
      rules: Type.Optional(
        list(
          object(
            {
              cidr: text({ description: 'Range of the rule.', maxLength: RANGE }),
              action: text({
                description: 'Whether the range is allowed or denied: `allow` or `deny`.',
                maxLength: ACTION,
              }),
              id: text({ description: 'Id of the rule at the API.', maxLength: ID_LENGTH }),
            },
            { description: 'A rule at the API.' },
          ),
          { description: 'The rules that the policy has at the API.', maxItems: 2 * RULES },
        ),
      ),
      ruleCount: Type.Optional(integer({ description: 'How many rules the policy has at the API.', minimum: 0 })),
    },
    { description: 'Observed state of the policy.' },
  ),
  printerColumns: managedColumns({
    name: 'Rules',
    type: 'integer',
    jsonPath: '.status.ruleCount',
    description: 'Rules that the policy has at the API.',
  }),
})

export type IPPolicySpec = SpecOf<typeof definition>

const children: Children<IPPolicySpec> = {
  field: 'rules',
  collection: collections.ipPolicyRules,
  parentId: policyOf,
  risks: ruleRisks,
  idsIn: ({ rules }) => listOf(rules).flatMap((held) => textOf(objectOf(held)?.id) ?? []),
  plan: (desired, policyId, current) => {
    if (takesRules(desired.spec) || !desired.decides('rules')) return []
    const markerFor = (range: string, action: SentAction, own?: OwnMetadata): string => {
      return desired.marker(ruleNonce(policyId, range, action), own)
    }
    const wanted = (desired.spec.rules ?? []).map(({ cidr: text, action, description, metadata: own }): WantedRule => {
      const range = normaliseCIDR(text)
      return {
        cidr: range,
        action: sentAction(action),
        description: description ?? '',
        isDescribed: description !== undefined,
        own,
        metadata: markerFor(range, sentAction(action), own),
      }
    })
    // No spec sets this field, so `decides` is false only for an adopted policy, whose rules keep what their entries
    // leave out.
    const isAdopted = !desired.decides('rules[]')
    return planRules({ policyId, wanted, held: current.map(heldRule), isAdopted, markerFor })
  },
  status: (current) => {
    const rules = current
      .map(heldRule)
      .map(({ cidr: range, action, id }) => ({ cidr: cut(range, RANGE), action: cut(action, ACTION), id }))
      .sort((a, b) => compareTexts(a.cidr, b.cidr) || compareTexts(a.action, b.action) || compareTexts(a.id, b.id))
    return { rules: rules.slice(0, 2 * RULES), ruleCount: rules.length }
  },
}

/**
 * Rules from before the policy had `rulesSource: IPPolicyRules`, and those made by hand, stay in force: access never
 * changes without notice.
 */
function withUnclaimed(rules: number): string {
  const inPlace = 'the policy is in place, and has the rules that name it'
  if (rules === 0) return inPlace
  const beside = rules === 1 ? '1 rule beside these is' : `${rules} rules beside these are`
  return (
    `${inPlace}; ${beside} at the API without an IPPolicyRule, and in force. Delete them there by their ids in status.rules, or have an ` +
    'IPPolicyRule adopt each (spec.externalID and managementPolicy: Manage)'
  )
}

/** In an account shared by several namespaces, others may have let addresses in. */
function undeclaredRules(rules: number): string {
  const what = rules === 1 ? '1 rule at the API is' : `${rules} rules at the API are`
  return (
    `${what} in force and declared by no IPPolicyRule of this namespace, nor of one that spec.allowedReferences names. Nothing is deleted for it: delete what does not belong there at the API ` +
    'by the ids in status.rules, or have an IPPolicyRule adopt each (spec.externalID and managementPolicy: Manage)'
  )
}

/** An address and the range of only that address are the same to the API. */
function namedTwice(texts: readonly string[]): readonly string[] {
  const others = new Map<string, string>()
  return texts.flatMap((text) => {
    const range = normaliseCIDR(text)
    const other = others.get(range)
    others.set(range, text)
    return other === undefined ? [] : [`spec.rules: ${other} and ${text} are the same range: remove one of them`]
  })
}

/** IP policies with all of their rules (`management-api.md § IP policies, rules, restrictions`). */
export const ipPolicy: ManagedDescriptor<IPPolicySpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition,
  identity: inCollection(collections.ipPolicies),
  problems: ({ rules = [] }) => [
    ...namedTwice(rules.map((each) => each.cidr)),
    ...rules.flatMap(({ cidr: range, metadata }) => {
      return metadataProblems(`spec.rules[${range}].metadata`, metadata, RULE_METADATA_BYTES)
    }),
  ],
  fields: {
    ...plainFields,
    setBy: ({ rules }) => namesOf({ rules }),
    desire: () => ({}),
    observe: () => ({}),
  },
  status: {
    shown: () => ({}),
    readiness: ({ spec, unclaimed = 0 }) => {
      if (takesRules(spec)) {
        const undeclared = unclaimed === 0 ? {} : { undeclared: undeclaredRules(unclaimed) }
        return { ...available(withUnclaimed(unclaimed)), ...undeclared }
      }
      return available(
        spec.rules?.[0] === undefined
          ? 'the policy is in place, and declares no rules'
          : 'every declared rule is in place',
      )
    },
  },
  manifest: {
    namedAfter: ({ description }) => [textOf(description)],
    specOf: (remote, { children: held }) => {
      const empty = held.length === 0 ? { allowEmpty: true } : {}
      return isMadeOfParts(remote, held) ? { rulesSource: 'IPPolicyRules' } : { rules: held.map(writtenRule), ...empty }
    },
  },
  apiAccess: {
    type: 'admits',
    kind: 'IPPolicy',
    field: ACKNOWLEDGED,
    acknowledged,
    narrows: ({ desired, remote, children: held }) => {
      const isOurs = desired !== undefined && !takesRules(desired.spec) && desired.decides('rules')
      return isOurs && letsFewerIn(held.map(heldRule), (desired.spec.rules ?? []).map(specRule))
        ? remote?.id
        : undefined
    },
  },
  whole: { parts: [RULE_KIND], unusable: unusablePolicy, unusableObject: unusablePolicyObject },
  children,
}
