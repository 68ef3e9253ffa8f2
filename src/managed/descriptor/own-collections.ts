import type { Collection } from '../../api/types.ts'
import type { ManagedDescriptor } from './descriptor.ts'

/** The collections that hold the object of a CR with this spec, and its inline children. */
export function ownCollections(
  { children, identity }: ManagedDescriptor,
  spec: Parameters<ManagedDescriptor['identity']['collectionOf']>[0],
): readonly Collection[] {
  const own = identity.collectionOf(spec)
  return children === undefined ? [own] : [own, children.collection]
}
