import { ApiError } from '../../api/errors.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../../managed/account-resource.ts'
import { type Claim, claimOf, isSameClaim } from '../../managed/claims/claim.ts'
import { type ClaimStep, claimStep, type Hold, wantedClaim } from '../../managed/claims/claim-step.ts'
import type { ResourceStore } from '../../managed/store/resource-store.ts'
import { Controller } from '../../runtime/controller.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { sleep } from '../../util/clock.ts'
import { equalJSON } from '../../util/json.ts'
import type { Logger } from '../../util/logger.ts'
import { jitter, type Random } from '../../util/random.ts'
import { accountKeyOf, STOP_MS } from '../controller-parts.ts'
import type { Watches } from '../watches.ts'
import { ClaimWriter, type ClaimWriterOptions, isOutdated } from './claim-writer.ts'
import { InFlight } from './in-flight.ts'
import { type ClaimMetrics, Deferrals, type Rivals } from './rivals.ts'
import type { Selection } from './selection.ts'
import { SharedLists } from './shared-lists.ts'

/** Pause between two reads of the Lease of an operator whose claim stands in the way. Milliseconds. */
const RIVAL_MS = 20_000
/** Pause after an account changed under a claim: the watch should show it sooner. Milliseconds. */
const CONFLICT_MS = 1_000
/**
 * How long an account that is given up waits for its reconciles to end by themselves. After that, their calls to the
 * API are refused, and they end with errors. Milliseconds.
 */
const DRAIN_MS = 30_000

export interface AccountClaimsOptions extends ClaimWriterOptions {
  /** This operator, and the term of this process. */
  readonly self: Claim
  readonly selection: Selection
  readonly store: ResourceStore
  /** Already synced, with the lists of this term. */
  readonly watches: Pick<Watches, 'accounts' | 'namespaces'>
  readonly rivals: Rivals
  /** Resolves when everything is known as of that monotonic time or later. */
  readonly refresh: (since: number) => Promise<void>
  readonly metrics: ClaimMetrics
  readonly random: Random
  readonly logger: Logger
}

/** What the rest of the operator does when accounts come and go. */
export interface ClaimHooks {
  /** Queues the account and everything of it. */
  readonly wake: (key: AccountKey) => void
  /** Queues everything of a namespace that has no account. */
  readonly wakeNamespace: (namespace: string) => void
  /** Ends the session of the account; resolves when its last calls have ended. */
  readonly endSession: (key: AccountKey) => Promise<void>
  /** Forgets whatever this process knows of the account and everything of it. Nothing is in progress for it. */
  readonly forget: (account: AccountResource) => void
}

/** What is known of an account under one UID. */
interface Entry {
  readonly uid: string
  readonly hold: Hold | undefined
}

/** Without selectors, an account that nobody ever claimed is in use from the beginning. */
const IMPLIED: Hold = { listsFrom: Number.NEGATIVE_INFINITY, isOpen: true }

/**
 * Keeps the claims of accounts, so that of several operators one works on each
 * (docs/decisions/0046-dividing-accounts.md). `isOpen` says whether this process may do anything for an account.
 */
export class AccountClaims {
  readonly #options: AccountClaimsOptions
  readonly #claims: boolean
  readonly #wanted: Claim | undefined
  readonly #entries = new Map<string, Entry>()
  readonly #inFlight = new InFlight()
  readonly #lists: SharedLists
  readonly #deferrals: Deferrals
  readonly #writer: ClaimWriter

  constructor(options: AccountClaimsOptions) {
    this.#options = options
    const { self, selection, store, refresh, clock, metrics, logger } = options
    this.#lists = new SharedLists(refresh, clock)
    this.#deferrals = new Deferrals(metrics, logger)
    this.#writer = new ClaimWriter(options, self.operator, store.accounts())
    this.#claims = selection.isPartial
    this.#wanted = wantedClaim({ self, claims: this.#claims })
  }

  /** Whether anything may be done for the account now. */
  isOpen(account: AccountResource): boolean {
    return this.#isOurs(account) && this.#holdOf(account)?.isOpen === true && this.#selects(account)
  }

  /** Whether anything may be done for resources of a namespace that have no account. */
  isOpenWithout(namespace: string | undefined): boolean {
    return namespace === undefined || this.#options.selection.selectsNamespace(namespace)
  }

  /**
   * Just before a write to the API: refuses it if the claim was lost unexpectedly. Work in progress may end while an
   * account is given up.
   *
   * @throws ApiError `NotLeader`
   */
  assertOurs(key: AccountKey): void {
    const account = this.#options.store.account(key)
    if (account === undefined || this.#isOurs(account)) return
    throw new ApiError('NotLeader', 'another operator works on the account', { definite: true })
  }

  /**
   * Monotonic time from which on nobody else has worked on the account; minus infinity if nobody else has in this term.
   */
  soleSince(key: AccountKey): number {
    const account = this.#options.store.account(key)
    const hold = account === undefined ? undefined : this.#holdOf(account)
    return hold?.listsFrom ?? Number.NEGATIVE_INFINITY
  }

  /** Runs `work` for an account, which is not given up before it ends. */
  count<T>(key: AccountKey, work: () => Promise<T>): Promise<T> {
    return this.#inFlight.count(accountText(key), work)
  }

  /** Runs until `signal` is aborted. */
  async run(signal: AbortSignal, hooks: ClaimHooks): Promise<void> {
    const { clock, random, logger, watches } = this.#options
    const list = (key: AccountKey): void => {
      this.#lists.request(accountText(key), () => controller.enqueue({ ...key }, 'poll'), signal)
    }
    const controller: Controller = new Controller({
      clock,
      random,
      logger,
      workers: 16,
      maxPerGroup: 16,
      stopMs: STOP_MS,
      reconcile: (key) => this.#reconcile(accountKeyOf(key), hooks, list),
    })
    for (const accounts of watches.accounts.values()) {
      accounts.subscribe(({ object }) => {
        if (this.#isConcerned(object)) controller.enqueue({ ...keyOfAccount(object) })
      })
    }
    if (this.#claims) this.#subscribeNamespaces(hooks, (key) => controller.enqueue({ ...key }))
    await controller.run(signal)
  }

  #subscribeNamespaces({ wakeNamespace }: ClaimHooks, enqueue: (key: AccountKey) => void): void {
    const { store, watches } = this.#options
    watches.namespaces?.subscribe(({ object, previous }) => {
      if (previous !== undefined && equalJSON(previous.metadata.labels, object.metadata.labels)) return
      const { name } = object.metadata
      for (const account of store.accounts()) if (account.metadata.namespace === name) enqueue(keyOfAccount(account))
      wakeNamespace(name)
    })
  }

  /** Operators without selectors have nothing to decide about accounts that nobody claims. */
  #isConcerned(account: AccountResource): boolean {
    return this.#claims || claimOf(account) !== undefined || this.#entries.has(accountText(keyOfAccount(account)))
  }

  async #reconcile(key: AccountKey, hooks: ClaimHooks, list: (key: AccountKey) => void): Promise<Outcome> {
    try {
      for (;;) {
        const account = this.#options.store.account(key)
        if (account === undefined) {
          this.#remove(key)
          return done
        }
        const outcome = await this.#take(await this.#step(account), account, hooks, list)
        if (outcome !== undefined) return outcome
      }
    } catch (error) {
      if (!isOutdated(error)) return { type: 'backoff', error }
      return { type: 'after', ms: CONFLICT_MS, reason: 'the account has changed', priority: 'poll' }
    }
  }

  async #step(account: AccountResource): Promise<ClaimStep> {
    const { self, rivals } = this.#options
    const facts = {
      self,
      claims: this.#claims,
      isSelected: this.#selects(account),
      claim: claimOf(account),
      hold: this.#holdOf(account),
      listedAt: this.#lists.begunAt,
      silentMs: undefined,
    }
    const step = claimStep(facts)
    if (step !== 'defer' || facts.claim === undefined) return step
    return claimStep({ ...facts, silentMs: await rivals.silentMs(facts.claim) })
  }

  /** @returns undefined if there is more to decide now */
  async #take(
    step: ClaimStep,
    account: AccountResource,
    hooks: ClaimHooks,
    list: (key: AccountKey) => void,
  ): Promise<Outcome | undefined> {
    const key = keyOfAccount(account)
    if (step !== 'defer') this.#deferrals.note(account, undefined)
    switch (step) {
      case 'rest':
        return done
      case 'write':
        await this.#write(account)
        return undefined
      case 'hold':
        this.#hold(account, { listsFrom: this.#writer.settledFrom(key), isOpen: false })
        return undefined
      case 'list':
        list(key)
        return done
      case 'open':
        this.#hold(account, { ...(this.#holdOf(account) ?? IMPLIED), isOpen: true })
        hooks.wake(key)
        return done
      case 'leave':
        await this.#leave(account, hooks)
        return undefined
      case 'release':
        if (this.#holdOf(account) !== undefined) await this.#leave(account, hooks)
        else this.#options.store.record(await this.#writer.remove(account))
        return undefined
      case 'defer':
        return this.#defer(account)
    }
  }

  /** Takes an account that nobody works on. */
  async #write(account: AccountResource): Promise<void> {
    const { store, clock, logger } = this.#options
    const written = await this.#writer.write(account, this.#wanted)
    const { isInherited } = written
    const listsFrom = isInherited ? Number.NEGATIVE_INFINITY : clock.monotonic()
    this.#hold(account, { listsFrom, isOpen: false })
    if (!isInherited) logger.info({ account: accountText(keyOfAccount(account)) }, 'this operator works on the account')
    store.record(written.account)
  }

  /** Stops all work on the account; nothing new has begun since it is not open. */
  async #leave(account: AccountResource, { endSession, forget }: ClaimHooks): Promise<void> {
    const { clock, logger } = this.#options
    const key = keyOfAccount(account)
    const text = accountText(key)
    this.#hold(account, { ...(this.#holdOf(account) ?? IMPLIED), isOpen: false })
    const drained = new AbortController()
    const ended = this.#inFlight.ended(text).then(() => drained.abort())
    await Promise.race([ended, sleep(clock, DRAIN_MS, drained.signal).catch(() => undefined)])
    await endSession(key)
    await ended
    // A reconcile of the account that ended late may have opened another.
    await endSession(key)
    forget(account)
    this.#hold(account, undefined)
    logger.info({ account: text }, 'this operator no longer works on the account')
  }

  #defer(account: AccountResource): Outcome {
    const { random, rivals } = this.#options
    const { operator = '' } = claimOf(account) ?? {}
    this.#deferrals.note(account, operator)
    if (!rivals.isReadable(operator)) return done
    return { type: 'after', ms: jitter(random, RIVAL_MS, 0.2), reason: 'claimed by another', priority: 'drift' }
  }

  #isOurs(account: AccountResource): boolean {
    return isSameClaim(claimOf(account), this.#wanted)
  }

  #selects(account: AccountResource): boolean {
    return !this.#claims || this.#options.selection.selects(account)
  }

  #holdOf(account: AccountResource): Hold | undefined {
    const entry = this.#entries.get(accountText(keyOfAccount(account)))
    if (entry?.uid === account.metadata.uid) return entry.hold
    return this.#claims ? undefined : IMPLIED
  }

  #hold(account: AccountResource, hold: Hold | undefined): void {
    const text = accountText(keyOfAccount(account))
    const { uid } = account.metadata
    // Without selectors, an account that another operator works on is one that this one does not hold.
    if (hold === undefined && this.#claims) this.#entries.delete(text)
    else this.#entries.set(text, { uid, hold })
  }

  #remove(key: AccountKey): void {
    const text = accountText(key)
    this.#entries.delete(text)
    this.#writer.forget(key)
    this.#deferrals.forget(key)
  }
}
