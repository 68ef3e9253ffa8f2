import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import type { Resource } from './resource.ts'

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
