import type { AccountCache } from '../../api/account-cache.ts'
import type { ApiError } from '../../api/errors.ts'
import type { ApiClient, Collection, RemoteObject, RequestBody, WriteOptions } from '../../api/types.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AccountKey } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import type { ResourceName } from '../cr.ts'
import type { AccessEntry, AccessNeeds, UnmanagedObjects } from '../descriptor/access.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { Reason } from '../descriptor/reasons.ts'

/** An entry of `spec.access` that allows a resource, with its index in the list. */
export interface GrantingEntry {
  readonly index: number
  readonly entry: AccessEntry
}

/** The permissions of a resource in an account. */
export interface GrantedAccess {
  /** The entries that allow it. Undefined: the account belongs to the namespace, and everything is allowed. */
  readonly granted: readonly GrantingEntry[] | undefined
  /** The most permissive value of these entries. */
  readonly unmanagedObjects: UnmanagedObjects
}

/** Why an account cannot be used now. */
export interface Blocked {
  readonly reason: Reason
  readonly message: string
  /** Over in a moment; not worth a condition. */
  readonly silent?: boolean
  /** Lasts until a person changes something. */
  readonly lasting?: boolean
}

/** The account cache, with writes that must state for which resource and why they are made. */
export interface SessionCache extends Omit<AccountCache, 'create' | 'update' | 'delete' | 'subscribeLostKeys'> {
  create(collection: Collection, body: RequestBody, options: WriteOptions): Promise<RemoteObject>
  update(collection: Collection, id: string, body: RequestBody, options: WriteOptions): Promise<RemoteObject>
  delete(collection: Collection, id: string, options: WriteOptions): Promise<'deleted' | 'absent'>
}

/** Calls to an account that bypass the cache. */
export interface SessionCalls extends Pick<ApiClient, 'get' | 'list'> {
  /** See `CommandClient`. */
  command(collection: Collection, id: string, command: string, options: WriteOptions): Promise<void>
}

/** Access to one account at the API. */
export interface AccountSession {
  readonly account: AccountName
  /** The account's name, unique across namespaces. */
  readonly key: AccountKey
  /** Base URL of the API. */
  readonly address: string
  readonly cache: SessionCache
  /** Commands, and lists of objects too numerous and short-lived to cache. */
  readonly calls: SessionCalls
  /** Why no call may be made now; undefined while calls are allowed. */
  blocked(): Blocked | undefined
  /** How long ago the API first refused the key, in milliseconds; undefined while the API accepts it. */
  refusedForMs(): number | undefined
  /** Keyed digest of `text` that only the holder of the account's key can compute. */
  seal(text: string): string
  /** Asks for a check of the account soon. */
  recheck(): void
  /** Whether the last check of the account found that the collection with that path cannot be listed. */
  isClosed(path: string): boolean
  /**
   * Notes that a resource waits until the collection with that path can be listed, which wakes it.
   * @returns `isClosed`: until the account has been checked, all its collections may be closed
   */
  awaitList(path: string, waiting: ResourceName): boolean
  /** Reports a failed call that may affect the whole account, so that the account is checked. */
  reportFailure(error: ApiError): void
}

/** A wait for a share of an account's requests. */
export interface ShareWait {
  readonly message: string
  readonly ms: number
}

/** A resource or command that lives in an account. */
export type AccountMember = KubeObject & { readonly spec: Pick<CommonSpec, 'accountRef'> }

/** Access to an account for one of its members. */
export interface MemberSession extends AccountSession {
  /** The member's permissions there. */
  readonly access: GrantedAccess
  /**
   * How long the member must wait for its share of the account's requests; undefined when it need not. Called just
   * before the work begins.
   */
  turn(): ShareWait | undefined
  /**
   * Why the member may not use the account after all, now that its references show more of what it needs; undefined if
   * it may.
   */
  refusal(needs: AccessNeeds): Blocked | undefined
}

export interface Accounts {
  /** The session of an account for a resource or command, or why it has none. */
  session(account: AccountName, cr: AccountMember): MemberSession | Blocked
}
