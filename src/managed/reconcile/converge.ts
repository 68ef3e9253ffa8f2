import type { RemoteObject } from '../../api/types.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { generationOf, internalOf, isAdopting, isObserved, nameOf, unresolvedAttempt } from '../cr.ts'
import { keepFinalizer } from '../delete/finalizer.ts'
import { refuseSilencing } from '../delete/key-in-use.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { pollIn } from '../descriptor/poll-interval.ts'
import { adopt, refuseVanished } from '../identity/adopt.ts'
import { contestAbout, noteTurn, refuseContest } from '../identity/contest.ts'
import { sweepCopies } from '../identity/copies.ts'
import { createObject, dropAttempt, dropVoidAttempt, settleIdentity } from '../identity/create.ts'
import { markerOf, parseMarker } from '../identity/marker.ts'
import { namingHolder } from '../identity/name-holder.ts'
import { formatOwnership } from '../identity/ownership.ts'
import { confirm, readObject } from '../identity/read-object.ts'
import { findSuccessor } from '../identity/recovery.ts'
import { answerProblem, refuseAnswer } from '../identity/refused-answer.ts'
import { isTakenChild, refuseTaken } from '../identity/taken-over.ts'
import { REMOTE_ID } from '../names.ts'
import { accompanied, keepCompanion } from '../outputs/companion.ts'
import { writeDerived } from '../outputs/derived.ts'
import { waitAfterRefusal } from '../outputs/issued.ts'
import {
  announceReissue,
  countReissue,
  findToken,
  isReissueDue,
  keepToken,
  type TokenState,
} from '../outputs/token-care.ts'
import { announce, describe, describeAll } from '../plan/announce.ts'
import { heldAlone, refuseShutOut, refuseUnsaidRestriction, waitBeforeRestricting } from '../plan/api-access.ts'
import { executeChild, observeChildren, quarantineChildren, settleChildren } from '../plan/children.ts'
import { resolveWanted, type Wanted } from '../plan/desired.ts'
import { appliedAfter, appliedBefore } from '../plan/left-alone.ts'
import { observe } from '../plan/observe.ts'
import { chosenByServer, type Observed, type Operation, planReplacement, type ReplaceOperation } from '../plan/plan.ts'
import { replaceObject, retireFormer } from '../plan/replace.ts'
import { sendUpdate } from '../plan/send-update.ts'
import { noteUnanswered } from '../plan/unanswered.ts'
import { rotationReason, updateReason } from '../plan/write-reason.ts'
import { announceRotation, noteRotationFailure, rotationStep } from '../rotation/rotation.ts'
import { conclude, noteKindStatus, planFor } from '../status/conclude.ts'
import { reasons } from '../status/reasons.ts'
import type { ReconcileResult } from '../status/result.ts'
import { countedRepeat, pauseBeforeNext } from './damping.ts'
import { TerminalError, WaitError } from './errors.ts'
import type { Reconciliation } from './reconciliation.ts'

/**
 * Makes the account match the spec of a CR that is not being deleted: settles its identity, resolves its inputs, plans
 * and executes the writes.
 */
export async function converge(run: Reconciliation): Promise<ReconcileResult> {
  await run.session.cache.ensureListed(run.collection)
  const observed = isObserved(run.cr)
  // The outcome of a POST that may still be in flight must be known, whatever the spec asks for by now.
  const known = observed && unresolvedAttempt(run.cr) === undefined ? undefined : await settleIdentity(run)
  if (observed) return observe(run)
  await keepFinalizer(run)
  const wanted = await resolveOrLetGo(run)
  try {
    return await convergeTo(run, wanted, known)
  } catch (error) {
    throw namingHolder(run, wanted, error)
  }
}

/** @param known id of the CR's object, if it has one */
async function convergeTo(run: Reconciliation, wanted: Wanted, known: string | undefined): Promise<ReconcileResult> {
  const adopting = isAdopting(run.cr)
  const existing = adopting ? await adopt(run, wanted) : await held(run, known)
  waitBeforeRestricting(run, existing)
  if (run.descriptor.children === undefined) await refuseShutOut(run, wanted, heldAlone(existing))
  const token = await findToken(run)
  const { remote, made } =
    existing === undefined ? await createdOrMadeAgain(run, wanted) : await keepOrReplace(run, wanted, existing, token)
  const problem = answerProblem(run, remote)
  if (problem !== undefined) return refuseAnswer(run, remote, problem)
  await sweepCopies(run)
  const reason = made ?? (adopting ? writeReasons.adoption : updateReason(run, wanted))
  const applied = await apply(run, wanted, remote, { reason, isNew: made !== undefined })
  const problemAfter = answerProblem(run, applied.remote)
  if (problemAfter !== undefined) return refuseAnswer(run, applied.remote, problemAfter)
  await keepToken(run, token, remote.id !== existing?.id)
  await writeDerived(run, wanted, applied.remote)
  const companion = await keepCompanion(run, applied.remote)
  const retireMs = await retireFormer(run)
  // Copies found during a replacement are deleted once the new id is stored.
  const again = run.memory.copies === undefined ? retireMs : 0
  return pollingAgain(accompanied(conclude(run, applied), companion), again)
}

/**
 * Resolves the spec. @throws what `resolveWanted` throws. A CR that has to wait drops an attempt that made nothing, so
 * that nothing waits for it.
 */
async function resolveOrLetGo(run: Reconciliation): Promise<Wanted> {
  try {
    return await resolveWanted(run)
  } catch (error) {
    if (error instanceof WaitError) await dropVoidAttempt(run)
    throw error
  }
}

/** The object that the CR has; undefined if one must be created. */
async function held(run: Reconciliation, known: string | undefined): Promise<RemoteObject | undefined> {
  const object = known === undefined ? undefined : await readObject(run, known)
  if (object !== undefined) return refuseTaken(run, object)
  if (known === undefined) return undefined
  refuseVanished(run, known)
  // If etcd was restored, the object may be gone because it was replaced after the backup.
  const successor = await findSuccessor(run)
  if (successor !== undefined) return run.session.cache.get(run.collection, successor)?.object
  noteVanished(run, known)
  return undefined
}

/** The object that the CR has from now on. */
interface Kept {
  readonly remote: RemoteObject
  /** Why it was created, if this run created it. */
  readonly made?: WriteReason
}

/**
 * The existing object, or the one that replaces it because a create-only field changed or its token must rotate or be
 * reissued.
 */
async function keepOrReplace(
  run: Reconciliation,
  wanted: Wanted,
  existing: RemoteObject,
  token: TokenState,
): Promise<Kept> {
  const replacement = planReplacement(run.descriptor, wanted.desired, existing)
  if (replacement !== undefined) {
    const purpose = purposeOf(run, wanted, replacement)
    if (run.memory.replacedFor === purpose(existing)) throw notApplied(replacement)
    waitAfterRefusal(run)
    const message = `${replacement.fields.join(', ')} cannot be changed: replacing ${existing.id} by a new object`
    run.context.events.record(run.cr, { type: 'Normal', reason: 'Replacing', message })
    const successor = await replace(run, wanted, existing, writeReasons.replacement)
    run.memory.replacedFor = purpose(successor.remote)
    return successor
  }
  run.memory.replacedFor = undefined
  if (rotationStep(run, existing, token).type === 'due') return succeed(run, wanted, existing)
  if (!isReissueDue(run, token)) {
    await dropAttempt(run)
    return { remote: existing }
  }
  announceReissue(run, token)
  const successor = await replace(run, wanted, existing, writeReasons.reissue)
  countReissue(run)
  return successor
}

/** Rotates: replaces `existing` by a new object of the same spec. `existing` stays in use if none can be created. */
async function succeed(run: Reconciliation, wanted: Wanted, existing: RemoteObject): Promise<Kept> {
  announceRotation(run, existing.id)
  try {
    return await replace(run, wanted, existing, rotationReason(run))
  } catch (error) {
    if (!noteRotationFailure(run, error)) throw error
    return { remote: existing }
  }
}

/**
 * Identifies the purpose of a replacement. Repeating it for the object that it produced would be futile. After an etcd
 * restore, the CR may have another object at the same generation.
 */
function purposeOf({ cr }: Reconciliation, { inputs }: Wanted, { fields }: ReplaceOperation) {
  return ({ id }: RemoteObject): string => JSON.stringify([id, fields, generationOf(cr), inputs.fingerprint])
}

/** Without this check, an API that accepts a create and does not apply it would be sent another with each retry. */
function notApplied({ fields }: ReplaceOperation): TerminalError {
  const about = fields.join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a create and did not apply it: ${about} still differs`)
}

async function replace(
  run: Reconciliation,
  wanted: Wanted,
  existing: RemoteObject,
  reason: WriteReason,
): Promise<Kept> {
  // An object that is not in the status yet would be forgotten if this process died before its successor was stored.
  if (run.unstored) {
    const message = `replacing ${existing.id} by a new object`
    await run.write({ type: 'progressing', reason: reasons.Progressing, message, existing: true })
    refuseTaken(run, existing)
  }
  return { remote: made(run, wanted, await replaceObject(run, wanted, existing, reason)), made: reason }
}

async function created(run: Reconciliation, wanted: Wanted, reason: WriteReason): Promise<Kept> {
  return { remote: made(run, wanted, await createObject(run, wanted, reason)), made: reason }
}

/** The object that a POST has just created; notes what was sent. */
function made(run: Reconciliation, wanted: Wanted, id: string): RemoteObject {
  // Stored together with the id.
  run.noteInternal({ inputsFingerprint: wanted.inputs.fingerprint, references: appliedReferences(wanted) })
  const object = run.session.cache.get(run.collection, id)?.object
  if (object === undefined) throw new Error(`the answer for ${id} did not enter the cache`)
  return object
}

/** @throws WaitError while an object that was repeatedly deleted at the API must wait. */
async function createdOrMadeAgain(run: Reconciliation, wanted: Wanted): Promise<Kept> {
  const { clock, times } = run.context
  const { memory } = run
  if (!memory.isLost) return created(run, wanted, writeReasons.spec)
  // Wait at least until the loss of the previous object could have been noticed.
  const pause = pauseBeforeNext(memory.remakes, clock.monotonic(), times.readLagMs)
  if (pause > 0) {
    const message =
      'the object was deleted at the API, and so was the one before: find out what does that; another is made in a while'
    throw new WaitError(reasons.RemoteMissing, message, Math.ceil(pause))
  }
  const kept = await created(run, wanted, writeReasons.drift)
  memory.isLost = undefined
  memory.remakes = countedRepeat(memory.remakes, clock.monotonic(), times.readLagMs)
  return kept
}

function noteVanished(run: Reconciliation, id: string): void {
  const { context, cr } = run
  run.memory.isLost = true
  // If creating it again is refused, the status must not go on naming an object that is gone.
  run.note({ id: undefined, uri: undefined, createdAt: undefined })
  context.metrics.drift(cr.kind, DELETED)
  const message = `${id} was deleted at the API: making it again`
  context.events.record(cr, { type: 'Warning', reason: 'RemoteDeleted', message })
}

/** The field name under which the drift metric counts a deleted object. */
const DELETED = 'deleted'

/**
 * Executes the plan, in order. Afterwards the plan must be empty; an API that accepts a write and ignores it is named
 * in a condition.
 */
async function apply(
  run: Reconciliation,
  wanted: Wanted,
  remote: RemoteObject,
  { reason, isNew }: { readonly reason: WriteReason; readonly isNew: boolean },
): Promise<Observed> {
  let observed = await observeChildren(run, remote)
  if (isNew) noteChosen(run, wanted, observed)
  const operations = planFor(run, wanted, observed)
  const again = operations.find((operation) => operation.type === 'replace')
  if (again !== undefined) throw notApplied(again)
  const contested = operations.length === 0 ? undefined : contestAbout(run, wanted, operations, observed)
  if (contested !== undefined) {
    if (run.memory.ignored === contested) throw ignored(operations)
    refuseContest(run, contested, operations)
    await refuseSilencing(run, operations)
    // Nothing refers yet to an object that this run created.
    if (!isNew && run.descriptor.children !== undefined) await refuseShutOut(run, wanted, observed)
    refuseUnsaidRestriction(run, operations, observed.remote)
    await refuseTakenChildren(run, observed)
    announce(run, operations)
    await prepare(run, operations, observed)
    await execute(run, wanted, observed.remote.id, operations, reason)
    observed = await observeChildren(
      run,
      run.session.cache.get(run.collection, observed.remote.id)?.object ?? observed.remote,
    )
    noteChosen(run, wanted, observed)
  }
  run.noteInternal({ inputsFingerprint: wanted.inputs.fingerprint, references: appliedReferences(wanted) })
  const left = operations.length === 0 ? [] : planFor(run, wanted, observed)
  if (left.length > 0) {
    // The answer shows that another client has changed the object meanwhile: handle that like any other drift.
    if (!left.every((operation) => wasWritten(operation, operations))) {
      throw new WaitError(reasons.Progressing, describeAll(left), 0, true)
    }
    run.memory.ignored = contestAbout(run, wanted, left, observed)
    throw ignored(left)
  }
  run.memory.ignored = undefined
  await settleChildren(run, observed.remote)
  run.noteInternal(appliedAfter(run.descriptor, run.cr, run.status))
  if (contested !== undefined) noteTurn(run, contested)
  return observed
}

/** Right after a write, a difference in a field that the write left open is the service's choice. */
function noteChosen(run: Reconciliation, { desired }: Wanted, { remote }: Observed): void {
  run.noteInternal({ chosen: chosenByServer(run.descriptor, desired, remote) })
}

/** Whether everything that an operation would write was already written. */
function wasWritten(operation: Operation, written: readonly Operation[]): boolean {
  if (operation.type !== 'update' || 'target' in operation) {
    return written.some((each) => describe(each) === describe(operation))
  }
  const fields = written.flatMap((each) => (each.type === 'update' && !('target' in each) ? each.fields : []))
  return operation.fields.every((field) => fields.includes(field))
}

/**
 * Reported once for the same spec and the same state. The write is not repeated until one of them changes or a
 * reconcile is requested.
 */
function ignored(operations: readonly Operation[]): TerminalError {
  const about = operations.map(describe).join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a write and did not apply it: ${about}`)
}

/**
 * Children are listed separately from their object: one that carries another resource's marker may be the first sign
 * that both were taken over.
 */
async function refuseTakenChildren(run: Reconciliation, { remote, children }: Observed): Promise<void> {
  if (!children.some((child) => isTakenChild(run, child))) return
  const now = await confirm(run, run.collection, remote.id)
  if (now !== undefined) refuseTaken(run, now)
}

function appliedReferences({ references }: Wanted) {
  return references.applied.length === 0 ? undefined : references.applied
}

/** Makes durable, or certain, whatever the first write of a plan depends on. */
async function prepare(run: Reconciliation, operations: readonly Operation[], observed: Observed): Promise<void> {
  const { cr, descriptor, internal } = run
  const { remote } = observed
  const intent = { ...descriptor.intent(cr.spec, internal), ...appliedBefore(descriptor, cr, run.status) }
  const stored = internalOf(cr)
  const intended = !equalJSON({ ...stored, ...intent }, stored)
  if (run.unstored || intended) {
    noteKindStatus(run, observed)
    run.noteInternal(intent)
    await run.write({
      type: 'progressing',
      reason: reasons.Progressing,
      message: describeAll(operations),
      existing: true,
    })
    // Now that the ownership is stored, another CR may turn out to have stored the same meanwhile.
    refuseTaken(run, remote)
  }
  if (operations.some((operation) => replacesMarker(descriptor, operation, remote))) await noteOwnership(run, remote.id)
  const createsChild = operations.some((operation) => 'target' in operation && operation.type === 'create')
  if (createsChild) await quarantineChildren(run, remote, describeAll(operations))
}

function replacesMarker(descriptor: ManagedDescriptor, operation: Operation, remote: RemoteObject): boolean {
  return (
    operation.type === 'update' &&
    !('target' in operation) &&
    descriptor.markedBy in operation.body &&
    markerOf(remote) !== undefined &&
    parseMarker(operation.body[descriptor.markedBy]) === undefined
  )
}

/**
 * `rawMetadata`, or the name of a bot, is about to replace the marker: record the object in the CR's annotation
 * instead.
 */
async function noteOwnership(run: Reconciliation, id: string): Promise<void> {
  const { namespace = '', name } = nameOf(run.cr)
  const note = formatOwnership({ namespace, name, uid: run.cr.metadata.uid, id }, (text) => run.session.seal(text))
  if (run.cr.metadata.annotations?.[REMOTE_ID] === note) return
  await run.patchMetadata({ annotations: { [REMOTE_ID]: note } })
}

/** `result`, reconciled again after `ms` if that is sooner. */
function pollingAgain(result: ReconcileResult, ms: number | undefined): ReconcileResult {
  const { outcome } = result
  if (ms === undefined || (outcome.type === 'after' && outcome.ms <= ms)) return result
  return {
    ...result,
    outcome: { type: 'after', ms: pollIn(ms), reason: 'a former object is to be deleted', priority: 'poll' },
  }
}

/** Executes a plan, in order. Placeholders are deleted at the end. */
async function execute(
  run: Reconciliation,
  { references }: Wanted,
  parentId: string,
  operations: readonly Operation[],
  reason: WriteReason,
): Promise<void> {
  const placeholders: string[] = []
  for (const operation of operations) {
    if (operation.type === 'replace') throw new Error('a replacement is carried out before other writes')
    if (!('target' in operation)) {
      references.confirm()
      await run.context.inFlight.during(run.session, references.ids, () => {
        return noteUnanswered(run, () => sendUpdate(run, parentId, operation, reason))
      })
      continue
    }
    const made = await executeChild(run, operation, reason)
    if (made !== undefined && operation.type === 'create' && operation.placeholder) placeholders.push(made)
  }
  for (const id of placeholders) await executeChild(run, { type: 'delete', id, about: 'placeholder' }, reason)
}
