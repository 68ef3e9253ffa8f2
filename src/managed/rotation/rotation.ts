import type { RemoteObject } from '../../api/types.ts'
import { isNotedAhead, recordedBehind, recordedTime } from '../../util/noted-time.ts'
import { timeInMs } from '../../util/time.ts'
import { internalOf, isObserved, statusOf } from '../cr.ts'
import type { CommonStatus, Fields } from '../descriptor/common.ts'
import type { Rotation } from '../descriptor/descriptor.ts'
import type { Former } from '../descriptor/internal.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import { reasons } from '../descriptor/reasons.ts'
import { isAccountWide, isOfThisCall } from '../run/account-wide.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { openRequest, requestOf } from '../run/requests.ts'
import { decideRotation, pauseAfterFailures, type RotationStep } from './decide.ts'
import { RotationMemory } from './rotation-memory.ts'
import { WORDS } from './words.ts'

/**
 * Decides when tokens rotate and certificates renew, and reports it in status and conditions. The pure decision is in
 * `decide.ts`.
 */

/**
 * Decides whether the object is replaced by a new one now. A token that is lost, or has no place, is handled elsewhere.
 */
export function rotationStep(
  run: Reconciliation,
  remote: RemoteObject,
  token: { readonly type: 'none' | 'kept' | 'moved' | 'foreign' | 'lost' },
): RotationStep {
  correctIssueTime(run, remote)
  if (token.type === 'lost' || token.type === 'foreign') return { type: 'none' }
  recordStart(run, remote)
  return stepOf(run, remote)
}

/** Records the Event that a new object replaces `former`; only once while attempts fail. */
export function announceRotation({ context, cr, descriptor, memory }: Reconciliation, former: string): void {
  const { rotation } = descriptor
  if (rotation === undefined || memory.of(RotationMemory).failure !== undefined) return
  const { event, what } = WORDS[rotation.type]
  context.events.record(cr, { type: 'Normal', reason: event, message: `issuing ${what} to replace ${former}` })
}

/**
 * Notes that no new object could be created: the current one stays in use, and a condition reports the failure. Errors
 * that affect more than this object are not handled here.
 * @returns false for such an error.
 */
export function recordRotationFailure(run: Reconciliation, error: unknown): boolean {
  const isRefused = error instanceof TerminalError || (error instanceof WaitError && PAUSES.has(error.code))
  if (!isRefused && !isOfThisCall(error)) return false
  if (isAccountWide(error)) run.session.reportFailure(error)
  const { cr, context, memory } = run
  const failures = (memory.of(RotationMemory).failure?.failures ?? 0) + 1
  memory.of(RotationMemory).failure = {
    failures,
    at: context.clock.monotonic(),
    about: aboutOf(run),
    message: error.message,
  }
  context.logger.warn({ kind: cr.kind, name: cr.metadata.name, failures, err: error }, 'no successor could be issued')
  return true
}

/** Reasons for which a create waits because earlier ones failed. */
const PAUSES: ReadonlySet<string> = new Set([reasons.AnswerRefused, reasons.ApiError])

/** Status fields, conditions and next poll that follow from the time of the next rotation. */
export interface RotationReport {
  readonly fields: Fields
  readonly conditions: readonly KindCondition[]
  readonly pollMs: number | undefined
}

const NOTHING: RotationReport = { fields: {}, conditions: [], pollMs: undefined }

/** The state of the rotation at the end of a run. */
export function reportRotation(run: Reconciliation, remote: RemoteObject): RotationReport {
  const { rotation } = run.descriptor
  if (rotation === undefined || isObserved(run.cr)) return NOTHING
  const step = stepOf(run, remote)
  if (step.type === 'none') return NOTHING
  const dueAt = dueAtOf(run, remote)
  const fields = dueAt === undefined ? {} : { [WORDS[rotation.type].next]: new Date(dueAt).toISOString() }
  const pollMs = step.type === 'due' ? 0 : 'ms' in step ? step.ms : undefined
  return { fields, conditions: [conditionOf(run, step, rotation)], pollMs }
}

function conditionOf(run: Reconciliation, step: RotationStep, { type }: Rotation<never>): KindCondition {
  const { condition, failing, scheduled, what, old, next } = WORDS[type]
  const failure = failureOf(run)
  if (failure !== undefined) {
    const message = `${what} could not be issued: ${failure.message}; ${old}, and Culvert retries`
    return { type: condition, status: 'False', reason: failing, message }
  }
  if (step.type === 'former' && openRequest(run.cr, 'rotate') !== undefined) {
    const message = `${what} was requested and will be issued once the former one is deleted: at most two exist at a time`
    return { type: condition, status: 'Unknown', reason: reasons.RotationWaiting, message }
  }
  return { type: condition, status: 'True', reason: scheduled, message: `${what} will be issued at status.${next}` }
}

/**
 * Status fields to set when a token is issued: the time, and the request that it answers. Empty for kinds whose tokens
 * are not rotated.
 */
export function issueNotes({
  context,
  cr,
  descriptor,
}: Reconciliation): Pick<CommonStatus, 'rotatedAt' | 'lastHandledRotateAt'> {
  if (descriptor.rotation?.type !== 'rotation') return {}
  const request = requestOf(cr, 'rotate')
  const rotatedAt = new Date(context.clock.now()).toISOString()
  return request === undefined ? { rotatedAt } : { rotatedAt, lastHandledRotateAt: request }
}

/**
 * The entry of `status.internal.superseded` for the object that the status still names: how long it keeps working, and
 * how its token is identified. Derived only from durable state, so that a process that continues another's create gets
 * the same result.
 */
export function formerNotes(run: Reconciliation): Omit<Former, 'id' | 'nonce'> {
  const { context, cr, descriptor } = run
  const { adopted } = statusOf(cr)
  const { tokenDigest: digest } = internalOf(cr)
  const token = { ...(digest && { digest }), ...(adopted && { adopted }) }
  const overlapMs = descriptor.rotation?.overlapMs(cr.spec) ?? 0
  const now = context.clock.now()
  const due = dueAtOf(run, undefined)
  const isHandedOver = openRequest(cr, 'rotate') !== undefined || (due !== undefined && due <= now)
  if (overlapMs === 0 || !isHandedOver) return token
  return { ...token, deleteAfter: new Date(now + overlapMs).toISOString() }
}

/**
 * How long a superseded object keeps working, in milliseconds: as recorded when it was replaced, or less if the spec
 * says less by now. A time recorded by a clock that ran ahead is limited to the overlap after the time of issue, which
 * is corrected then; one recorded by a clock that was behind is corrected with it.
 */
export function overlapLeft({ context, cr, descriptor, status }: Reconciliation, { deleteAfter }: Former): number {
  if (deleteAfter === undefined) return 0
  const { rotatedAt } = status
  const overlapMs = descriptor.rotation?.overlapMs(cr.spec)
  const shorter =
    rotatedAt === undefined || overlapMs === undefined ? Number.POSITIVE_INFINITY : Date.parse(rotatedAt) + overlapMs
  return Math.min(Date.parse(deleteAfter), shorter) - context.clock.now()
}

function stepOf(run: Reconciliation, remote: RemoteObject): RotationStep {
  const { context, cr, descriptor, internal, status } = run
  if (descriptor.rotation === undefined) return { type: 'none' }
  const isRotation = descriptor.rotation.type === 'rotation'
  const answered = status.lastHandledRotateAt
  const request = requestOf(cr, 'rotate')
  const failure = failureOf(run)
  return decideRotation({
    now: context.clock.now(),
    dueAt: dueAtOf(run, remote),
    requested: isRotation && request !== undefined && request !== answered,
    hasFormer: (internal.superseded ?? []).length > 0,
    pauseMs: failure === undefined ? 0 : failure.at + pauseAfterFailures(failure.failures) - context.clock.monotonic(),
  })
}

function dueAtOf({ cr, descriptor, status }: Reconciliation, remote: RemoteObject | undefined): number | undefined {
  const since = status.rotatedAt === undefined ? undefined : Date.parse(status.rotatedAt)
  return descriptor.rotation?.dueAt({ spec: cr.spec, remote, since })
}

/**
 * A token issued under a clock that ran ahead counts as issued now: otherwise its rotation, and the revocation of its
 * predecessor, would be late by as much. One issued under a clock that was behind counts from the creation of its
 * object by the API's clock: otherwise its predecessor would lose its overlap once the clock is right.
 */
function correctIssueTime(run: Reconciliation, remote: RemoteObject): void {
  const { context, descriptor, internal, status } = run
  if (descriptor.rotation?.type !== 'rotation' || status.rotatedAt === undefined) return
  const now = context.clock.now()
  const noted = Date.parse(status.rotatedAt)
  if (isNotedAhead(noted, now)) run.note({ rotatedAt: new Date(now).toISOString() })
  const created = createdAt(remote)
  const behind = created === undefined ? 0 : recordedBehind(noted, created, now)
  if (behind === 0) return
  const later = (time: number) => new Date(time + behind).toISOString()
  run.note({ rotatedAt: later(noted) })
  const { superseded } = internal
  if (superseded === undefined) return
  run.recordInternal({
    superseded: superseded.map((former) => {
      const { deleteAfter } = former
      return deleteAfter === undefined ? former : { ...former, deleteAfter: later(Date.parse(deleteAfter)) }
    }),
  })
}

/** By the API's clock, in milliseconds. */
function createdAt({ created_at: created }: RemoteObject): number | undefined {
  return timeInMs(created)
}

/**
 * A token without a recorded time of issue counts from its object's creation. One that is not in our Secret has no age.
 */
function recordStart(run: Reconciliation, remote: RemoteObject): void {
  const { context, descriptor, status } = run
  if (descriptor.rotation?.type !== 'rotation' || status.output === undefined || status.rotatedAt !== undefined) return
  const now = context.clock.now()
  run.note({ rotatedAt: new Date(recordedTime(createdAt(remote) ?? now, now)).toISOString() })
}

/** The failure that still counts: after a change of the spec, or a new request, the next attempt is immediate. */
function failureOf(run: Reconciliation) {
  const { failure } = run.memory.of(RotationMemory)
  return failure?.about === aboutOf(run) ? failure : undefined
}

function aboutOf({ cr }: Reconciliation): string {
  return JSON.stringify([cr.metadata.generation, requestOf(cr, 'rotate')])
}
