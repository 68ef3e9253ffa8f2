import type { KubeObject } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import { type AccountKey, type AccountResource, accountKey, accountText } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { AccountMember, Accounts, Blocked, GrantedAccess, MemberSession } from '../run/session.ts'
import { type AccessRequest, accessOf, fullAccess, requestLimit } from './access.ts'
import { MemberAccess } from './member-access.ts'
import { RequestShare } from './request-share.ts'
import type { LiveSession } from './session.ts'

/** The registry's view of the watches. */
export interface AccountLookup {
  account(key: AccountKey): AccountResource | undefined
  namespace(name: string): KubeObject | undefined
}

/** The live sessions of all accounts, and who may use which. */
export class AccountRegistry implements Accounts {
  readonly #lookup: AccountLookup
  readonly #kinds: KindsRegistry
  readonly #clock: Clock
  readonly #sessions = new Map<string, LiveSession>()
  readonly #absent = new Map<string, Blocked>()
  /** By account, then by namespace. */
  readonly #shares = new Map<string, Map<string, RequestShare>>()
  /** Sessions no longer handed out whose last calls are in flight. */
  readonly #ending = new Set<Promise<void>>()

  constructor(lookup: AccountLookup, kinds: KindsRegistry, clock: Clock) {
    this.#lookup = lookup
    this.#kinds = kinds
    this.#clock = clock
  }

  session(account: AccountName, cr: AccountMember): MemberSession | Blocked {
    const key = accountKey(account, cr.metadata.namespace ?? '')
    const resource = this.#lookup.account(key)
    const name = `${account.kind}/${account.name}`
    if (resource === undefined) {
      return { reason: reasons.AccountNotReady, message: `${name} does not exist: create it or correct accountRef` }
    }
    const request = this.#requestOf(account, cr)
    const access = this.#accessOf(resource, request)
    if ('reason' in access) return access
    const session = this.#sessions.get(accountText(key))
    if (session !== undefined) {
      return new MemberAccess({
        session,
        access,
        request,
        share: this.#shareOf(key, resource, request),
        uid: cr.metadata.uid,
      })
    }
    return this.#absent.get(accountText(key)) ?? NOT_SEEN
  }

  /** Whether a resource or command may use an account; false if the account does not exist. */
  allows(account: AccountName, cr: AccountMember): boolean {
    const resource = this.#lookup.account(accountKey(account, cr.metadata.namespace ?? ''))
    return resource !== undefined && !('reason' in this.#accessOf(resource, this.#requestOf(account, cr)))
  }

  /** The session of an account, for its own reconciler. */
  get(key: AccountKey): LiveSession | undefined {
    return this.#sessions.get(accountText(key))
  }

  /** Address of the API that shows an object with that id to the account; undefined if none does. */
  shownAt(key: AccountKey, id: string): string | undefined {
    const session = this.#sessions.get(accountText(key))
    return session?.cache.shows(id) ? session.config.baseURL : undefined
  }

  /** Replaces an account's session; the old one makes no new calls from then on. */
  replace(key: AccountKey, session: LiveSession): void {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.set(accountText(key), session)
    this.#absent.delete(accountText(key))
    void this.#end(former)
  }

  /** Ends an account's session, if there is one; `why` is reported to its CRs from now on. */
  drop(key: AccountKey, why: Blocked): void {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.delete(accountText(key))
    this.#absent.set(accountText(key), why)
    void this.#end(former)
  }

  /** Forgets an account that is gone, or another operator's. Resolves when the last calls of its session have ended. */
  async remove(key: AccountKey): Promise<void> {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.delete(accountText(key))
    this.#absent.delete(accountText(key))
    this.#shares.delete(accountText(key))
    await this.#end(former)
  }

  /** Ends all sessions; resolves when their last calls have ended. */
  async close(): Promise<void> {
    for (const session of this.#sessions.values()) void this.#end(session)
    this.#sessions.clear()
    await Promise.all(this.#ending)
  }

  /** The caller does not wait for calls in flight: each has its timeout. */
  #end(session: LiveSession | undefined): Promise<void> {
    if (session === undefined) return Promise.resolve()
    const ending = session.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return ending
  }

  /** One share for all members of a namespace, however many entries select it. */
  #shareOf(key: AccountKey, { spec }: AccountResource, { namespace, labels }: AccessRequest): RequestShare | undefined {
    const perMinute = key.kind === 'Account' ? undefined : requestLimit(spec.access, labels)
    if (perMinute === undefined) return undefined
    const shares = this.#shares.get(accountText(key)) ?? new Map<string, RequestShare>()
    this.#shares.set(accountText(key), shares)
    const known = shares.get(namespace)
    if (known?.perMinute === perMinute) return known
    const share = new RequestShare(this.#clock, perMinute)
    shares.set(namespace, share)
    return share
  }

  #requestOf(account: AccountName, { kind, metadata: { namespace = '' }, spec }: AccountMember): AccessRequest {
    const { reach, needs } = this.#kinds.member(kind)
    const labels = this.#lookup.namespace(namespace)?.metadata.labels
    return { account, namespace, labels, kind, reach, needs: needs(spec) }
  }

  #accessOf({ spec: { access = [] } }: AccountResource, request: AccessRequest): GrantedAccess | Blocked {
    return request.account.kind === 'Account' ? fullAccess : accessOf(access, request)
  }
}

/** The account has not been reconciled yet: over in a moment. */
const NOT_SEEN: Blocked = {
  reason: reasons.AccountNotReady,
  message: 'the account has not been set up yet',
  silent: true,
}
