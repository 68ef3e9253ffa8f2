import type { ApiError } from '../../api/errors.ts'
import type { AccountKey } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { type ResourceName, shortName } from '../cr.ts'
import type { AccessNeeds } from '../descriptor/access.ts'
import type {
  AccountSession,
  Blocked,
  GrantedAccess,
  MemberSession,
  SessionCache,
  SessionCalls,
  ShareWait,
} from '../run/session.ts'
import { type AccessRequest, narrowed } from './access.ts'
import { CountedCache, countedCalls } from './counted-cache.ts'
import type { RequestShare } from './request-share.ts'

export interface MemberAccessOptions {
  readonly session: AccountSession
  readonly access: GrantedAccess
  readonly request: AccessRequest
  /** Undefined: only the account's own budget limits it. */
  readonly share: RequestShare | undefined
  /** Distinguishes members that wait for the share. */
  readonly uid: string
}

/** An account's session as one resource or command may use it. */
export class MemberAccess implements MemberSession {
  readonly access: GrantedAccess
  readonly account: AccountName
  readonly key: AccountKey
  readonly address: string
  readonly cache: SessionCache
  readonly calls: SessionCalls
  readonly #options: MemberAccessOptions
  readonly #session: AccountSession

  constructor(options: MemberAccessOptions) {
    const { session, access, share } = options
    const spend = (): void => share?.spend()
    this.access = access
    this.account = session.account
    this.key = session.key
    this.address = session.address
    this.cache = share === undefined ? session.cache : new CountedCache(session.cache, spend)
    this.calls = share === undefined ? session.calls : countedCalls(session.calls, spend)
    this.#options = options
    this.#session = session
  }

  turn(): ShareWait | undefined {
    const { share, uid, request } = this.#options
    const ms = share?.waitMs(uid) ?? 0
    if (share === undefined || ms === 0) return undefined
    const who = `${shortName(this.account)} allows namespace ${request.namespace} ${share.perMinute} requests per minute`
    return { message: `rate limited: ${who}`, ms }
  }

  refusal(needs: AccessNeeds): Blocked | undefined {
    const { granted } = this.access
    const found = granted && narrowed(granted, { ...this.#options.request, needs })
    return found !== undefined && 'reason' in found ? found : undefined
  }

  blocked(): Blocked | undefined {
    return this.#session.blocked()
  }

  refusedForMs(): number | undefined {
    return this.#session.refusedForMs()
  }

  seal(text: string): string {
    return this.#session.seal(text)
  }

  recheck(): void {
    this.#session.recheck()
  }

  isClosed(path: string): boolean {
    return this.#session.isClosed(path)
  }

  awaitList(path: string, waiting: ResourceName): boolean {
    return this.#session.awaitList(path, waiting)
  }

  reportFailure(error: ApiError): void {
    this.#session.reportFailure(error)
  }
}
