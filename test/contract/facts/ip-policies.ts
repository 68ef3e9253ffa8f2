import type { CollectionFact } from './facts.ts'
import { boolean, collection, id, identity, list, oneOf, ref, sentAs, shown, texts, value } from './rows.ts'

const source = 'management-api.md § IP policies, rules, restrictions'

/** IP policies, their rules, and the restrictions that apply them to traffic. */
export const ipPolicyCollections: readonly CollectionFact[] = [
  collection({
    path: 'ip_policies',
    source,
    listKey: 'ip_policies',
    idPrefix: 'ipp_',
    eventName: 'ip_policy',
    fields: [...identity(), ...texts()],
  }),
  collection({
    path: 'ip_policy_rules',
    source,
    listKey: 'ip_policy_rules',
    idPrefix: 'ipr_',
    eventName: 'ip_policy_rule',
    fields: [
      ...identity(),
      ...texts(),
      value('cidr', { kind: 'string', form: 'cidr' }, { create: 'mandatory' }),
      sentAs('ip_policy_id', id('ip_policies'), 'ip_policy', { create: 'mandatory', update: 'fixed' }),
      shown('ip_policy', ref('ip_policies')),
      value('action', oneOf('allow', 'deny'), { create: 'mandatory', update: 'fixed' }),
    ],
  }),
  collection({
    path: 'ip_restrictions',
    source,
    listKey: 'ip_restrictions',
    idPrefix: 'ipx_',
    eventName: 'ip_restriction',
    fields: [
      ...identity(),
      ...texts(),
      value('enforced', boolean, { absent: false }),
      value('type', oneOf('dashboard', 'api', 'agent', 'endpoints'), { create: 'mandatory', update: 'fixed' }),
      sentAs('ip_policy_ids', list(id('ip_policies')), 'ip_policies'),
      shown('ip_policies', list(ref('ip_policies')), []),
    ],
  }),
]
