import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { fixed, mandatory, optional } from '../fields/field.ts'
import { FLAG, REFS } from '../fields/json-schema.ts'
import { boolean, oneOf } from '../fields/readers.ts'
import { ids, keptPolicies, refuseEmpty } from '../fields/references.ts'
import { textOf, textsOf } from '../json.ts'
import type { Resource } from './resource.ts'

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
