import type { Collection } from '../../../src/api/types.ts'
import type { KindsRegistry } from '../../../src/managed/kinds-registry.ts'

/** The collections in which these kinds create objects, including their children's. */
export function collectionsOf({ managed }: KindsRegistry): readonly Collection[] {
  return managed.flatMap(({ identity: { collections: own }, children }) => {
    return children === undefined ? own : [...own, children.collection]
  })
}

/** Whether objects of the collection may refer to policies. */
export function refersToPolicies(path: string): boolean {
  return path.startsWith('edges/') || path === 'ip_restrictions'
}
