import type { Reflector } from '../../runtime/reflector.ts'
import { type AccountResource, keyOfAccount } from '../accounts/account-resource.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { type MirrorKey, mirrorKeys } from './reconciler.ts'

/**
 * Has the mirrors of an account looked at whenever anything about it changes: that is cheap, since a list has its time.
 * What people do to the CRs wakes nobody; the next list puts it right.
 */
export function subscribeMirrors(
  kinds: KindsRegistry,
  accounts: ReadonlyMap<string, Reflector<AccountResource>>,
  wake: (key: MirrorKey) => void,
): void {
  for (const reflector of accounts.values()) {
    reflector.subscribe(({ object }) => {
      for (const key of mirrorKeys(kinds, keyOfAccount(object))) wake(key)
    })
  }
}
