import { aclRules } from '../fields/acl.ts'
import { DESCRIBED } from '../fields/common.ts'
import { fixed, mandatory, optional } from '../fields/field.ts'
import { textOf, textsOf } from '../json.ts'
import { publicKeyLine } from '../ssh/public-key.ts'
import { chooseOwner, OWNED, ownerLink } from './owner.ts'
import type { Resource } from './resource.ts'

/** SSH credentials: public keys that start tunnels through the SSH gateway (`management-api.md § Access credentials`). */
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
  prepare: chooseOwner,
  links: ownerLink,
  render: (credential) => ({
    description: textOf(credential, 'description'),
    metadata: textOf(credential, 'metadata'),
    public_key: textOf(credential, 'public_key'),
    acl: textsOf(credential.acl),
    owner_id: textOf(credential, 'owner_id'),
  }),
}
