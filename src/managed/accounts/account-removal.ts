import type { AccountKey, AccountResource } from '../account-resource.ts'
import { type CustomResource, hasFinalizer, withFinalizer, withoutFinalizer } from '../cr.ts'
import type { AccountContext } from './account-context.ts'
import { patchAccountMetadata } from './account-status.ts'

/** CRs whose deletion needs the account: the account stays until the last of them is gone. */
export function dependentsOfAccount(context: AccountContext, key: AccountKey): readonly CustomResource[] {
  return context.resources.membersOf(key).filter(hasFinalizer)
}

/**
 * Keeps an account from being deleted before its dependents, and the operator's rights in its namespace for as long.
 */
export async function addAccountFinalizer(context: AccountContext, resource: AccountResource): Promise<void> {
  const { namespace } = resource.metadata
  if (namespace !== undefined) await context.holds?.hold(namespace)
  await patchAccountMetadata(context, resource, { finalizers: withFinalizer(resource) })
}

/** Releases an account that has no dependents left, and deletes the key kept for it. */
export async function releaseAccount(context: AccountContext, resource: AccountResource): Promise<void> {
  await context.keptKeys.forget(resource.metadata.uid)
  await patchAccountMetadata(context, resource, { finalizers: withoutFinalizer(resource) })
}
