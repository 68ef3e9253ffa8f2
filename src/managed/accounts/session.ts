import { AccountCache, type Change } from '../../api/account-cache.ts'
import type { ClosableApiClient } from '../../api/client.ts'
import type { ApiError } from '../../api/errors.ts'
import type { Clock } from '../../util/clock.ts'
import type { AccountName } from '../identity/attempt.ts'
import { mayHaveMade } from '../identity/marker.ts'
import type { Fingerprints } from '../inputs/fingerprints.ts'
import type { AccountSession, Blocked, SessionCalls } from '../reconcile/context.ts'
import { reasons } from '../status/reasons.ts'
import { type AccountKey, accountText } from './account-resource.ts'
import { tolerated } from './identity.ts'

/** What a session is made of; another value of any of these is another session. */
export interface SessionConfig {
  readonly baseURL: string
  readonly apiKey: string
  readonly versionHeader: string
  readonly caBundle: string | undefined
  readonly requestsPerMinute: number | undefined
  readonly burst: number | undefined
}

export interface SessionOptions {
  readonly key: AccountKey
  readonly config: SessionConfig
  readonly client: ClosableApiClient
  readonly clock: Clock
  readonly fingerprints: Fingerprints
  /** How many objects the account's CRs hold now. */
  readonly knownObjects: () => number
  /** Whether a CR that is not being deleted holds `id`. */
  readonly isHeld: (id: string) => boolean
  /** Ends the wait of calls for their turn in the rate budget. Absent: none waits. */
  readonly endWaiting?: () => void
  /** Asks the account's reconciler to look at the account now. */
  readonly recheck: () => void
}

const STARTING: Blocked = {
  reason: reasons.AccountNotReady,
  message: 'the account is being looked at for the first time',
  silent: true,
}

const STARTING_SLOWLY: Blocked = {
  reason: reasons.AccountNotReady,
  message: 'the account is being looked at for the first time, which takes minutes with its spec.rateLimit',
}

/** An account that calls are made at: its client, what is known of it, and whether it may be used. */
export class LiveSession implements AccountSession {
  readonly account: AccountName
  readonly key: AccountKey
  readonly address: string
  readonly config: SessionConfig
  readonly cache: AccountCache
  readonly calls: SessionCalls
  readonly #options: SessionOptions
  #blocked: Blocked | undefined = STARTING
  #changes: Change[] = []
  #hasFailed = false
  /** Held objects that vanished since the last pass began. */
  #vanished = new Set<string>()
  /** Objects held when the first of these vanished: counting them again for each of many would take too long. */
  #held: number | undefined
  #usedBefore: ReadonlySet<string> = new Set()
  /** Since when the API refuses the key. */
  #refusedAt: number | undefined
  /** How many are complete. */
  #passes = 0

  constructor(options: SessionOptions) {
    const { key, config, client, clock } = options
    this.account = { kind: key.kind, name: key.name }
    this.key = key
    this.address = config.baseURL
    this.config = config
    this.#options = options
    this.cache = new AccountCache(client, clock, mayHaveMade)
    this.calls = client
    this.cache.subscribe((change) => this.#note(change))
  }

  blocked(): Blocked | undefined {
    return this.#blocked
  }

  get starting(): boolean {
    return this.#blocked === STARTING || this.#blocked === STARTING_SLOWLY
  }

  /** The first look takes so long that people should hear of it. */
  startSlowly(): void {
    if (this.#blocked === STARTING) this.#blocked = STARTING_SLOWLY
  }

  seal(text: string): string {
    return this.#options.fingerprints.of('ownership', this.config.apiKey, text)
  }

  refusedForMs(): number | undefined {
    return this.#refusedAt === undefined ? undefined : this.#options.clock.monotonic() - this.#refusedAt
  }

  /** The API does not take the key. */
  noteRefused(): void {
    this.#refusedAt ??= this.#options.clock.monotonic()
  }

  recheck(): void {
    this.#hasFailed = true
    this.#options.recheck()
  }

  reportFailure(error: ApiError): void {
    this.#hasFailed = true
    if (error.code === 'Unauthorized') {
      this.noteRefused()
      this.block(reasons.AccountNotReady, `${this.#name()}: ${error.message}`)
    }
    this.#options.recheck()
  }

  /** Whether trouble was reported since this was last asked. */
  takeFailure(): boolean {
    const hasFailed = this.#hasFailed
    this.#hasFailed = false
    return hasFailed
  }

  /** Stops all use. `message` stands in the conditions of every CR of the account. */
  block(reason: Blocked['reason'], message: string): void {
    this.#blocked = { reason, message }
  }

  /**
   * Lets the account be used, after it was judged while blocked by `judged`.
   * @returns false when it was blocked anew since: that is not judged yet, and the block stays.
   */
  unblock(judged: Blocked | undefined): boolean {
    if (this.#blocked !== judged) return false
    this.#blocked = undefined
    this.#refusedAt = undefined
    return true
  }

  /** A pass begins: what vanishes is counted anew. */
  beginResync(): void {
    this.#vanished = new Set()
    this.#held = undefined
  }

  /**
   * Whether a collection that nothing uses now may hold something of ours all the same: it was in use at the last
   * complete pass, and something may have come late. The second pass looks everywhere, since nobody knows what a former
   * process has left where; the first does not, so that a start is quick.
   */
  mayHold(path: string): boolean {
    return this.#passes === 1 || this.#usedBefore.has(path)
  }

  /** A pass is complete; `used` are the paths of the collections in use. */
  endResync(used: ReadonlySet<string>): void {
    this.#usedBefore = used
    this.#passes++
  }

  /** Changes since they were last taken; nobody is woken by them before the identity of the account has been judged. */
  takeChanges(): readonly Change[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  /** Calls that wait for their turn fail: the account has got another key, address or budget. */
  endWaiting(): void {
    this.#options.endWaiting?.()
  }

  async close(): Promise<void> {
    this.endWaiting()
    await this.#options.client.close()
  }

  /**
   * The brake has to work in the same instant in which a list shows too much missing: between a list and the next pass,
   * a reconcile might otherwise see a vanished object and make it again.
   */
  #note(change: Change): void {
    this.#changes.push(change)
    if (change.type === 'vanished' && this.#options.isHeld(change.id)) {
      this.#vanished.add(change.id)
      this.#held ??= this.#options.knownObjects()
      const known = this.#held
      if (this.#vanished.size > tolerated(known) && this.#blocked === undefined) {
        this.block(
          reasons.IdentityUnproven,
          `${this.#name()}: ${this.#vanished.size} of ${known} known objects vanished`,
        )
      }
    }
    this.#options.recheck()
  }

  #name(): string {
    return accountText(this.#options.key).replace('//', '/')
  }
}
