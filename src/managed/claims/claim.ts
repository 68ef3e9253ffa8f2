import type { KubeClient } from '../../kube/types.ts'
import { type AccountResource, keyOfAccount } from '../account-resource.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { patchVersion } from '../run/merge-patch.ts'

/** Who works on an account, as its status records it. */
export interface Claim {
  /** Namespace and name of an operator, `namespace/name`: also those of its Lease. */
  readonly operator: string
  /** Random text of one term of that operator's leader. */
  readonly term: string
}

/** The claim in the status of an account; undefined if there is none. */
export function claimOf({ status }: AccountResource): Claim | undefined {
  return status?.internal?.claim
}

/** Whether two claims are of the same term, or both are absent. */
export function isSameClaim(left: Claim | undefined, right: Claim | undefined): boolean {
  return left?.operator === right?.operator && left?.term === right?.term
}

/**
 * Puts a claim into the status of an account, or removes the present one, provided that nobody changed the account
 * since it was read.
 *
 * @returns the account as stored
 * @throws KubeError `Conflict` if somebody did, `NotFound` if the account is gone
 */
export function writeClaim(
  { kube, kinds }: { readonly kube: Pick<KubeClient, 'mergePatch'>; readonly kinds: KindsRegistry },
  account: AccountResource,
  claim: Claim | undefined,
): Promise<AccountResource> {
  const patch = { status: { internal: { claim: claim === undefined ? null : { ...claim } } } }
  return patchVersion(kube, kinds.accountType(keyOfAccount(account).kind), account, patch, 'status')
}
