import type { CollectionFact, Shape } from './facts.ts'
import { boolean, collection, id, identity, list, secretAtCreate, shown, string, texts, value } from './rows.ts'

const source = 'management-api.md § Access credentials'

/** Immutable; only an admin may name an owner other than itself; default: the authenticated user or bot. */
const owner = value('owner_id', id('users', 'bot_users'), { update: 'fixed' })

const aclRules: Shape = list({ kind: 'string', form: 'acl-rule' })

/** API keys, tunnel and SSH credentials, and the bots that may own them. */
export const credentialCollections: readonly CollectionFact[] = [
  collection({
    path: 'api_keys',
    source,
    listKey: 'keys',
    idPrefix: 'ak_',
    eventName: 'api_key',
    fields: [...identity(), ...texts(), secretAtCreate('token'), owner],
  }),
  collection({
    path: 'credentials',
    source,
    listKey: 'credentials',
    idPrefix: 'cr_',
    eventName: 'credential',
    fields: [...identity(), ...texts(), secretAtCreate('token'), value('acl', aclRules, { absent: [] }), owner],
  }),
  collection({
    path: 'ssh_credentials',
    source,
    listKey: 'ssh_credentials',
    idPrefix: 'sshcr_',
    eventName: 'ssh_credential',
    fields: [
      ...identity(),
      ...texts(),
      value('public_key', { kind: 'string', form: 'public-key' }, { create: 'mandatory', update: 'fixed' }),
      value('acl', aclRules, { absent: [] }),
      owner,
    ],
  }),
  collection({
    path: 'bot_users',
    source,
    listKey: 'bot_users',
    idPrefix: 'bot_',
    eventName: 'bot_user',
    fields: [
      shown('id', string),
      shown('uri', string),
      value('name', string, { create: 'mandatory' }),
      value('active', boolean, { absent: true }),
      shown('created_at', { kind: 'string', form: 'timestamp' }),
    ],
  }),
]
