import { aclRules, refuseOtherHosts } from '../fields/acl.ts'
import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { fixed, mandatory, optional } from '../fields/field.ts'
import { TEXT, TEXTS } from '../fields/json-schema.ts'
import { textOf, textsOf } from '../json.ts'
import { publicKeyLine } from '../ssh/public-key.ts'
import { chooseOwner, OWNED, ownerLink } from './owner.ts'
import type { Resource } from './resource.ts'

/**
 * SSH credentials: public keys that start tunnels through the SSH gateway (`management-api.md § Access credentials`).
 */
export const sshCredentials: Resource = {
  path: 'ssh_credentials',
  listKey: 'ssh_credentials',
  idPrefix: 'sshcr',
  eventName: 'ssh_credential',
  served: true,
  fields: {
    ...DESCRIBED,
    public_key: fixed(mandatory(publicKeyLine)),
    acl: optional(aclRules, []),
    ...OWNED,
  },
  refuse: ({ acl }, choices) => {
    if (choices['acl-targets'] === 'names') refuseOtherHosts(acl)
  },
  prepare: chooseOwner,
  links: ownerLink,
  shows: { ...SHOWN_TEXTS, public_key: TEXT, acl: TEXTS, owner_id: TEXT },
  render: (credential) => ({
    description: textOf(credential, 'description'),
    metadata: textOf(credential, 'metadata'),
    public_key: textOf(credential, 'public_key'),
    acl: textsOf(credential.acl),
    owner_id: textOf(credential, 'owner_id'),
  }),
}
