import type { AccountResource } from '../account-resource.ts'
import { isDeleting } from '../cr.ts'
import type { MirrorDescriptor, MirrorSettings } from '../descriptor/mirror.ts'

/** The mirror's settings in an account; undefined if there are none or the account is being deleted. */
export function settingsOf(descriptor: MirrorDescriptor, account: AccountResource): MirrorSettings | undefined {
  return isDeleting(account) ? undefined : descriptor.settings(account.spec)
}

export function isOn(settings: MirrorSettings | undefined): settings is MirrorSettings {
  return settings?.enabled === true
}

/** The namespace for the CRs of an account. */
export function mirrorNamespace({ namespace }: MirrorSettings, account: AccountResource): string {
  return namespace ?? account.metadata.namespace ?? ''
}

/** Number of accounts whose objects can be mirrored into one namespace. */
export const MIRRORS_PER_NAMESPACE = 4

/** Whether an account is among those that are mirrored, of all that ask for it in one namespace: the oldest are. */
export function hasPlace(account: AccountResource, asking: readonly AccountResource[]): boolean {
  const first = [...asking]
    .sort((left, right) => (rankOf(left) < rankOf(right) ? -1 : 1))
    .slice(0, MIRRORS_PER_NAMESPACE)
  return first.some(({ metadata }) => metadata.uid === account.metadata.uid)
}

/** All times have the same text form. */
function rankOf({ metadata: { creationTimestamp = '', uid } }: AccountResource): string {
  return `${creationTimestamp} ${uid}`
}
