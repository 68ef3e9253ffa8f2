import { RequestError } from '../errors.ts'
import { DESCRIBED } from '../fields/common.ts'
import { fixed, optional } from '../fields/field.ts'
import { id } from '../fields/references.ts'
import { textOf } from '../json.ts'
import { newToken, storeToken } from '../tokens.ts'
import type { Resource } from './resource.ts'

/** Collections whose objects may own credentials. */
const OWNERS = ['users', 'bot_users']

/**
 * API keys. The token appears in the answer to the create and never again; only its hash is kept
 * (`management-api.md § Access credentials`).
 */
export const apiKeys: Resource = {
  path: 'api_keys',
  listKey: 'keys',
  idPrefix: 'ak',
  served: true,
  fields: { ...DESCRIBED, owner_id: fixed(optional(id, null)) },
  prepare: ({ before, next }, context) => {
    if (before !== undefined) return
    const owner = next.owner_id ?? context.caller.ownerId
    if (owner !== context.caller.ownerId && !context.caller.admin) {
      throw new RequestError('ownerForbidden', 'only an admin may name another owner than themselves', {
        field: 'owner_id',
      })
    }
    next.owner_id = context.resolve(OWNERS, String(owner), 'owner_id').id
  },
  links: (key) => [{ target: textOf(key, 'owner_id'), onDelete: 'restrict' }],
  reveal: (key, context) => {
    const token = newToken(context.services.random)
    storeToken(context.store, context.account, key.id, token)
    return { token }
  },
  render: (key) => ({
    description: textOf(key, 'description'),
    metadata: textOf(key, 'metadata'),
    token: null,
    owner_id: textOf(key, 'owner_id'),
  }),
}
