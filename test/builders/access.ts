import { kinds } from '../../src/kinds/index.ts'
import type { AccessEntry, UnmanagedObjects } from '../../src/managed/descriptor/access.ts'

/** Kinds whose resources belong to an account, by scope. */
export const memberKinds = kinds.filter((kind) => kind.role === 'managed' || kind.role === 'command')

/** Every namespace and every kind: for tests of something else. */
export function openAccess(unmanagedObjects: UnmanagedObjects = 'Deny'): readonly AccessEntry[] {
  return [{ namespaceSelector: {}, kinds: memberKinds.map(({ definition }) => definition.kind), unmanagedObjects }]
}
