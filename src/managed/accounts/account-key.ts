import { secretType } from '../../kube/core-types.ts'
import type { AccountKey, AccountResource } from '../account-resource.ts'
import { type CustomResource, isDeleting } from '../cr.ts'
import { accountDefaults } from '../descriptor/account.ts'
import { heldToken } from '../outputs/held-token.ts'
import type { DataObject } from '../outputs/place.ts'
import { ownershipOf } from '../ownership.ts'
import type { AccountContext, AccountResources } from './account-context.ts'

/** What the key of an account is read from. */
export type KeySource = Pick<AccountContext, 'kube' | 'keptKeys' | 'operatorNamespace'> & {
  readonly resources: Pick<AccountResources, 'keyIssuersOf'>
}

/** The Secret with an account's key, and the name of the key in it. */
export function secretOf(
  { operatorNamespace }: Pick<KeySource, 'operatorNamespace'>,
  key: AccountKey,
  { spec }: AccountResource,
) {
  const { name, key: dataKey = accountDefaults.apiKeySecretKey } = spec.apiKeySecretRef
  return { namespace: key.namespace ?? operatorNamespace, name, dataKey }
}

/**
 * The API key to use: the Secret's, or the last one that worked. The latter is used while the account is being deleted,
 * since deleting a namespace deletes its Secrets first; and while the Secret of one of our own APIKeys is missing or
 * altered, since no other key could issue a new one.
 */
export async function accountApiKey(
  context: KeySource,
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

/** If someone has replaced the issuer's Secret, theirs holds the key that they mean to use. */
function isIssuers(secret: DataObject | undefined, cr: CustomResource): boolean {
  const { type } = ownershipOf(secret, cr)
  return type === 'own' || type === 'absent'
}
