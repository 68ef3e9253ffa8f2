import type { KubeObject } from '../../kube/types.ts'
import type { AccountName } from '../attempt.ts'
import type { AccountSession, Accounts, Blocked } from '../context.ts'
import { reasons } from '../reasons.ts'
import { type AccountKey, type AccountResource, accountKey, accountText } from './account-resource.ts'
import { selects } from './label-selector.ts'
import type { LiveSession } from './session.ts'

/** What the registry asks of the watches. */
export interface AccountLookup {
  account(key: AccountKey): AccountResource | undefined
  namespace(name: string): KubeObject | undefined
}

/** The live sessions of all accounts, and who may use which. */
export class AccountRegistry implements Accounts {
  readonly #lookup: AccountLookup
  readonly #sessions = new Map<string, LiveSession>()
  readonly #absent = new Map<string, Blocked>()
  /** Sessions that nobody gets any more, whose last calls are under way. */
  readonly #ending = new Set<Promise<void>>()

  constructor(lookup: AccountLookup) {
    this.#lookup = lookup
  }

  session(account: AccountName, namespace: string): AccountSession | Blocked {
    const key = accountKey(account, namespace)
    const resource = this.#lookup.account(key)
    const name = `${account.kind}/${account.name}`
    if (resource === undefined) {
      return { reason: reasons.AccountNotReady, message: `${name} does not exist: create it or correct accountRef` }
    }
    if (account.kind === 'ClusterAccount' && !this.#allows(resource, namespace)) {
      const remedy = 'let its administrator extend spec.allowedNamespaces or label the namespace'
      return { reason: reasons.AccountNotAllowed, message: `${name} does not allow namespace ${namespace}: ${remedy}` }
    }
    return this.#sessions.get(accountText(key)) ?? this.#absent.get(accountText(key)) ?? NOT_SEEN
  }

  /** The session of an account, for its own reconciler. */
  get(key: AccountKey): LiveSession | undefined {
    return this.#sessions.get(accountText(key))
  }

  /** Puts a new session in the place of an older one, which makes no new calls from then on. */
  replace(key: AccountKey, session: LiveSession): void {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.set(accountText(key), session)
    this.#absent.delete(accountText(key))
    this.#end(former)
  }

  /** Ends an account's session, if there is one; `why` is what its CRs are told from now on. */
  drop(key: AccountKey, why: Blocked): void {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.delete(accountText(key))
    this.#absent.set(accountText(key), why)
    this.#end(former)
  }

  /** Forgets an account that is gone. */
  remove(key: AccountKey): void {
    const former = this.#sessions.get(accountText(key))
    this.#sessions.delete(accountText(key))
    this.#absent.delete(accountText(key))
    this.#end(former)
  }

  /** Ends all sessions; resolves when their last calls are over. */
  async close(): Promise<void> {
    for (const session of this.#sessions.values()) this.#end(session)
    this.#sessions.clear()
    await Promise.all(this.#ending)
  }

  /** Nobody waits for the calls under way: each has its time-out. */
  #end(session: LiveSession | undefined): void {
    if (session === undefined) return
    const ending = session.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  #allows(resource: AccountResource, namespace: string): boolean {
    const labels = this.#lookup.namespace(namespace)?.metadata.labels
    return labels !== undefined && selects(resource.spec.allowedNamespaces, labels)
  }
}

/** The account's own reconcile has not come to it yet: over in a moment. */
const NOT_SEEN: Blocked = { reason: reasons.AccountNotReady, message: 'the account is not set up yet', silent: true }
