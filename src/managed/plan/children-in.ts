import type { RemoteObject } from '../../api/types.ts'
import type { Children } from '../descriptor/children.ts'
import { markerOf, PLACEHOLDER_NONCE } from '../identity/marker.ts'
import type { SessionCache } from '../reconcile/context.ts'
import { childKey } from '../store/object-keys.ts'

/**
 * The children of an object in the account cache, without placeholders: those belong to the part being replaced and
 * exist only briefly.
 */
export function childrenIn(
  cache: Pick<SessionCache, 'find'>,
  children: Pick<Children<never>, 'collection' | 'parentId'>,
  parentId: string,
): readonly RemoteObject[] {
  return cache.find(children.collection, childKey(parentId)).filter((child) => {
    return children.parentId(child) === parentId && markerOf(child)?.nonce !== PLACEHOLDER_NONCE
  })
}
