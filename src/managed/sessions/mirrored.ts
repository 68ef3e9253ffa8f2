import { createHash } from 'node:crypto'
import type { KubeObject, OwnerReference } from '../../kube/types.ts'
import type { AccountResource } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { shortName } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import { GROUP } from '../names.ts'

/**
 * A CR that mirrors an object, as the watches have reported it. Users may have edited any of it, as far as the schema
 * allows.
 */
export interface MirroredObject extends KubeObject {
  readonly status?: Fields & { readonly accountRef?: AccountName }
}

/** Hex digits of a digest in a name: 160 bits, so that ids do not collide. */
const DIGITS = 40

/** The name of the CR that mirrors the object with that id. */
export function mirrorName(prefix: string, id: string): string {
  return `${prefix}${createHash('sha256').update(id).digest('hex').slice(0, DIGITS)}`
}

/** `Account/name` or `ClusterAccount/name`: the account whose object the CR shows, according to its status. */
export function accountOfMirror({ status }: MirroredObject): string | undefined {
  return status?.accountRef && shortName(status.accountRef)
}

/** The account owns its mirrors, so that they are deleted with it: a ClusterAccount too, in any namespace. */
export function ownerReference({ apiVersion, kind, metadata: { name, uid } }: AccountResource): OwnerReference {
  return { apiVersion, kind, name, uid }
}

/** The accounts among the owners of an object. */
export function accountOwners({ metadata: { ownerReferences = [] } }: KubeObject): readonly OwnerReference[] {
  return ownerReferences.filter(isAccount)
}

/** The owners of an object, with this account instead of any other. */
export function ownedBy(account: AccountResource, object: KubeObject): readonly OwnerReference[] {
  const others = (object.metadata.ownerReferences ?? []).filter((owner) => !isAccount(owner))
  return [...others, ownerReference(account)]
}

function isAccount({ apiVersion, kind }: OwnerReference): boolean {
  return apiVersion.startsWith(`${GROUP}/`) && (kind === 'Account' || kind === 'ClusterAccount')
}
