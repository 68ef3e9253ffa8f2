import { aclRules, refuseOtherHosts } from '../fields/acl.ts'
import { DESCRIBED, id, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory, missingField, optional } from '../fields/field.ts'
import { FLAG, nullable, TEXT, TEXTS } from '../fields/json-schema.ts'
import { boolean, nonEmptyString } from '../fields/readers.ts'
import type { Draft, Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import { publicKeyLine } from '../ssh/public-key.ts'
import type { Link, StoredObject } from '../store/database.ts'
import { newToken, storeToken } from '../store/tokens.ts'
import { type JsonObject, textOf, textsOf } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'

/** Collections whose objects may own credentials. */
const OWNERS = ['users', 'bot_users']

/** The body field of everything owned by a user or bot (`management-api.md § Conventions`). */
const OWNED = { owner_id: fixed(optional(id, null)) }

/**
 * Sets the owner of a new object: the caller by default, and another only when an admin names it (`management-api.md
 * § Authentication`, rule 5). Callers who may not name another do not learn whether it exists.
 */
function chooseOwner({ before, next }: Draft, context: WriteContext): void {
  if (before !== undefined) return
  const { ownerId, admin } = context.caller
  const owner = String(next.owner_id ?? ownerId)
  // Only seeds have no caller to own their objects.
  if (owner === '') throw missingField('owner_id')
  if (owner !== ownerId && !admin) {
    throw new RequestError('ownerForbidden', 'only an admin may name another owner than themselves', {
      field: 'owner_id',
    })
  }
  next.owner_id = context.resolve(OWNERS, owner, 'owner_id').id
}

/** An owner cannot be deleted while it owns something. */
function ownerLink(object: StoredObject): readonly Link[] {
  return [{ target: textOf(object, 'owner_id'), onDelete: 'restrict' }]
}

/**
 * Gives a new object its token, for the answer to the create; only a hash is stored, so that no later answer can hold
 * it (`management-api.md § Endpoints`, special rule 5).
 */
function issueToken(object: StoredObject, context: WriteContext): JsonObject {
  const token = newToken(context.services.random)
  storeToken(context.store, context.account, object.id, token)
  return { token }
}

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

/**
 * API keys. The token appears in the answer to the create and never again (`management-api.md § Access credentials`).
 */
export const apiKeys: Resource = {
  path: 'api_keys',
  listKey: 'keys',
  idPrefix: 'ak',
  eventName: 'api_key',
  served: true,
  fields: { ...DESCRIBED, ...OWNED },
  prepare: chooseOwner,
  links: ownerLink,
  reveal: issueToken,
  shows: { ...SHOWN_TEXTS, token: nullable(TEXT), owner_id: TEXT },
  render: (key) => ({
    description: textOf(key, 'description'),
    metadata: textOf(key, 'metadata'),
    token: null,
    owner_id: textOf(key, 'owner_id'),
  }),
}

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

/** Bot users own credentials; the API keys of an inactive one are refused. They have no description or metadata. */
export const botUsers: Resource = {
  path: 'bot_users',
  listKey: 'bot_users',
  idPrefix: 'bot',
  eventName: 'bot_user',
  served: true,
  fields: { name: mandatory(nonEmptyString), active: optional(boolean, true) },
  defaults: (choices) => ({ active: choices['bot-active-default'] === 'on' }),
  claims: (bot, choices) =>
    choices['unique-names'] === 'bots' ? [{ scope: 'bot', value: textOf(bot, 'name'), field: 'name' }] : [],
  shows: { name: TEXT, active: FLAG },
  render: (bot) => ({ name: textOf(bot, 'name'), active: bot.active ?? true }),
}
