import { RequestError } from '../errors.ts'
import { fixed, missingField, optional } from '../fields/field.ts'
import { id } from '../fields/references.ts'
import { textOf } from '../json.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { Link, StoredObject } from '../store/stored-object.ts'
import type { Draft } from './resource.ts'

/** Collections whose objects may own credentials. */
const OWNERS = ['users', 'bot_users']

/** The body field of everything owned by a user or bot (`management-api.md § Conventions`). */
export const OWNED = { owner_id: fixed(optional(id, null)) }

/**
 * Sets the owner of a new object: the caller by default, and another only when an admin names it (`management-api.md
 * § Authentication`, rule 5). Callers who may not name another do not learn whether it exists.
 */
export function chooseOwner({ before, next }: Draft, context: WriteContext): void {
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
export function ownerLink(object: StoredObject): readonly Link[] {
  return [{ target: textOf(object, 'owner_id'), onDelete: 'restrict' }]
}
