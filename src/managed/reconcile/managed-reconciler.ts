import { ApiError } from '../../api/errors.ts'
import { UnlistableError } from '../../api/list-refusals.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import {
  type CustomResource,
  generationOf,
  hasNoConditions,
  isDeleting,
  isPaused,
  type ResourceName,
  statusOf,
} from '../cr.ts'
import {
  type ApproveDeletion,
  deletionNeedsAccount,
  remove,
  removeFinalizer,
  sessionForDeletion,
} from '../delete/delete.ts'
import { isGoneWithItsCalls } from '../delete/key-in-use.ts'
import type { Condition } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { waitForList } from '../identity/await-list.ts'
import { recordTurn } from '../identity/contest.ts'
import { accountOf, openSession } from '../references/account-choice.ts'
import { isAccountWide } from '../run/account-wide.ts'
import { type ConditionState, isCommon } from '../run/conditions.ts'
import type { ManagedContext } from '../run/context.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import { IdsInFlight } from '../run/ids-in-flight.ts'
import { Reconciliation } from '../run/reconciliation.ts'
import { openRequest } from '../run/requests.ts'
import { type RunResult, resultOf } from '../run/result.ts'
import type { Blocked } from '../run/session.ts'
import { type ApproveSpec, converge } from './converge.ts'
import { isLongUnreported, reportLongWait, reportWait } from './long-waits.ts'

/** Where a run waits for a person: before writes that a new spec asks for, and before deletions. */
export interface Approvals {
  readonly spec: ApproveSpec
  readonly deletion: ApproveDeletion
}

/**
 * The one reconciler of all managed kinds: makes the account match one CR, writes its status once, and returns when to
 * reconcile again.
 */
export class ManagedReconciler {
  readonly #context: ManagedContext
  readonly #approvals: Approvals

  constructor(context: Omit<ManagedContext, 'inFlight'>, approvals: Approvals) {
    this.#approvals = approvals
    this.#context = { ...context, inFlight: new IdsInFlight(context.clock, context.times.requestTimeoutMs) }
  }

  /** Reconciles the CR as the watches know it now. Never throws an error that a condition can report. */
  async reconcile(name: ResourceName): Promise<Outcome> {
    const cr = this.#context.resources.get(name)
    const descriptor = this.#context.kinds.managedKind(name.kind)
    if (cr === undefined || descriptor === undefined) return done
    const run = new Reconciliation(this.#context, descriptor, cr)
    const endTelling = reportLongWait(run)
    try {
      const result = await this.#result(run, descriptor)
      return await this.#conclude(run, result)
    } finally {
      await endTelling()
      this.#context.resources.unlock(cr)
    }
  }

  /**
   * Reports in the conditions of a new CR that it waits to be reconciled; undefined if the conditions already say
   * something, or nothing is to be done. The CR must not be reconciled meanwhile. Never throws.
   */
  reportWait(name: ResourceName): Promise<void> | undefined {
    const cr = this.#context.resources.get(name)
    const descriptor = this.#context.kinds.managedKind(name.kind)
    if (cr === undefined || descriptor === undefined || !hasNoConditions(cr)) return undefined
    return reportWait(new Reconciliation(this.#context, descriptor, cr), 'its turn')
  }

  async #result(run: Reconciliation, descriptor: ManagedDescriptor): Promise<RunResult> {
    const { cr } = run
    if (isPaused(cr)) return { state: { type: 'paused' }, outcome: done }
    try {
      if (!isDeleting(cr)) {
        run.enter(openSession(this.#context, cr))
        return await converge(run, this.#approvals.spec)
      }
      if (deletionNeedsAccount(run) && (await isGoneWithItsCalls(run))) return await removeFinalizer(run)
      if (deletionNeedsAccount(run)) run.enter(sessionForDeletion(run))
      return await remove(run, this.#approvals.deletion)
    } catch (thrown) {
      const error = thrown instanceof UnlistableError ? waitForList(run, thrown) : thrown
      this.#report(run, descriptor, error)
      if (error instanceof WaitError) this.#tryWayOut(run)
      const told = error instanceof WaitError && error.silent && isLongUnreported(run) ? error.visible() : error
      return resultOf(told, run.status.id !== undefined, isDeleting(cr))
    }
  }

  /**
   * An edit of a resource that decides who may call the API may be meant to let Culvert in again: ask the account to
   * check.
   */
  #tryWayOut({ cr, descriptor }: Reconciliation): void {
    const decides = descriptor.apiAccess !== undefined && descriptor.apiAccess.type !== 'owns-keys'
    const isNew = generationOf(cr) !== statusOf(cr).observedGeneration || openRequest(cr, 'reconcile') !== undefined
    const account = decides && isNew ? accountOf(this.#context, cr) : undefined
    const session = account && this.#context.accounts.session(account, cr)
    if (session !== undefined && 'cache' in session && isTold(session.blocked())) session.recheck()
  }

  /** Errors that may affect the whole account are handled by its session; a bug is logged with its stack. */
  #report(run: Reconciliation, descriptor: ManagedDescriptor, error: unknown): void {
    if (isAccountWide(error)) run.session.reportFailure(error)
    if (error instanceof ApiError) return
    if (error instanceof Error && 'code' in error) return
    const { name, namespace } = run.cr.metadata
    this.#context.logger.error({ kind: descriptor.definition.kind, namespace, name, err: error }, 'reconcile failed')
  }

  async #conclude(run: Reconciliation, result: RunResult): Promise<Outcome> {
    const { state, conditions, outcome } = result
    if (state === undefined) {
      this.#reportCreated(run)
      return outcome
    }
    const { memory } = run
    const before = memory.unannounced ?? run.cr
    try {
      await run.write(state, conditions)
    } catch (error) {
      memory.unannounced = before
      this.#reportCreated(run)
      // The answer to a create stays in memory; the retry stores it before anything else.
      return { type: 'backoff', error }
    }
    memory.unannounced = undefined
    recordTurn(run)
    this.#announce(before, run, state)
    return run.overtaken ? { type: 'after', ms: 0, reason: 'changed meanwhile', priority: 'edit' } : outcome
  }

  /** Records an Event about the object that the run has created, if it has. */
  #reportCreated({ cr, made }: Reconciliation): void {
    if (made === undefined) return
    this.#context.events.record(cr, { type: 'Normal', reason: 'Created', message: `created ${made}` })
  }

  /**
   * Records one Event when the reason or message of Ready or Synced changes, or another condition turns False; none
   * otherwise. A resource that was created and is Ready at once has one Event for both.
   */
  #announce(before: CustomResource, run: Reconciliation, state: ConditionState): void {
    const { cr: after, descriptor, made } = run
    const [ready, was] = [told(after, 'Ready'), told(before, 'Ready')]
    const turnsReady = state.type === 'ready' && was?.status !== 'True'
    if (!turnsReady) this.#reportCreated(run)
    if (state.type === 'ready') {
      for (const { reason, message } of turnedFalse(before, after, descriptor)) {
        this.#context.events.record(after, { type: 'Warning', reason, message })
      }
      if (!turnsReady || ready === undefined) return
      const { reason, message } = ready
      const event =
        made === undefined ? { reason, message } : { reason: 'Created', message: `created ${made}: ${message}` }
      this.#context.events.record(after, { type: 'Normal', ...event })
      return
    }
    if (!TOLD.has(state.type)) return
    const [synced, wasSynced] = [told(after, 'Synced'), told(before, 'Synced')]
    const change = state.type === 'synced' ? changed(ready, was) : changed(synced, wasSynced)
    if (change === undefined) return
    const type = isWrong(state) ? 'Warning' : 'Normal'
    this.#context.events.record(after, { type, reason: change.reason, message: change.message })
  }
}

/** Whether an account is blocked for a reason that is reported, not only until its first check. */
function isTold(blocked: Blocked | undefined): boolean {
  return blocked !== undefined && !blocked.silent
}

interface Told {
  readonly reason: string
  readonly message: string
}

function told(cr: CustomResource, type: string): Condition | undefined {
  return statusOf(cr).conditions?.find((entry) => entry.type === type)
}

function changed(now: Told | undefined, before: Told | undefined): Told | undefined {
  return now !== undefined && (now.reason !== before?.reason || now.message !== before?.message) ? now : undefined
}

/**
 * The kind's own conditions that turned False although the resource is Ready. The resource may become unready next, as
 * with a failing renewal.
 */
function turnedFalse(
  before: CustomResource,
  after: CustomResource,
  { definition }: ManagedDescriptor,
): readonly Told[] {
  const warns = (type: string): boolean => {
    const doc = definition.conditions?.find((condition) => condition.type === type)
    return !isCommon(type) && doc?.informational !== true
  }
  const former = statusOf(before).conditions ?? []
  return (statusOf(after).conditions ?? []).filter(({ type, status, reason }) => {
    const was = former.find((condition) => condition.type === type)
    return warns(type) && status === 'False' && (was?.status !== 'False' || was.reason !== reason)
  })
}

/** A wait is not worth a warning; a failure is. */
function isWrong(state: ConditionState): boolean {
  return WRONG.has(state.type) || (state.type === 'synced' && state.stalled)
}

const WRONG: ReadonlySet<ConditionState['type']> = new Set(['failing', 'stalled', 'undeclared'])

const TOLD: ReadonlySet<ConditionState['type']> = new Set([
  'synced',
  'observed',
  'undeclared',
  'failing',
  'stalled',
  'progressing',
  'deleting',
])
