import { type CustomResource, isDeleting } from '../cr.ts'
import { accountDefaults } from '../descriptor/account.ts'
import { secretType } from '../inputs/inputs.ts'
import { heldToken } from '../outputs/held-token.ts'
import { ownershipOf } from '../outputs/ownership.ts'
import type { DataObject } from '../outputs/place.ts'
import type { AccountContext } from './account-context.ts'
import type { AccountKey, AccountResource } from './account-resource.ts'

/** The Secret with an account's key, and the key in it. */
export function secretOf({ operatorNamespace }: AccountContext, key: AccountKey, { spec }: AccountResource) {
  const { name, key: dataKey = accountDefaults.apiKeySecretKey } = spec.apiKeySecretRef
  return { namespace: key.namespace ?? operatorNamespace, name, dataKey }
}

/**
 * The key to work with: the Secret's, or the last one that worked. That one stands in while the account is being
 * deleted, since deleting a namespace takes its Secrets first; and while an APIKey of ours finds its Secret deleted or
 * altered, since nobody else could issue another.
 */
export async function accountApiKey(
  context: AccountContext,
  key: AccountKey,
  resource: AccountResource,
): Promise<string | undefined> {
  const { namespace, name, dataKey } = secretOf(context, key, resource)
  const { kube, keptKeys, resources } = context
  const { uid } = resource.metadata
  const secret = await kube.get<DataObject>(secretType, { namespace, name })
  const { token, intact } = heldToken(secret, dataKey)
  const isReplaceable = isDeleting(resource)
    ? token === undefined
    : !intact && resources.keyIssuersOf({ namespace, name }).some((cr) => isIssuers(secret, cr))
  return isReplaceable ? ((await keptKeys.read(uid)) ?? token) : token
}

/** A Secret that somebody else has put in the place of the issuer's holds the key that they mean. */
function isIssuers(secret: DataObject | undefined, cr: CustomResource): boolean {
  const { type } = ownershipOf(secret, cr)
  return type === 'own' || type === 'absent'
}
