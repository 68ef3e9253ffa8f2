import { ApiError } from '../../api/errors.ts'
import type { KubeClient } from '../../kube/types.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { type WriteOrigin, writeReasons } from '../../telemetry/write-origin.ts'
import type { Clock } from '../../util/clock.ts'
import { isNotedAhead } from '../../util/noted-time.ts'
import { durationMs } from '../../util/time.ts'
import { type AccountKey, type AccountResource, accountKey, nameOfAccount } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { generationOf, isDeleting, isPaused, originOf, type ResourceName, shortName } from '../cr.ts'
import {
  type Action,
  type CommandDescriptor,
  type CommandStatus,
  type CommandStep,
  MAX_TARGETS,
  type Target,
} from '../descriptor/command.ts'
import { type MirrorDescriptor, mirrorDefaults } from '../descriptor/mirror.ts'
import { reasons } from '../descriptor/reasons.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import { openSession } from '../references/account-choice.ts'
import { refuseUse } from '../references/reach.ts'
import { isAccountWide } from '../run/account-wide.ts'
import { stampConditions } from '../run/conditions.ts'
import type { EventSink, Resources } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { AccountSession, Accounts, MemberSession } from '../run/session.ts'
import {
  countDone,
  ended,
  isFinished,
  nextOf,
  type Result,
  recordMs,
  sent,
  spacingMs,
  summary,
  time,
  withoutSent,
  withResult,
  withTimesCorrected,
} from './command-progress.ts'
import { type CommandResource, commandStatus } from './command-resource.ts'
import { type CommandState, conditionsOf, nobody, resultOf } from './command-state.ts'
import { type CommandStore, storeCommand } from './command-store.ts'
import { type Candidate, candidateOf, targetsOf } from './command-targets.ts'
import { type MirroredObject, mirrorName } from './mirrored.ts'
import { RecentActions } from './recent-commands.ts'
import { isAwaiting, withSuccessors } from './session-successors.ts'

/** The mirror's first list arrives in a moment. */
const SETTLING_MS = 1000
/** Pause between two reads of the mirror, and between retries of requests that did not reach the API. */
const LOOK_MS = 2000
const RETRY_MS = 5000
/** The change that a lasting block waits for wakes the command; this is only the fallback. */
const LASTING_MS = 60_000
/** How long a restarted session is waited for, in addition to two intervals of the mirror. */
const COME_BACK_MS = 60_000

/** The commands' view of the watches. */
export interface CommandSessions {
  command(name: ResourceName): CommandResource | undefined
  account(key: AccountKey): AccountResource | undefined
  mirroredIn(kind: string, namespace: string): readonly MirroredObject[]
  mirrored(name: ResourceName): MirroredObject | undefined
  mirrorHolder(object: MirroredObject): AccountResource | undefined
  /**
   * Actions of that name that commands other than `cr` took on an object of the account, whatever name the account has.
   */
  actionsOn(
    account: AccountKey,
    at: { readonly id: string; readonly action: string },
    cr: CommandResource,
  ): readonly Action[]
  /** Namespaces in which CRs of that kind and name show an object of the account. */
  namespacesShowing(kind: string, name: string, account: AccountKey): readonly string[]
}

export interface CommandContext {
  readonly kinds: KindsRegistry
  readonly resources: Pick<Resources, 'get' | 'hasAccount' | 'namespace'>
  readonly sessions: CommandSessions
  readonly accounts: Accounts
  readonly store: CommandStore
  readonly kube: Pick<KubeClient, 'delete'>
  readonly events: EventSink
  readonly clock: Clock
  /** Whether a mirror shows what its account lists. */
  readonly isSettled: (kind: string, account: AccountResource) => boolean
}

/** One request of a command. */
interface Sending {
  readonly descriptor: CommandDescriptor
  readonly id: string
  readonly step: CommandStep
  readonly origin: WriteOrigin
}

/** Carries out commands, each at most once: docs/decisions/0011-tunnel-sessions.md. */
export class CommandReconciler {
  readonly #context: CommandContext
  /** Answers that could not be stored yet, by CR, target and action. */
  readonly #answers = new Map<string, Result>()
  readonly #recent = new RecentActions()

  constructor(context: CommandContext) {
    this.#context = context
  }

  async reconcile(name: ResourceName): Promise<Outcome> {
    const { kinds, sessions } = this.#context
    const cr = sessions.command(name)
    const descriptor = kinds.commands.find(({ definition }) => definition.kind === name.kind)
    if (cr === undefined || descriptor === undefined || isDeleting(cr) || isPaused(cr)) return done
    try {
      return isFinished(commandStatus(cr)) ? await this.#afterwards(descriptor, cr) : await this.#run(descriptor, cr)
    } catch (error) {
      return await this.#excuse(descriptor, cr, error)
    }
  }

  /** Reports a wait in the status; any other error is retried. Neither sends again what was about to be sent. */
  async #excuse(descriptor: CommandDescriptor, cr: CommandResource, error: unknown): Promise<Outcome> {
    const waits = error instanceof WaitError || error instanceof TerminalError
    if (!waits) return { type: 'backoff', error }
    const latest = this.#context.sessions.command({ kind: cr.kind, ...cr.metadata }) ?? cr
    const ms = error instanceof TerminalError ? LASTING_MS : error.silent ? SETTLING_MS : RETRY_MS
    if (!(error instanceof WaitError && error.silent)) {
      try {
        await this.#write(descriptor, latest, commandStatus(latest), ['Running', error.code, error.message])
      } catch (failure) {
        return { type: 'backoff', error: failure }
      }
    }
    return { type: 'after', ms, reason: error.code, priority: 'poll' }
  }

  async #run(descriptor: CommandDescriptor, fresh: CommandResource): Promise<Outcome> {
    const begun = commandStatus(fresh).targets === undefined ? await this.#begin(descriptor, fresh) : fresh
    if (isFinished(commandStatus(begun))) return await this.#afterwards(descriptor, begun)
    const session = openSession(this.#context, begun)
    const steps = descriptor.steps(begun.spec)
    let cr = begun
    let targets = this.#recovered(cr)
    for (;;) {
      const others = (id: string, action: string) => {
        return [...this.#context.sessions.actionsOn(session.key, { id, action }, begun), ...this.#recent.on(id, action)]
      }
      const next = nextOf(targets, steps, this.#context.clock.now(), others)
      if (next.type === 'finished') return await this.#finish(descriptor, cr, targets)
      if (next.type === 'wait') {
        await this.#write(descriptor, cr, { ...commandStatus(cr), targets: [...targets] })
        return { type: 'after', ms: next.ms, reason: 'the pause between two actions', priority: 'edit' }
      }
      const { id, step } = next
      const at = { id, action: step.action }
      openSession(this.#context, cr)
      const marked = withResult(targets, at, (action) => sent(action, this.#context.clock.now()))
      cr = await this.#write(
        descriptor,
        cr,
        { ...commandStatus(cr), targets: [...marked] },
        this.#running(marked, step),
      )
      this.forget(cr)
      // Another command may have acted meanwhile. Nothing was sent yet.
      const ms = spacingMs({ id, actions: actionsOf(targets, id) }, step, this.#context.clock.now(), others)
      if (ms > 0) {
        await this.#write(descriptor, cr, { ...commandStatus(cr), targets: [...targets] })
        return { type: 'after', ms, reason: 'the pause between two actions', priority: 'edit' }
      }
      this.#remember(cr, marked, at)
      const origin = originOf(cr, writeReasons.command)
      const result = await this.#send(session, { descriptor, id, step, origin })
      this.#answers.set(answerKey(cr, at), result)
      targets = withResult(marked, at, (action) => ended(action, result, this.#context.clock.now()))
      this.#remember(cr, targets, at)
      if (result.state === 'Pending') {
        await this.#write(descriptor, cr, { ...commandStatus(cr), targets: [...targets] })
        this.forget(cr)
        return { type: 'after', ms: RETRY_MS, reason: 'the API could not be reached', priority: 'poll' }
      }
    }
  }

  #remember(cr: CommandResource, targets: readonly Target[], at: { readonly id: string; readonly action: string }) {
    const action = actionsOf(targets, at.id).find((each) => each.action === at.action)
    if (action !== undefined) this.#recent.note(answerKey(cr, at), { id: at.id, action }, this.#context.clock.now())
  }

  /** Chooses the targets before anything is sent; without any, the command is over. */
  async #begin(descriptor: CommandDescriptor, cr: CommandResource): Promise<CommandResource> {
    const { clock } = this.#context
    const chosen = this.#withAccount(descriptor, cr)
    const session = openSession(this.#context, chosen)
    const account = shortName(session.account)
    const mirroring = this.#awaitMirror(descriptor, cr, session)
    const targets = targetsOf(descriptor, cr.spec, account, this.#candidates(descriptor, cr))
    this.#refuseBeyondReach(descriptor, cr, session)
    const base = { accountRef: session.account, startedAt: time(clock.now()) }
    if (targets.length === 0 || targets.length > MAX_TARGETS) {
      const over = { ...base, finishedAt: time(clock.now()), total: 0, targets: [] }
      return await this.#conclude(descriptor, cr, over, nobody(targets.length, mirroring, account))
    }
    const status = { ...base, total: targets.length, targets: [...targets] }
    const [step] = descriptor.steps(cr.spec)
    if (step === undefined) throw new Error('a command has at least one step')
    const said = this.#running(targets, step)
    const written = await this.#write(descriptor, cr, status, said)
    this.#context.events.record(written, { type: 'Normal', reason: said[1], message: said[2] })
    return written
  }

  /**
   * An id may name a session that is shown in the command's namespace; in a shared account, any other only if no
   * namespace is shown it.
   */
  #refuseBeyondReach(descriptor: CommandDescriptor, cr: CommandResource, session: MemberSession): void {
    const { id } = cr.spec.target
    if (id === undefined || session.access.granted === undefined) return
    const { namespace = '' } = cr.metadata
    const name = mirrorName(this.#mirrorOf(descriptor).namePrefix, id)
    const shown = this.#context.sessions.namespacesShowing(descriptor.mirror, name, session.key)
    const keeper = shown.includes(namespace) ? namespace : shown[0]
    // Stopping a session changes it, so the level for changes applies.
    refuseUse(session, namespace, keeper, { path: 'spec.target.id', id, asked: 'Adopt' })
  }

  /** If the spec has no account, a session selected by reference is in the account that shows it. */
  #withAccount(descriptor: CommandDescriptor, cr: CommandResource): CommandResource {
    const { sessionRef } = cr.spec.target
    if (cr.spec.accountRef !== undefined || sessionRef === undefined) return cr
    const { sessions } = this.#context
    const { namespace } = cr.metadata
    const object = sessions.mirrored({ kind: descriptor.mirror, namespace, name: sessionRef.name })
    const holder = object === undefined ? undefined : sessions.mirrorHolder(object)
    if (holder === undefined) return cr
    return { ...cr, spec: { ...cr.spec, accountRef: nameOfAccount(holder) } }
  }

  /** @returns whether the account mirrors sessions. @throws WaitError while it does and has not listed them yet. */
  #awaitMirror(descriptor: CommandDescriptor, cr: CommandResource, session: MemberSession): boolean {
    const account = this.#accountOf(cr, session)
    if (account === undefined || this.#mirrorOf(descriptor).settings(account.spec)?.enabled !== true) return false
    // In a shared account, the mirror shows to which namespace a session belongs.
    const asksMirror = cr.spec.target.type !== 'ID' || session.access.granted !== undefined
    if (asksMirror && !this.#context.isSettled(descriptor.mirror, account)) {
      throw new WaitError(reasons.AccountNotReady, 'the sessions of the account are being listed', SETTLING_MS, true)
    }
    return true
  }

  async #send(session: AccountSession, { descriptor, id, step, origin }: Sending): Promise<Result> {
    try {
      await session.calls.command(descriptor.collection, id, step.command, { origin })
      return { state: 'Done' }
    } catch (error) {
      if (isAccountWide(error)) session.reportFailure(error)
      // Any other error is a bug; whether the request was sent is as unknown as after a crash.
      return error instanceof ApiError ? resultOf(error) : { state: 'Unknown', message: 'an error inside Culvert' }
    }
  }

  /** The stored targets; those that were about to be sent and have no answer become Unknown. */
  #recovered(cr: CommandResource): readonly Target[] {
    const answered = (id: string, action: string) => this.#answers.get(answerKey(cr, { id, action }))
    const now = this.#context.clock.now()
    return withTimesCorrected(withoutSent(commandStatus(cr).targets ?? [], answered, now), now)
  }

  async #finish(descriptor: CommandDescriptor, cr: CommandResource, targets: readonly Target[]): Promise<Outcome> {
    const status = { ...commandStatus(cr), targets: [...targets], finishedAt: time(this.#context.clock.now()) }
    const all = countDone(targets) === targets.length
    const said: CommandState = all
      ? ['Complete', reasons.AllDone, summary(targets)]
      : ['Failed', reasons.SomeNotDone, `${summary(targets)}: see status.targets`]
    const finished = await this.#conclude(descriptor, cr, status, said)
    this.forget(cr)
    return await this.#afterwards(descriptor, finished)
  }

  async #conclude(descriptor: CommandDescriptor, cr: CommandResource, status: CommandStatus, said: CommandState) {
    const written = await this.#write(descriptor, cr, status, said)
    const [phase, reason, message] = said
    this.#context.events.record(written, { type: phase === 'Complete' ? 'Normal' : 'Warning', reason, message })
    return written
  }

  /**
   * After the end, nothing is sent. What remains: record the ids under which targets came back, and delete the CR in
   * time, which its spec may still change.
   */
  async #afterwards(descriptor: CommandDescriptor, finished: CommandResource): Promise<Outcome> {
    const { clock } = this.#context
    const now = clock.now()
    const cr = await this.#withEndCorrected(descriptor, finished, now)
    if (leftMs(descriptor, cr, now) === 0) return await this.#remove(descriptor, cr)
    const found = await this.#withSuccessors(descriptor, cr, now)
    // An edit made meanwhile was recorded with the response to our write, so it wakes nothing.
    if (generationOf(found) !== commandStatus(found).observedGeneration)
      return await this.#afterwards(descriptor, found)
    const ms = Math.min(
      leftMs(descriptor, found, now),
      this.#isFollowed(descriptor, found, now) ? LOOK_MS : Number.POSITIVE_INFINITY,
    )
    return Number.isFinite(ms) ? { type: 'after', ms, reason: 'after the end', priority: 'drift' } : done
  }

  /** Deletes only the version that was read, so that an edit which extends the time takes effect. */
  async #remove(descriptor: CommandDescriptor, { metadata }: CommandResource): Promise<Outcome> {
    const { namespace, name, uid, resourceVersion } = metadata
    const preconditions = { uid, resourceVersion }
    const isDeleted = await this.#context.kube.delete(resourceTypeOf(descriptor), { namespace, name }, preconditions)
    // A proxy may have answered the 404: if the CR is really gone, the next run finds none.
    return isDeleted ? done : { type: 'after', ms: RETRY_MS, reason: 'ttlAfterFinished', priority: 'drift' }
  }

  async #withSuccessors(descriptor: CommandDescriptor, cr: CommandResource, now: number): Promise<CommandResource> {
    const status = commandStatus(cr)
    if (!this.#isFollowed(descriptor, cr, now)) return await this.#write(descriptor, cr, status)
    const candidates = this.#candidates(descriptor, cr, status.accountRef)
    const targets = withSuccessors(descriptor, cr.spec, status.targets ?? [], candidates)
    return await this.#write(descriptor, cr, { ...status, targets: [...targets] })
  }

  /** Whether restarted targets may still be found under their new ids. */
  #isFollowed(descriptor: CommandDescriptor, cr: CommandResource, now: number): boolean {
    const { targets = [] } = commandStatus(cr)
    return now < finishedAt(cr, now) + this.#comeBackMs(descriptor, cr) && isAwaiting(descriptor, cr.spec, targets)
  }

  /**
   * Replaces an end time recorded by a clock that ran ahead by the current time: otherwise the command would stay for
   * as long as the clock was ahead.
   */
  async #withEndCorrected(descriptor: CommandDescriptor, cr: CommandResource, now: number): Promise<CommandResource> {
    const status = commandStatus(cr)
    if (status.finishedAt === undefined || !isNotedAhead(Date.parse(status.finishedAt), now)) return cr
    return await this.#write(descriptor, cr, { ...status, finishedAt: time(now) })
  }

  /** How long after its end a command searches for the sessions that it restarted; 0 if none are mirrored. */
  #comeBackMs(descriptor: CommandDescriptor, cr: CommandResource): number {
    const { accountRef } = commandStatus(cr)
    if (accountRef === undefined) return 0
    const account = this.#context.sessions.account(accountKey(accountRef, cr.metadata.namespace ?? ''))
    const settings = account === undefined ? undefined : this.#mirrorOf(descriptor).settings(account.spec)
    if (settings?.enabled !== true) return 0
    return 2 * durationMs(settings.interval ?? mirrorDefaults.interval) + COME_BACK_MS
  }

  #candidates(descriptor: CommandDescriptor, cr: CommandResource, account?: AccountName): readonly Candidate[] {
    const { sessions } = this.#context
    const mirror = this.#mirrorOf(descriptor)
    return sessions.mirroredIn(descriptor.mirror, cr.metadata.namespace ?? '').flatMap((object) => {
      const candidate = candidateOf(object, sessions.mirrorHolder(object), mirror)
      if (candidate === undefined || (account !== undefined && candidate.account !== shortName(account))) return []
      return [candidate]
    })
  }

  #accountOf(cr: CommandResource, session: AccountSession): AccountResource | undefined {
    return this.#context.sessions.account(accountKey(session.account, cr.metadata.namespace ?? ''))
  }

  #mirrorOf({ mirror }: CommandDescriptor): MirrorDescriptor {
    const descriptor = this.#context.kinds.mirrors.find(({ definition }) => definition.kind === mirror)
    if (descriptor === undefined) throw new Error(`${mirror} is not a kind of mirror`)
    return descriptor
  }

  #running(targets: readonly Target[], { action }: CommandStep): CommandState {
    return ['Running', reasons.CommandRunning, `${action} is in progress for ${targets.length} targets`]
  }

  async #write(
    descriptor: CommandDescriptor,
    cr: CommandResource,
    status: CommandStatus,
    said?: CommandState,
  ): Promise<CommandResource> {
    const { store, clock } = this.#context
    const observedGeneration = generationOf(cr)
    const previous = commandStatus(cr).conditions ?? []
    // An edit does not make the conditions untrue, and `kubectl wait` ignores conditions of an earlier generation.
    const kept = previous.map((condition) => ({ ...condition, observedGeneration }))
    const conditions =
      said === undefined ? kept : stampConditions(conditionsOf(said), previous, observedGeneration, clock.now())
    const counted = status.targets === undefined ? {} : { done: countDone(status.targets) }
    const after = { ...status, ...counted, observedGeneration, conditions: [...conditions] }
    return await storeCommand(store, resourceTypeOf(descriptor), cr, after)
  }

  /** Drops answers that were stored, or that another operator has found out by itself. */
  forget({ metadata: { uid } }: CommandResource): void {
    for (const key of this.#answers.keys()) if (key.startsWith(`${uid} `)) this.#answers.delete(key)
  }
}

function actionsOf(targets: readonly Target[], id: string): Action[] {
  return targets.find((target) => target.id === id)?.actions ?? []
}

function answerKey(
  { metadata: { uid } }: CommandResource,
  { id, action }: { readonly id: string; readonly action: string },
): string {
  return `${uid} ${action} ${id}`
}

/** Wall time at which the command was over, in milliseconds. */
function finishedAt(cr: CommandResource, now: number): number {
  return Date.parse(commandStatus(cr).finishedAt ?? time(now))
}

/** How long a finished command still stays, in milliseconds. */
function leftMs(descriptor: CommandDescriptor, cr: CommandResource, now: number): number {
  const { ttlAfterFinished } = cr.spec
  if (ttlAfterFinished === undefined) return Number.POSITIVE_INFINITY
  // Another process may have to know what was done, and finds it in the status alone.
  const least = Math.max(...descriptor.steps(cr.spec).map(recordMs))
  return Math.max(0, finishedAt(cr, now) + Math.max(durationMs(ttlAfterFinished), least) - now)
}
