import { ApiError } from '../../api/errors.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { eachInTurns } from '../../runtime/turns.ts'
import { jitter } from '../../util/random.ts'
import { durationMs } from '../../util/time.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../account-resource.ts'
import { type CustomResource, hasFinalizer, hasNoConditions, isDeleting, isPaused, nameOf } from '../cr.ts'
import { accountDefaults } from '../descriptor/account.ts'
import { ownCollections } from '../descriptor/descriptor.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import { PAUSED } from '../names.ts'
import { logUnreported } from '../reconcile/long-waits.ts'
import { openRequest } from '../run/requests.ts'
import { kubeReason } from '../run/result.ts'
import { accountConfig, sameConfig } from './account-config.ts'
import type { AccountContext } from './account-context.ts'
import { accountFacts } from './account-facts.ts'
import { addAccountFinalizer, dependentsOfAccount, releaseAccount } from './account-removal.ts'
import { type AccountFacts, writeAccountStatus } from './account-status.ts'
import { checkIdentity } from './check-identity.ts'
import type { ClosedChange } from './closed-collections.ts'
import {
  type AccountProblem,
  checkRetryMs,
  type Finding,
  type Held,
  heldBy,
  listProblem,
  problem,
  type ReadyFinding,
} from './finding.ts'
import { closedOf, listAll, probe, retryClosed } from './lists.ts'
import { apiRestriction, concerned, holdingsOf, type Orphan, sweep } from './resync.ts'
import type { LiveSession, SessionConfig } from './session.ts'

/** The first check of an account is announced if it takes this many minutes or more. */
const SLOW_MINUTES = 0.5

/** How long a verified identity counts while it cannot be stored, in milliseconds. */
const VERIFIED_MS = 30_000

/** A member that is deleted wakes its account; this is only the fallback. */
const IN_USE_MS = 30_000

/** Reconciles Accounts and ClusterAccounts: opens their sessions, verifies key and identity, and resyncs them. */
export class AccountReconciler {
  readonly #context: AccountContext
  readonly #resyncs = new Map<string, Resync>()
  /** UIDs of the accounts last seen under their names. */
  readonly #uids = new Map<string, string>()
  /** Accounts whose lists are in progress. */
  readonly #checking = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #orphans = new Map<string, readonly Orphan[]>()
  /** The problem about which members of an account were last woken. */
  readonly #told = new Map<string, string>()
  /** Accounts whose identity was verified, while that could not be stored yet. */
  readonly #unstored = new Map<string, Verified>()

  constructor(context: AccountContext) {
    this.#context = context
  }

  async reconcile(key: AccountKey): Promise<Outcome> {
    const resource = this.#context.resources.account(key)
    try {
      await this.#forgetFormer(key, resource)
    } catch (error) {
      return { type: 'backoff', error }
    }
    if (resource === undefined) {
      this.#forget(key)
      return done
    }
    if (isPaused(resource)) return this.#leaveAlone(key)
    try {
      if (isDeleting(resource)) return await this.#remove(key, resource)
      const refused = hasFinalizer(resource) ? undefined : await this.#hold(key, resource)
      if (refused !== undefined) return await this.#conclude(key, resource, refused)
      return await this.#observe(key, this.#context.resources.account(key) ?? resource)
    } catch (error) {
      return { type: 'backoff', error }
    }
  }

  /**
   * A paused account keeps its session. If it has none, for example because the operator has started since, its
   * resources report that they wait for the account to be resumed.
   */
  async #leaveAlone(key: AccountKey): Promise<Outcome> {
    const { registry } = this.#context
    const why = `${key.kind}/${key.name} is paused and not connected to its API: remove the annotation ${PAUSED} from it`
    if (registry.get(key) === undefined && this.#told.get(accountText(key)) !== why) {
      registry.drop(key, { reason: reasons.AccountNotReady, message: why })
      this.#told.set(accountText(key), why)
      await this.#wakeAll(key, 'drift')
    }
    return done
  }

  /** Adds the finalizer. @returns why not, if the admission policy for the operator refuses it */
  async #hold(key: AccountKey, resource: AccountResource): Promise<AccountProblem | undefined> {
    try {
      await addAccountFinalizer(this.#context, resource)
      return undefined
    } catch (error) {
      if (!(error instanceof KubeError && error.isRefusedWrite)) throw error
      return problem(kubeReason(error), error.message, true, this.#backoff(key))
    }
  }

  async #observe(key: AccountKey, found: AccountResource): Promise<Outcome> {
    const config = await this.#config(key, found)
    if ('type' in config) return this.#conclude(key, found, config)
    const session = this.#open(key, config)
    const resource = session.starting ? await this.#announceSlowness(key, found, session) : found
    this.#checking.add(accountText(key))
    const finding =
      this.#verifiedLately(key, resource, session) ??
      (await this.#check(key, resource, session).finally(() => this.#checking.delete(accountText(key))))
    if (finding.type !== 'held') return this.#conclude(key, resource, finding)
    const { message, retryMs } = finding
    // Members of a new session have not been told anything yet.
    if (session.starting && message !== undefined) {
      return this.#conclude(key, resource, problem(reasons.Unreachable, message, false, retryMs))
    }
    return { type: 'after', ms: retryMs, reason: 'held', priority: 'poll' }
  }

  /**
   * Reports in the conditions of a new account that it waits to be reconciled; undefined if they already say something,
   * or nothing is to be done. The account must not be reconciled meanwhile. Never throws.
   */
  reportWait(key: AccountKey): Promise<void> | undefined {
    const { logger, resources } = this.#context
    const resource = resources.account(key)
    if (resource === undefined || !hasNoConditions(resource)) return undefined
    const waiting = problem(reasons.Progressing, 'waits until other accounts have been reconciled', false)
    return this.#write(key, resource, waiting).catch((error: unknown) => logUnreported(logger, key, error))
  }

  /**
   * The account or its Secret may have changed. A check that waits in the old session's rate budget is aborted:
   * otherwise the new key, address or budget would have to wait for it.
   */
  async noticeChange(key: AccountKey): Promise<void> {
    const resource = this.#context.resources.account(key)
    if (resource === undefined || !this.#checking.has(accountText(key))) return
    const session = this.#context.registry.get(key)
    // If the Secret cannot be read, the following reconcile reports why.
    const config = await accountConfig(this.#context, key, resource).catch(() => undefined)
    if (config === undefined || session === undefined || session !== this.#context.registry.get(key)) return
    if ('type' in config || !sameConfig(config, session.config)) session.endWaiting()
  }

  /**
   * Address and key. If Kubernetes forbids reading the key, an account without a session reports that; one with a
   * session continues with the known key.
   */
  async #config(key: AccountKey, resource: AccountResource): Promise<SessionConfig | AccountProblem> {
    try {
      return await accountConfig(this.#context, key, resource)
    } catch (error) {
      const isRefused = error instanceof KubeError && error.code === 'Forbidden'
      if (!isRefused || this.#context.registry.get(key) !== undefined) throw error
      return problem(reasons.KubernetesError, `spec.apiKeySecretRef: ${error.message}`, false)
    }
  }

  #open(key: AccountKey, config: SessionConfig): LiveSession {
    const { registry } = this.#context
    const current = registry.get(key)
    if (current !== undefined && sameConfig(current.config, config)) return current
    const session = this.#context.openSession(key, config)
    registry.replace(key, session)
    this.#resyncs.delete(accountText(key))
    return session
  }

  /** A full resync if one is due, otherwise only what needs an answer now. */
  async #check(key: AccountKey, resource: AccountResource, session: LiveSession): Promise<Finding | Held> {
    const { clock, resources } = this.#context
    const holdings = holdingsOf(this.#context, session, resources.membersOf(key), resource.status?.orphans)
    const due = this.#nextResync(key, resource) ?? 0
    const hasFailed = session.takeFailure()
    try {
      if (
        due <= clock.monotonic() ||
        openRequest(resource, 'reconcile') !== undefined ||
        session.blocked() !== undefined
      ) {
        // One call shows whether the problem is over, before every collection is listed.
        if (session.blocked() !== undefined && !session.starting) await probe(session, holdings)
        await listAll(session, holdings)
        session.endResync(holdings.used)
        this.#recordResync(key, resource, clock.monotonic())
        const reported = this.#orphans.get(accountText(key)) ?? resource.status?.orphans
        this.#orphans.set(accountText(key), await sweep(this.#context, session, holdings.collections, reported))
      } else {
        // One list shows whether the problem affects the account or only one resource.
        if (hasFailed) await probe(session, holdings)
        await retryClosed(session, session.closed.due)
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'Unauthorized') session.recordRefused()
      const held = heldBy(error)
      if (held !== undefined) return held
      // Only a 403 can come from a restriction: searching for one after every failure would walk all members.
      const isRefused = error.code === 'Forbidden'
      const restriction = isRefused ? apiRestriction(this.#context, session, holdings.members) : undefined
      return listProblem(error, this.#backoff(key), restriction)
    }
    const { doubt, fingerprint } = checkIdentity(this.#context, session, resource, holdings.members)
    if (doubt !== undefined) return problem(reasons.IdentityUnproven, doubt, true, this.#interval(resource))
    const orphans = this.#orphans.get(accountText(key)) ?? []
    return { type: 'ready', orphans, closed: closedOf(session, holdings), fingerprint, judged: session.blocked() }
  }

  /**
   * If the rate limit makes the first check slow, the account and its resources report that before it begins.
   * @returns the account's state after that.
   */
  async #announceSlowness(key: AccountKey, resource: AccountResource, session: LiveSession): Promise<AccountResource> {
    const { requestsPerMinute, burst = accountDefaults.burst } = session.config
    if (requestsPerMinute === undefined || resource.status?.conditions !== undefined) return resource
    const { resources } = this.#context
    const { collections } = holdingsOf(this.#context, session, resources.membersOf(key), resource.status?.orphans)
    if ((collections.length - burst) / requestsPerMinute < SLOW_MINUTES) return resource
    session.startSlowly()
    const slow = problem(reasons.Progressing, session.blocked()?.message ?? '', false)
    await writeAccountStatus(this.#context, resource, this.#facts(key, resource, slow))
    await this.#wakeAll(key, 'drift')
    return resources.account(key) ?? resource
  }

  async #conclude(key: AccountKey, resource: AccountResource, finding: Finding): Promise<Outcome> {
    const { registry, resources, clock } = this.#context
    const session = registry.get(key)
    const name = `${key.kind}/${key.name}`
    if (finding.type === 'problem') {
      const blocked = { reason: reasons.AccountNotReady, message: `${name} is not Ready: ${finding.message}` }
      if (session === undefined || NO_SESSION.has(finding.reason)) registry.drop(key, blocked)
      else session.block(finding.reason === reasons.IdentityUnproven ? finding.reason : blocked.reason, blocked.message)
      await this.#write(key, resource, finding)
      if (this.#told.get(accountText(key)) !== finding.message) await this.#wakeAll(key, 'drift')
      this.#told.set(accountText(key), finding.message)
      return { type: 'after', ms: finding.retryMs, reason: finding.reason, priority: 'poll' }
    }
    if (session === undefined) throw new Error('an account without a session cannot be ready')
    const unkept = await this.#keepKey(key, resource, session)
    if (unkept !== undefined) return this.#conclude(key, resource, unkept)
    this.#failures.delete(accountText(key))
    // Noted before anything is made there. If the first object were made and lost while this is not stored, nothing
    // would show any more that the key opens our account.
    const isNoted = resource.status?.internal?.keyFingerprint === finding.fingerprint
    if (!isNoted) await this.#storeVerified(key, resource, { session, finding })
    const opened = session.blocked() !== undefined
    if (!session.unblock(finding.judged)) return { type: 'after', ms: 0, reason: 'judged too early', priority: 'poll' }
    // Before anything that may fail: on a retry the session would be open already, and no one would be woken.
    const change = session.closed.note(finding.closed, (failures) => this.#retryMs(failures))
    if (opened) {
      // Every member is woken: what changed before wakes none once more, and what changes meanwhile stays noted.
      session.takeChanges()
      await this.#wakeAll(key, 'edit')
    } else this.#wakeConcerned(key, change)
    this.#context.metrics.orphans(accountText(key), finding.orphans.length)
    if (isNoted) await this.#write(key, resource, finding)
    this.#told.delete(accountText(key))
    if (!opened) {
      const changed = concerned(this.#context, session, resources.membersOf(key))
      this.#wakeChanged(changed, openRequest(resource, 'reconcile') !== undefined)
    }
    const left = Math.min(this.#nextResync(key, resource) ?? 0, session.closed.nextRetryAt) - clock.monotonic()
    return { type: 'after', ms: Math.max(left, 1), reason: 'resync', priority: 'drift' }
  }

  /** Kubernetes may refuse the write for long: until it is stored, nothing is listed again for it. */
  async #storeVerified(
    key: AccountKey,
    resource: AccountResource,
    { session, finding }: Omit<Verified, 'at'>,
  ): Promise<void> {
    const text = accountText(key)
    if (this.#unstored.get(text)?.finding !== finding) {
      this.#unstored.set(text, { session, finding, at: this.#context.clock.monotonic() })
    }
    await this.#write(key, resource, finding)
    this.#unstored.delete(text)
  }

  #verifiedLately(key: AccountKey, resource: AccountResource, session: LiveSession): ReadyFinding | undefined {
    const verified = this.#unstored.get(accountText(key))
    if (verified?.session !== session || openRequest(resource, 'reconcile') !== undefined) return undefined
    const { finding, at } = verified
    const isLate = this.#context.clock.monotonic() - at > VERIFIED_MS
    return isLate || session.blocked() !== finding.judged ? undefined : finding
  }

  #write(key: AccountKey, resource: AccountResource, finding: Finding): Promise<void> {
    return writeAccountStatus(this.#context, resource, this.#facts(key, resource, finding))
  }

  /**
   * An account is not Ready until its key is kept: without a kept key, deleting the account's namespace might never
   * end.
   */
  async #keepKey(key: AccountKey, { metadata }: AccountResource, session: LiveSession): Promise<Finding | undefined> {
    try {
      await this.#context.keptKeys.keep(metadata.uid, session.config.apiKey)
      return undefined
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      const { operatorNamespace } = this.#context
      const message = `the key cannot be backed up in a Secret in namespace ${operatorNamespace}: ${error.message}`
      return problem(kubeReason(error), message, error.isRefusedWrite, this.#backoff(key))
    }
  }

  #wakeAll(key: AccountKey, priority: 'edit' | 'drift'): Promise<void> {
    const { resources, turns, wake } = this.#context
    return eachInTurns(turns, resources.membersOf(key), (cr) => wake(nameOf(cr), priority))
  }

  /** Who asks for a check waits for what it finds: as a request is handled once, it needs no patience. */
  #wakeChanged(changed: readonly CustomResource[], isRequested: boolean): void {
    for (const cr of changed) {
      if (isRequested) this.#context.wake(nameOf(cr), 'drift')
      else this.#context.enqueueDelayed(nameOf(cr))
    }
  }

  /** Resources of collections that closed say so, and those that waited for one that opened go on. */
  #wakeConcerned(key: AccountKey, { closed, ended }: ClosedChange): void {
    for (const name of ended) this.#context.wake(name, 'edit')
    if (closed.length === 0) return
    const paths = new Set(closed.map(({ path }) => path))
    for (const cr of this.#context.resources.membersOf(key)) {
      const descriptor = this.#context.kinds.managedKind(cr.kind)
      if (descriptor !== undefined && ownCollections(descriptor, cr.spec).some(({ path }) => paths.has(path))) {
        this.#context.wake(nameOf(cr), 'drift')
      }
    }
  }

  /** Deletes an account once nothing needs it; until then its CRs are deleted with the last working key. */
  async #remove(key: AccountKey, resource: AccountResource): Promise<Outcome> {
    if (!hasFinalizer(resource)) return done
    if (dependentsOfAccount(this.#context, key).length > 0) {
      const outcome = await this.#observe(key, resource)
      return outcome.type === 'after' ? { ...outcome, ms: Math.min(outcome.ms, IN_USE_MS) } : outcome
    }
    await releaseAccount(this.#context, resource)
    this.#uids.delete(accountText(key))
    this.#forget(key)
    return done
  }

  /**
   * If an account was deleted after its finalizer was removed by hand, the key kept for it is left behind: delete it.
   */
  async #forgetFormer(key: AccountKey, resource: AccountResource | undefined): Promise<void> {
    const text = accountText(key)
    const former = this.#uids.get(text)
    const uid = resource?.metadata.uid
    if (former !== undefined && former !== uid) await this.#context.keptKeys.forget(former)
    if (uid === undefined) this.#uids.delete(text)
    else this.#uids.set(text, uid)
  }

  /** Another operator works on the account from now on: it may change everything that is known of it here. */
  leave(resource: AccountResource): void {
    const key = keyOfAccount(resource)
    this.#uids.delete(accountText(key))
    this.#forget(key)
    this.#context.keptKeys.readAgain(resource.metadata.uid)
  }

  #facts(key: AccountKey, resource: AccountResource, finding: Finding): AccountFacts {
    const type = this.#context.kinds.accountType(key.kind)
    return accountFacts({ type, resource, finding, dependents: dependentsOfAccount(this.#context, key) })
  }

  #forget(key: AccountKey): void {
    this.#resyncs.delete(accountText(key))
    this.#failures.delete(accountText(key))
    this.#orphans.delete(accountText(key))
    this.#told.delete(accountText(key))
    this.#unstored.delete(accountText(key))
    void this.#context.registry.remove(key)
    this.#context.metrics.forget(accountText(key))
  }

  /**
   * Monotonic time of the account's next resync; undefined before the first. A changed interval counts from the last
   * resync.
   */
  #nextResync(key: AccountKey, resource: AccountResource): number | undefined {
    const resync = this.#resyncs.get(accountText(key))
    return resync === undefined || resync.interval === resource.spec.resyncInterval
      ? resync?.next
      : this.#recordResync(key, resource, resync.at)
  }

  /** @returns monotonic time of the resync after the one at `at`. */
  #recordResync(key: AccountKey, resource: AccountResource, at: number): number {
    const next = at + this.#interval(resource)
    this.#resyncs.set(accountText(key), { at, next, interval: resource.spec.resyncInterval })
    return next
  }

  #interval({ spec }: AccountResource): number {
    const interval = durationMs(spec.resyncInterval ?? accountDefaults.resyncInterval)
    return jitter(this.#context.random, interval, 0.1)
  }

  #backoff(key: AccountKey): number {
    const failures = this.#failures.get(accountText(key)) ?? 0
    this.#failures.set(accountText(key), failures + 1)
    return this.#retryMs(failures)
  }

  #retryMs(failures: number): number {
    return jitter(this.#context.random, checkRetryMs(failures), 0.2)
  }
}

/** The last complete resync of an account, and when the next is due. Monotonic times. */
interface Resync {
  readonly at: number
  readonly next: number
  /** The `resyncInterval` from which `next` was computed. */
  readonly interval: string | undefined
}

/** An account that turned out to be ours. */
interface Verified {
  readonly session: LiveSession
  readonly finding: ReadyFinding
  /** Monotonic time. */
  readonly at: number
}

/** Problems that forbid any call. */
const NO_SESSION: ReadonlySet<Reason> = new Set([
  reasons.BaseURLNotAllowed,
  reasons.SecretMissing,
  reasons.InvalidInput,
])
