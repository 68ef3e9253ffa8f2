import { cidr } from '../fields/cidr.ts'
import { DESCRIBED, id, ids, keptPolicies, refuseEmpty, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory, optional } from '../fields/field.ts'
import { FLAG, REF, REFS, TEXT } from '../fields/json-schema.ts'
import { boolean, oneOf } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import { textOf, textsOf } from '../values/json.ts'

/**
 * IP policies. One that is in use may be deleted: objects that refer to it then see a policy with zero rules
 * (`management-api.md § States and transitions`). So no link restricts a policy, and its rules are deleted with it.
 */
export const ipPolicies: Resource = {
  path: 'ip_policies',
  listKey: 'ip_policies',
  idPrefix: 'ipp',
  eventName: 'ip_policy',
  served: true,
  fields: DESCRIBED,
  shows: { ...SHOWN_TEXTS },
  render: ({ description = '', metadata = '' }) => ({ description, metadata }),
}

/** Rules of IP policies; a policy may contain a cidr only once (`api-decisions.md § Values`). */
export const ipPolicyRules: Resource = {
  path: 'ip_policy_rules',
  listKey: 'ip_policy_rules',
  idPrefix: 'ipr',
  eventName: 'ip_policy_rule',
  served: true,
  fields: {
    ...DESCRIBED,
    cidr: mandatory(cidr),
    ip_policy_id: fixed(mandatory(id)),
    action: fixed(mandatory(oneOf('allow', 'deny'))),
  },
  prepare: ({ before, next }, context) => {
    if (before === undefined) context.resolve(['ip_policies'], textOf(next, 'ip_policy_id'), 'ip_policy_id')
  },
  claims: (rule) => [{ scope: `cidr in ${textOf(rule, 'ip_policy_id')}`, value: textOf(rule, 'cidr'), field: 'cidr' }],
  links: (rule) => [{ target: textOf(rule, 'ip_policy_id'), onDelete: 'cascade' }],
  shows: { ...SHOWN_TEXTS, cidr: TEXT, ip_policy: REF, action: oneOf('allow', 'deny').schema },
  render: (rule, view) => ({
    description: textOf(rule, 'description'),
    metadata: textOf(rule, 'metadata'),
    cidr: textOf(rule, 'cidr'),
    ip_policy: view.ref(rule.ip_policy_id),
    action: textOf(rule, 'action'),
  }),
}

/**
 * IP restrictions attach IP policies to a kind of traffic (`management-api.md § IP policies, rules, restrictions`).
 * They do not keep their policies from being deleted: a deleted one counts as a policy with zero rules.
 * `../restrictions/` enforces those of type `api`.
 */
export const ipRestrictions: Resource = {
  path: 'ip_restrictions',
  listKey: 'ip_restrictions',
  idPrefix: 'ipx',
  eventName: 'ip_restriction',
  served: true,
  fields: {
    ...DESCRIBED,
    enforced: optional(boolean, false),
    type: fixed(mandatory(oneOf('dashboard', 'api', 'agent', 'endpoints'))),
    ip_policy_ids: optional(ids, []),
  },
  defaults: (choices) => ({ enforced: choices['enforced-default'] === 'on' }),
  refuse: (body, choices) => {
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['ip_policy_ids'])
  },
  prepare: ({ before, given }, context) => {
    const held = keptPolicies(textsOf(before?.ip_policy_ids), context.services.choices)
    textsOf(given.ip_policy_ids).forEach((policy, index) => {
      if (!held.includes(policy)) context.resolve(['ip_policies'], policy, `ip_policy_ids[${index}]`)
    })
  },
  shows: {
    ...SHOWN_TEXTS,
    enforced: FLAG,
    type: oneOf('dashboard', 'api', 'agent', 'endpoints').schema,
    ip_policies: REFS,
  },
  render: (restriction, view) => ({
    description: textOf(restriction, 'description'),
    metadata: textOf(restriction, 'metadata'),
    enforced: restriction.enforced ?? false,
    type: textOf(restriction, 'type'),
    ip_policies: view.refs(restriction.ip_policy_ids),
  }),
}
