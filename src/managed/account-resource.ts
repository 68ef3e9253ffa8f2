import type { KubeObject } from '../kube/types.ts'
import type { AccountName } from './attempt.ts'
import type { AccountSpec, AccountStatus } from './descriptor/account.ts'

/** An Account or ClusterAccount as the watches have reported it. */
export interface AccountResource extends KubeObject {
  readonly spec: AccountSpec
  readonly status?: AccountStatus
}

/** Identifies one account across both kinds; no namespace for a ClusterAccount. */
export interface AccountKey extends AccountName {
  readonly namespace?: string | undefined
}

/** The account that a CR of `namespace` means by `account`. */
export function accountKey(account: AccountName, namespace: string): AccountKey {
  return account.kind === 'Account' ? { ...account, namespace } : account
}

/** `Kind/namespace/name`. */
export function accountText({ kind, namespace, name }: AccountKey): string {
  return `${kind}/${namespace ?? ''}/${name}`
}

/** An account as resources name it. */
export function nameOfAccount({ kind, metadata: { name } }: KubeObject): AccountName {
  return { kind: kind === 'Account' ? 'Account' : 'ClusterAccount', name }
}

export function keyOfAccount(object: KubeObject): AccountKey {
  const { name, namespace } = object.metadata
  return object.kind === 'Account' ? { kind: 'Account', namespace, name } : { kind: 'ClusterAccount', name }
}
