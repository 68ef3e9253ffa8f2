import type { JsonObject } from '../json.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/stored-object.ts'
import { newToken, storeToken } from '../tokens.ts'

/**
 * Gives a new object its token, for the answer to the create; only a hash is stored, so that no later answer can hold
 * it (`management-api.md § Endpoints`, special rule 5).
 */
export function issueToken(object: StoredObject, context: WriteContext): JsonObject {
  const token = newToken(context.services.random)
  storeToken(context.store, context.account, object.id, token)
  return { token }
}
