import { AccountCache, type Change } from '../../api/account-cache.ts'
import type { ClosableApiClient } from '../../api/client.ts'
import type { ApiError } from '../../api/errors.ts'
import type { ObjectKeys } from '../../api/object-index.ts'
import type { Collection } from '../../api/types.ts'
import type { Clock } from '../../util/clock.ts'
import { type AccountKey, accountText } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import type { ResourceName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { mayHaveMade } from '../markers/marker.ts'
import type { Fingerprints } from '../run/fingerprints.ts'
import type { AccountSession, Blocked, SessionCalls } from '../run/session.ts'
import { ClosedCollections } from './closed-collections.ts'
import { tolerated } from './identity-doubt.ts'

/** The inputs of a session; a change to any of these makes a new session. */
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
  /** Keys by which the objects of a collection are found in the cache. */
  readonly keysOf: (collection: Collection) => ObjectKeys
  /** How many objects the account's CRs hold now in collections that `counts`. */
  readonly knownObjects: (counts: (collection: Collection) => boolean) => number
  /** Whether a CR that is not being deleted holds `id`. */
  readonly isHeld: (id: string) => boolean
  /** Aborts calls that wait in the rate budget. Absent: none wait. */
  readonly endWaiting?: () => void
  /** Called when the session ends. */
  readonly onClose?: () => void
  /** Asks the account's reconciler to check the account now. */
  readonly recheck: () => void
}

const STARTING: Blocked = {
  reason: reasons.AccountNotReady,
  message: 'the account is being read for the first time',
  silent: true,
}

const STARTING_SLOWLY: Blocked = {
  reason: reasons.AccountNotReady,
  message: 'the account is being read for the first time, which takes minutes at its spec.rateLimit',
}

/** An account in use: its client, its cache, and whether it may be used. */
export class LiveSession implements AccountSession {
  readonly account: AccountName
  readonly key: AccountKey
  readonly address: string
  readonly config: SessionConfig
  readonly cache: AccountCache
  readonly calls: SessionCalls
  /** The collections that the API refuses to list. */
  readonly closed: ClosedCollections
  readonly #options: SessionOptions
  #blocked: Blocked | undefined = STARTING
  #changes: Change[] = []
  #hasFailed = false
  /** Held objects that vanished since the last resync began. */
  #vanished = new Set<string>()
  /** Number of objects held when the first of these vanished: counting them again for each would take too long. */
  #held: number | undefined
  #usedBefore: ReadonlySet<string> = new Set()
  /** Monotonic time since when the API refuses the key. */
  #refusedAt: number | undefined
  /** Number of completed resyncs. */
  #passes = 0

  constructor(options: SessionOptions) {
    const { key, config, client, clock, keysOf } = options
    this.account = { kind: key.kind, name: key.name }
    this.key = key
    this.address = config.baseURL
    this.config = config
    this.#options = options
    this.cache = new AccountCache(client, clock, { mayHaveMade, keysOf, onRefusal: () => this.recheck() })
    this.closed = new ClosedCollections(clock)
    this.calls = client
    this.cache.subscribe((change) => this.#note(change))
  }

  blocked(): Blocked | undefined {
    return this.#blocked
  }

  get starting(): boolean {
    return this.#blocked === STARTING || this.#blocked === STARTING_SLOWLY
  }

  /** The first check takes so long that it should be reported. */
  startSlowly(): void {
    if (this.#blocked === STARTING) this.#blocked = STARTING_SLOWLY
  }

  seal(text: string): string {
    return this.#options.fingerprints.of('ownership', this.config.apiKey, text)
  }

  refusedForMs(): number | undefined {
    return this.#refusedAt === undefined ? undefined : this.#options.clock.monotonic() - this.#refusedAt
  }

  /** The API refused the key. */
  recordRefused(): void {
    this.#refusedAt ??= this.#options.clock.monotonic()
  }

  recheck(): void {
    this.#hasFailed = true
    this.#options.recheck()
  }

  isClosed(path: string): boolean {
    return this.closed.has(path)
  }

  /** Whether a collection has been listed again since the last check of the account found it closed. */
  get hasOpened(): boolean {
    return this.closed.collections.some((collection) => this.cache.refusalOf(collection) === undefined)
  }

  awaitList(path: string, waiting: ResourceName): boolean {
    this.closed.await(path, waiting)
    if (this.closed.has(path)) return true
    this.#options.recheck()
    return false
  }

  reportFailure(error: ApiError): void {
    this.#hasFailed = true
    if (error.code === 'Unauthorized') {
      this.recordRefused()
      this.block(reasons.AccountNotReady, `${this.#name()}: ${error.message}`)
    }
    this.#options.recheck()
  }

  /** Whether a failure was reported since the last call. */
  takeFailure(): boolean {
    const hasFailed = this.#hasFailed
    this.#hasFailed = false
    return hasFailed
  }

  /** Blocks all use. `message` appears in the conditions of every CR of the account. */
  block(reason: Blocked['reason'], message: string): void {
    this.#blocked = { reason, message }
  }

  /**
   * Allows use of the account again, after a check made while it was blocked by `judged`.
   * @returns false if it was blocked again since: that has not been checked yet, and the block stays.
   */
  unblock(judged: Blocked | undefined): boolean {
    if (this.#blocked !== judged) return false
    this.#blocked = undefined
    this.#refusedAt = undefined
    return true
  }

  /** A resync begins: vanished objects are counted from zero. */
  beginResync(): void {
    this.#vanished = new Set()
    this.#held = undefined
  }

  /**
   * Whether a collection that nothing uses now may still contain objects of ours: it was in use at the last complete
   * resync, and a late request may have taken effect. The second resync covers all collections, since it is unknown
   * what a former process left where; the first does not, so that a start is quick.
   */
  mayHold(path: string): boolean {
    return this.#passes === 1 || this.#usedBefore.has(path)
  }

  /** A resync is complete; `used` are the paths of the collections in use. */
  endResync(used: ReadonlySet<string>): void {
    this.#usedBefore = used
    this.#passes++
  }

  /** Takes the changes since the last call. They wake no CR before the identity of the account has been checked. */
  takeChanges(): readonly Change[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  /** Aborts calls that wait for their turn: the account has got another key, address or budget. */
  endWaiting(): void {
    this.#options.endWaiting?.()
  }

  async close(): Promise<void> {
    this.endWaiting()
    this.#options.onClose?.()
    await this.#options.client.close()
  }

  /**
   * The circuit breaker must open at the very moment a list shows that too much is missing: between a list and the next
   * resync, a reconcile might otherwise see a vanished object and create it again.
   */
  #note(change: Change): void {
    this.#changes.push(change)
    if (change.type === 'vanished' && this.#options.isHeld(change.id)) {
      this.#vanished.add(change.id)
      // Nothing can vanish from a closed collection: its objects would only raise what is tolerated.
      this.#held ??= this.#options.knownObjects((collection) => this.cache.refusalOf(collection) === undefined)
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
