import type { ObjectSource } from '../../runtime/object-source.ts'
import { type AccountResource, keyOfAccount } from '../account-resource.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { type MirrorKey, mirrorKeys } from './mirror-reconciler.ts'

/**
 * Wakes the mirrors of an account when anything about it changes. That is cheap, since a list is only made when due.
 * Edits of the mirrors wake nothing; the next list corrects them.
 */
export function subscribeMirrors(
  kinds: KindsRegistry,
  accounts: ReadonlyMap<string, ObjectSource<AccountResource>>,
  wake: (key: MirrorKey) => void,
): void {
  for (const reflector of accounts.values()) {
    reflector.subscribe(({ object }) => {
      for (const key of mirrorKeys(kinds, keyOfAccount(object))) wake(key)
    })
  }
}
