import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import type { Resource } from './resource.ts'

/**
 * IP policies. Deleting one that is in use is allowed: whoever refers to it then sees a policy with zero rules
 * (`management-api.md § States and transitions`), so nothing holds on to a policy and its rules go with it.
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
