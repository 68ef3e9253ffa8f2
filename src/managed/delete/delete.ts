import { isRefusal } from '../../api/errors.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import {
  type CustomResource,
  hasFinalizer,
  hasFormerAttempt,
  heldIds,
  internalOf,
  isDeleting,
  nameOf,
  nameText,
  ownAttempt,
  type ResourceName,
  retains,
  statusOf,
  targetKeyOf,
  unresolvedAttempt,
  withFinalizer,
  withoutFinalizer,
} from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { awaitOwnLists } from '../identity/await-list.ts'
import { deleteCopies } from '../identity/copies.ts'
import { resolveIdentity } from '../identity/create.ts'
import { deleteForSure, unlisted } from '../identity/gone.ts'
import { searchFor } from '../identity/read-object.ts'
import { revealPlaceholders } from '../identity/replace.ts'
import { markedObjects } from '../identity/take-object.ts'
import { isNeighbours, isTakenLive } from '../identity/taken-over.ts'
import { kubectlName, retainCommand } from '../kubectl.ts'
import { copiesOf } from '../markers/own-objects.ts'
import { refuseToStrand } from '../outputs/companion.ts'
import { release } from '../outputs/vacate.ts'
import { heldAlone, refuseLockout } from '../plan/lockout-guard.ts'
import { openSession } from '../references/account-choice.ts'
import {
  type Dependent,
  dependentsOf,
  IN_USE_MS,
  isPermanentlyExpired,
  namesOfDependents,
  referringDependents,
} from '../references/dependents.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { type RunResult, silent } from '../run/result.ts'
import type { MemberSession } from '../run/session.ts'
import { DeleteMemory } from './delete-memory.ts'
import { deletionOrder } from './key-in-use.ts'
import { awaitPart, isLeft } from './part.ts'

/**
 * Deletes a CR: waits for dependents, settles open creates, deletes its objects and copies, then removes the finalizer.
 */

/**
 * Lets a deletion go on if it may delete these objects.
 * @throws WaitError while it waits for approval
 */
export type ApproveDeletion = (run: Reconciliation, ids: readonly string[]) => Promise<void>

/** The account's session for a deletion. @throws WaitError naming the way out while the account cannot be used. */
export function sessionForDeletion({ context, cr }: Reconciliation): MemberSession {
  try {
    return openSession(context, cr)
  } catch (error) {
    if (!(error instanceof WaitError) || error.silent) throw error
    const message = `${error.message}. To finish the deletion and keep the remote object, set spec.deletionPolicy: Retain`
    throw new WaitError(error.code, message, error.retryMs)
  }
}

/** Whether the deletion of this CR involves the account: an object exists, or may exist. */
export function deletionNeedsAccount(run: Reconciliation): boolean {
  const { cr, descriptor } = run
  if (!hasFinalizer(cr) || retains(cr)) return false
  // During a replacement, only its placeholder may exist.
  const hasPlaceholder = descriptor.replacement?.placeholder !== undefined && internalOf(cr).create !== undefined
  return hasPlaceholder || statusOf(cr).id !== undefined || unresolvedAttempt(cr) !== undefined || hasFormerAttempt(cr)
}

/**
 * Completes the deletion of a CR: removes the object and its copies, then the finalizer. If the object is retained, the
 * finalizer is removed without any API call, so that this works with a revoked key too.
 * @param approve waits where the deletion of objects has to be approved first
 * @throws WaitError while the object has dependents, or an earlier create is not settled.
 */
export async function remove(run: Reconciliation, approve: ApproveDeletion): Promise<RunResult> {
  if (!hasFinalizer(run.cr) || run.memory.of(DeleteMemory).released) return silent
  if (retains(run.cr)) await releaseOutputs(run)
  else if (deletionNeedsAccount(run) && !isLeft(run)) await removeObject(run, approve)
  return await removeFinalizer(run)
}

async function releaseOutputs(run: Reconciliation): Promise<void> {
  refuseToStrand(run)
  await release(run, { companion: run.context.companions.policy.enabled })
}

/** Removes our finalizer: nothing of the CR is left at the API. */
export async function removeFinalizer(run: Reconciliation): Promise<RunResult> {
  await run.patchMetadata({ finalizers: withoutFinalizer(run.cr) })
  // After an etcd restore, the answer may show that no one has deleted the CR: it gets the finalizer again.
  run.memory.of(DeleteMemory).released = isDeleting(run.cr)
  return silent
}

async function removeObject(run: Reconciliation, approve: ApproveDeletion): Promise<void> {
  run.memory.of(DeleteMemory).deletingSince ??= run.context.clock.monotonic()
  refuseWhileReferred(run)
  await awaitOwnLists(run)
  await run.session.cache.ensureListed(run.collection)
  // Checked first, since it may need a person to act, and again once nothing else is waited for.
  await awaitNameRelease(run, heldIds(statusOf(run.cr)))
  await revealPlaceholders(run)
  const settled = await resolveIdentity(run)
  const former = internalOf(run.cr).superseded?.map(({ id }) => id) ?? []
  // The successor of a deleted object may be settled while the status still has the old id: delete both.
  const ids = new Set([settled, statusOf(run.cr).id, ...former])
  const held = [...ids].filter((id) => id !== undefined)
  const { cache } = run.session
  await awaitNameRelease(run, held)
  for (const id of held) {
    await refuseLockout(run, undefined, heldAlone(cache.get(run.collection, id)?.object))
  }
  // An object that belongs to another CR stays, even if accounts use its key.
  const isTaken = (id: string): boolean => isNeighbours(run, cache.get(run.collection, id)?.object ?? { id })
  const { others, last } = await deletionOrder(
    run,
    held.filter((id) => !isTaken(id)),
  )
  await approve(run, last === undefined ? others : [...others, last])
  for (const id of [...held.filter(isTaken), ...others]) await removeOne(run, id)
  await removeCopies(run, last)
  if (last === undefined) return
  run.memory.of(DeleteMemory).lastCallSent = true
  await removeOne(run, last)
}

/** Like `awaitPart`, but not once the objects are gone: then there is nothing left to decide. */
async function awaitNameRelease(run: Reconciliation, ids: readonly string[]): Promise<void> {
  const { cache } = run.session
  const areGone = ids.length > 0 && ids.every((id) => cache.isDeleted(run.collection, id)) && !hasCopies(run)
  if (!areGone) await awaitPart(run)
}

/** Whether objects with our marker are left, such as the placeholder of a replacement. */
function hasCopies(run: Reconciliation): boolean {
  return copiesOf(markedObjects(run), run.cr.metadata.uid, {}, run.context.installation).length > 0
}

async function removeOne(run: Reconciliation, id: string): Promise<void> {
  if (await isTakenLive(run, id)) return
  await refuseWhileUsed(run, id)
  // New referrers may have appeared while lists were awaited.
  refuseWhileReferred(run)
  run.memory.of(DeleteMemory).heldUp = undefined
  await deleteOwn(run, id)
  run.context.inFlight.forget(run.session, id)
}

/** Refuses while other CRs refer to this one and may have an object that depends on ours. */
function refuseWhileReferred(run: Reconciliation): void {
  const dependents = referringDependents(run, targetKeyOf(run.cr), (referrer) => !isPermanentlyExpired(run, referrer))
  if (dependents.length === 0) return
  recordHeldUp(run, dependents)
  // They may block the deletion for long: by the time they are gone, there may be new dependents.
  run.memory.of(DeleteMemory).deletingSince = undefined
  throw inUse(run, dependents)
}

/** Refuses while lists that began after the deletion was seen show objects that refer to ours. */
async function refuseWhileUsed(run: Reconciliation, id: string): Promise<void> {
  const { collection, context, cr, memory } = run
  const dependents = await dependentsOf(
    run,
    { kind: cr.kind, collection, id },
    memory.of(DeleteMemory).deletingSince ?? context.clock.monotonic(),
  )
  if (dependents.length === 0) return
  recordHeldUp(run, dependents)
  // By the next check they may have gone: these lists will not count then.
  run.memory.of(DeleteMemory).deletingSince = undefined
  throw inUse(run, dependents)
}

function inUse({ cr, descriptor }: Reconciliation, dependents: readonly Dependent[]): WaitError {
  const shown = namesOfDependents(dependents).slice(0, 5).join(', ')
  const more = dependents.length > 5 ? ` and ${dependents.length - 5} more` : ''
  const unmanaged = dependents.some(({ resource }) => resource === undefined)
    ? 'Users listed by collection and id are not managed by any resource here: delete them in the service. '
    : ''
  const passes = dependents.every(({ resource }) => resource !== undefined && isDeleting(resource))
  const remedy = passes ? '' : `. ${unmanaged}${keeping(cr, descriptor)}`
  return new WaitError(reasons.Deleting, `in use by ${shown}${more}${remedy}`, IN_USE_MS)
}

/** The way back, such as for a resource that was pruned with a commit that has been reverted since. */
function keeping(cr: CustomResource, { definition, identity }: ManagedDescriptor): string {
  const { id } = statusOf(cr)
  const isMarked = identity.markedBy === 'metadata' && cr.spec.rawMetadata === undefined
  // Without a marker, nothing but its id leads from the manifest to the object.
  const named = isMarked || id === undefined ? '' : ` with spec.externalID: ${id} and managementPolicy: Manage`
  const command = retainCommand(kubectlName(definition, cr.metadata))
  return `To restore the resource with its object, run this and apply the manifest again${named}: ${command}`
}

async function deleteOwn(run: Reconciliation, id: string): Promise<void> {
  if (run.session.cache.isDeleted(run.collection, id)) return
  try {
    const result = await deleteForSure(run, run.collection, id, writeReasons.deletion)
    const message = result === 'deleted' ? `deleted ${id}` : `${id} was already deleted`
    run.context.events.record(run.cr, { type: 'Normal', reason: 'Deleted', message })
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Its status does not tell an object in use from another refusal, so the reason claims neither.
    throw new WaitError(reasons.Rejected, `the API refuses: ${error.message}`, IN_USE_MS)
  }
}

/**
 * After more than one attempt, a late request may still have left a copy: one more list shows it. Objects that this
 * process created and no list shows yet are searched for.
 */
async function removeCopies(run: Reconciliation, kept: string | undefined): Promise<void> {
  const { context, cr, session } = run
  const attempts = ownAttempt(cr)?.number ?? 0
  if (attempts > 1) await session.cache.ensureListed(run.collection, { since: context.clock.monotonic() })
  for (const id of unlisted(run)) if (id !== kept) await searchFor(run, run.collection, id)
  const known = kept === undefined ? {} : { id: kept }
  const left = copiesOf(markedObjects(run), cr.metadata.uid, known, context.installation)
  await deleteCopies(run, left)
}

/**
 * Restores the finalizer of a CR with an object of its own if it was removed, by hand or by `culvert operator
 * --release`: without it, a deletion would leave the object behind.
 */
export async function keepFinalizer(run: Reconciliation): Promise<void> {
  const { id } = statusOf(run.cr)
  const { create } = internalOf(run.cr)
  if (id === undefined || create === undefined || hasFinalizer(run.cr)) return
  await run.patchMetadata({ finalizers: withFinalizer(run.cr) })
}

/**
 * Users of the namespace only learn that another namespace is involved. Which one is shown to administrators: in a
 * metric, and in the log once for each change.
 */
function recordHeldUp({ context, cr, memory }: Reconciliation, dependents: readonly Dependent[]): void {
  const others = dependents.flatMap(({ resource }) => {
    return resource === undefined || resource.metadata.namespace === cr.metadata.namespace ? [] : [nameOf(resource)]
  })
  const by = others.toSorted((left, right) => (nameText(left) < nameText(right) ? -1 : 1))
  const before = textOf(memory.of(DeleteMemory).heldUp?.by ?? [])
  if (textOf(by) === before) return
  memory.of(DeleteMemory).heldUp = by.length === 0 ? undefined : { resource: nameOf(cr), by }
  if (by.length === 0) return
  const { kind, namespace, name } = nameOf(cr)
  context.logger.warn(
    { kind, namespace, name, by: by.map(nameText) },
    'a deletion waits for resources of other namespaces',
  )
}

function textOf(names: readonly ResourceName[]): string {
  return names.map(nameText).join(' ')
}
