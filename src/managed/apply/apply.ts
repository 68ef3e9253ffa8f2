import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import { internalOf, nameOf, statusOf, unresolvedAttempt } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { contestAbout } from '../identity/contest.ts'
import { refuseTaken } from '../identity/taken-over.ts'
import { recordUnanswered, waitBeforeCreate } from '../identity/unanswered.ts'
import { markerOf, parseMarker } from '../markers/marker.ts'
import { formatOwnership } from '../markers/sealed-note.ts'
import { REMOTE_ID } from '../names.ts'
import { announce, createNotApplied, describe, describeAll, writeNotApplied } from '../plan/announce.ts'
import { appliedAfter, appliedBefore } from '../plan/left-alone.ts'
import { intendedModules } from '../plan/modules.ts'
import type { Observed, Operation, UpdateOperation } from '../plan/plan.ts'
import { planFor, recallChosen, recordChosen } from '../plan/remaining.ts'
import { recordSent, referencesKept, type Wanted } from '../plan/wanted.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { ApplyMemory } from './apply-memory.ts'
import {
  awaitChildPosts,
  type ChildCreate,
  type ChildWrite,
  changeChild,
  createChildren,
  observeChildren,
  quarantineChildren,
} from './children.ts'
import { recordKindStatus } from './conclude.ts'
import { type Intent, passGates } from './gates.ts'
import { sendUpdate } from './send-update.ts'

/**
 * Executes the plan, in order. Afterwards the plan must be empty; an API that accepts a write and ignores it is named
 * in a condition.
 */
export async function apply(
  run: Reconciliation,
  wanted: Wanted,
  remote: RemoteObject,
  cause: ChildWrite,
): Promise<Observed> {
  const { isNew } = cause
  recallChosen(run)
  let observed = await observeChildren(run, remote)
  const operations = planFor(run, wanted, observed)
  const again = operations.find((operation) => operation.type === 'replace')
  if (again !== undefined) throw createNotApplied(again)
  const contested = operations.length === 0 ? undefined : contestAbout(run, wanted, operations, observed)
  if (contested !== undefined) {
    await passGates(run, { wanted, operations, observed, contested, isNew })
    announce(run, operations)
    await prepare(run, wanted, { operations, observed, isNew })
    await execute(run, wanted, observed.remote.id, operations, cause)
    observed = await observeChildren(
      run,
      run.session.cache.get(run.collection, observed.remote.id)?.object ?? observed.remote,
    )
  }
  recordSent(run, wanted)
  const left = operations.length === 0 ? [] : planFor(run, wanted, observed)
  if (left.length > 0) {
    // The answer shows that another client has changed the object meanwhile: handle that like any other drift.
    if (!left.every((operation) => wasWritten(operation, operations))) {
      throw new WaitError(reasons.Progressing, describeAll(left), 0, true)
    }
    run.memory.of(ApplyMemory).ignored = contestAbout(run, wanted, left, observed)
    throw writeNotApplied(left)
  }
  run.memory.of(ApplyMemory).ignored = undefined
  // What the spec has named meanwhile is no choice of the service any more.
  if (run.internal.chosen !== undefined) recordChosen(run, wanted, observed.remote)
  await awaitChildPosts(run, observed.remote)
  run.recordInternal(appliedAfter(run.descriptor, run.cr, run.status))
  run.restored = contested
  return observed
}

/** Makes durable, or certain, whatever the first write of a plan depends on. */
async function prepare(
  run: Reconciliation,
  wanted: Wanted,
  { operations, observed, isNew }: Pick<Intent, 'operations' | 'observed' | 'isNew'>,
): Promise<void> {
  const { cr, descriptor, internal } = run
  const { remote } = observed
  const intent = {
    ...intendedModules(descriptor.modules, cr.spec, internal),
    ...appliedBefore(descriptor, cr, run.status),
    ...(operations.some(isUpdate) ? referencesKept(run, wanted) : {}),
  }
  const stored = internalOf(cr)
  const intended = !equalJSON({ ...stored, ...intent }, stored)
  // Whatever becomes of the plan, the status shows the object as it was found.
  recordKindStatus(run, observed)
  run.recordInternal(intent)
  if (intended || (run.unstored && !(isNew && isFoundByAttempt(run, operations, remote)))) {
    await run.store(describeAll(operations))
    // Now that the ownership is stored, another CR may turn out to have stored the same meanwhile.
    refuseTaken(run, remote)
  }
  if (operations.some((operation) => replacesMarker(descriptor, operation, remote)))
    await recordOwnership(run, remote.id)
  if (operations.some(addsOrRemoves)) await quarantineChildren(run, remote, describeAll(operations))
  if (operations.some(isChildCreate)) waitBeforeCreate(run, 'child')
}

/**
 * Whether a process that knows only the attempt would find the object that this run has created, whatever of the plan
 * is carried out: then its id is stored with the outcome, in one write. The object must keep the attempt's marker, and
 * a former object must not be waiting to be deleted.
 */
function isFoundByAttempt({ cr }: Reconciliation, operations: readonly Operation[], remote: RemoteObject): boolean {
  const attempt = unresolvedAttempt(cr)
  const isMarked = attempt !== undefined && markerOf(remote)?.nonce === attempt.nonce
  const addsOnly = operations.every(isChildCreate)
  return isMarked && addsOnly && statusOf(cr).id === undefined
}

function replacesMarker(descriptor: ManagedDescriptor, operation: Operation, remote: RemoteObject): boolean {
  return (
    isUpdate(operation) &&
    descriptor.identity.markedBy in operation.body &&
    markerOf(remote) !== undefined &&
    parseMarker(operation.body[descriptor.identity.markedBy]) === undefined
  )
}

/**
 * `rawMetadata`, or the name of a bot, is about to replace the marker: record the object in the CR's annotation
 * instead.
 */
async function recordOwnership(run: Reconciliation, id: string): Promise<void> {
  const { namespace = '', name } = nameOf(run.cr)
  const note = formatOwnership({ namespace, name, uid: run.cr.metadata.uid, id }, (text) => run.session.seal(text))
  if (run.cr.metadata.annotations?.[REMOTE_ID] === note) return
  await run.patchMetadata({ annotations: { [REMOTE_ID]: note } })
}

/** Executes a plan, in order. Placeholders are deleted at the end, the last one first. */
async function execute(
  run: Reconciliation,
  wanted: Wanted,
  parentId: string,
  operations: readonly Operation[],
  cause: ChildWrite,
): Promise<void> {
  const placeholders: string[] = []
  for (const step of stepsOf(operations)) {
    const [operation] = step
    if (operation === undefined) continue
    if (operation.type === 'replace') throw new Error('a replacement is executed before other writes')
    if (!('target' in operation)) await updateObject(run, wanted, parentId, operation, cause)
    else if (operation.type !== 'create') await changeChild(run, operation, cause)
    else {
      const made = await createChildren(run, step.filter(isChildCreate), cause)
      if (operation.placeholder) placeholders.push(...made)
    }
  }
  for (const id of placeholders.toReversed())
    await changeChild(run, { type: 'delete', id, about: 'placeholder' }, cause)
}

/** Operations that are sent together, in the order of the plan. */
function stepsOf(operations: readonly Operation[]): readonly (readonly Operation[])[] {
  const steps: Operation[][] = []
  for (const operation of operations) {
    if (isChildCreate(operation) && operation.together) steps.at(-1)?.push(operation)
    else steps.push([operation])
  }
  return steps
}

function addsOrRemoves(operation: Operation): boolean {
  return 'target' in operation && operation.type !== 'update'
}

function isUpdate(operation: Operation): operation is UpdateOperation {
  return operation.type === 'update' && !('target' in operation)
}

function isChildCreate(operation: Operation): operation is Operation & ChildCreate {
  return 'target' in operation && operation.type === 'create'
}

async function updateObject(
  run: Reconciliation,
  wanted: Wanted,
  id: string,
  operation: UpdateOperation,
  { reason }: ChildWrite,
): Promise<void> {
  const { references } = wanted
  references.recheck()
  await run.context.inFlight.during(run.session, references.ids, () => {
    return recordUnanswered(run, 'update', () => sendUpdate(run, id, operation, reason))
  })
  const answer = run.session.cache.get(run.collection, id)?.object
  if (answer !== undefined) recordChosen(run, wanted, answer)
}

/** Whether everything that an operation would write was already written. */
function wasWritten(operation: Operation, written: readonly Operation[]): boolean {
  if (!isUpdate(operation)) {
    return written.some((each) => describe(each) === describe(operation))
  }
  const fields = written.flatMap((each) => (isUpdate(each) ? each.fields : []))
  return operation.fields.every((field) => fields.includes(field))
}
