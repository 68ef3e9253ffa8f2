import { cidr } from '../fields/cidr.ts'
import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { fixed, mandatory } from '../fields/field.ts'
import { REF, TEXT } from '../fields/json-schema.ts'
import { oneOf } from '../fields/readers.ts'
import { id } from '../fields/references.ts'
import { textOf } from '../json.ts'
import type { Resource } from './resource.ts'

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
