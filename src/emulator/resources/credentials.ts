import { aclRules, refuseOtherHosts } from '../fields/acl.ts'
import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { optional } from '../fields/field.ts'
import { nullable, TEXT, TEXTS } from '../fields/json-schema.ts'
import { textOf, textsOf } from '../json.ts'
import { issueToken } from './issued-token.ts'
import { chooseOwner, OWNED, ownerLink } from './owner.ts'
import type { Resource } from './resource.ts'

/**
 * Tunnel credentials. The token starts tunnel sessions and is not an API key (`management-api.md § Authentication`,
 * rule 4); like an API key's, it appears in the answer to the create and never again.
 */
export const credentials: Resource = {
  path: 'credentials',
  listKey: 'credentials',
  idPrefix: 'cr',
  eventName: 'credential',
  served: true,
  fields: { ...DESCRIBED, acl: optional(aclRules, []), ...OWNED },
  refuse: ({ acl }, choices) => {
    if (choices['acl-targets'] === 'names') refuseOtherHosts(acl)
  },
  prepare: chooseOwner,
  links: ownerLink,
  reveal: issueToken,
  shows: { ...SHOWN_TEXTS, token: nullable(TEXT), acl: TEXTS, owner_id: TEXT },
  render: (credential) => ({
    description: textOf(credential, 'description'),
    metadata: textOf(credential, 'metadata'),
    token: null,
    acl: textsOf(credential.acl),
    owner_id: textOf(credential, 'owner_id'),
  }),
}
