import type { RemoteObject } from '../../api/types.ts'
import type { Children } from '../descriptor/desired.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { SessionCache } from '../run/session.ts'
import { markerOf, PLACEHOLDER_NONCE } from './marker.ts'
import { childKey } from './object-keys.ts'

/** The other parts of the whole that an object is a part of; undefined for a kind that is no part. */
export function otherParts(
  { context, descriptor, session }: Pick<Reconciliation, 'context' | 'descriptor' | 'session'>,
  object: RemoteObject,
): readonly RemoteObject[] | undefined {
  const { kind } = descriptor.definition
  const children = context.kinds.managed.find(({ whole }) => whole?.parts.includes(kind))?.children
  const parentId = children?.parentId(object)
  if (children === undefined || parentId === undefined) return undefined
  return childrenIn(session.cache, children, parentId).filter(({ id }) => id !== object.id)
}

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
