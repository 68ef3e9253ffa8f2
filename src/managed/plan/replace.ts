import { ApiError } from '../../api/errors.ts'
import type { RemoteObject } from '../../api/types.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { type CustomResource, generationOf, internalOf, statusOf, targetKeyOf, unresolvedAttempt } from '../cr.ts'
import type { Former } from '../descriptor/internal.ts'
import { createObject } from '../identity/create.ts'
import { copiesOf } from '../identity/create-step.ts'
import { deleteForSure, deleteObject, noteMade, settle } from '../identity/gone.ts'
import { markerOf, PLACEHOLDER_NONCE } from '../identity/marker.ts'
import { isNeighbours } from '../identity/taken-over.ts'
import { WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { dependentsOf, IN_USE_MS, referrersInReach } from '../references/dependents.ts'
import { overlapLeft } from '../rotation/rotation.ts'
import { reasons } from '../status/reasons.ts'
import { markerText, type Wanted } from './desired.ts'

/**
 * Replaces an object by a new one. With `first: create`, the old one stays in `status.internal.superseded` until
 * nothing refers to it; with `first: delete`, it is deleted first, with a placeholder if one is needed.
 * @returns the new object's id, noted but not stored.
 */
export async function replaceObject(
  run: Reconciliation,
  wanted: Wanted,
  former: RemoteObject,
  reason: WriteReason,
): Promise<string> {
  const { collection, descriptor } = run
  if (descriptor.replacement?.first === 'delete') {
    await createPlaceholder(run, wanted, former, reason)
    await deleteForSure(run, collection, former.id, reason)
    run.note({ id: undefined, uri: undefined, createdAt: undefined })
  }
  return createObject(run, wanted, reason, former)
}

/**
 * Creates the object that exists while neither the old nor the new one does. It carries our marker and is later deleted
 * as a copy.
 */
async function createPlaceholder(
  run: Reconciliation,
  wanted: Wanted,
  remote: RemoteObject,
  reason: WriteReason,
): Promise<void> {
  const { collection, context, cr, descriptor, session } = run
  if (descriptor.replacement?.placeholder === undefined) return
  const settled = placeholdersSettle(run)
  const wait = settled - context.clock.monotonic()
  if (wait > 0) {
    const message = 'what is to stand in for the object may be on its way already: waiting before another is made'
    throw new WaitError(reasons.Progressing, message, Math.ceil(wait))
  }
  await session.cache.ensureListed(collection, { since: Math.max(run.begun, settled) })
  const all = [...session.cache.all(collection)]
  const marker = markerText(context, cr, PLACEHOLDER_NONCE)
  const body = descriptor.replacement.placeholder({ desired: wanted.desired, remote, all, marker })
  run.memory.copies = [remote.id]
  const own = copiesOf(all, cr.metadata.uid, run.status, context.installation)
  if (body === undefined || own.some((object) => markerOf(object)?.nonce === PLACEHOLDER_NONCE)) return
  try {
    noteMade(run, collection, (await session.cache.create(collection, body, run.because(reason))).id)
  } catch (error) {
    if (!(error instanceof ApiError) || !error.definite) {
      run.memory.placeholderUnknownUntil = context.clock.monotonic() + context.times.requestTimeoutMs
    }
    throw error
  }
}

/**
 * Monotonic time when every POST of a placeholder sent by this process, or the one before it, has ended: a list that
 * begins then shows the result.
 */
function placeholdersSettle({ context: { leadership, times }, memory }: Reconciliation): number {
  return Math.max(leadership.leadingSince() + times.requestTimeoutMs, memory.placeholderUnknownUntil ?? 0)
}

/**
 * Ensures that the lists show every placeholder of this CR. One whose POST got no answer, or was sent by this process
 * before a restart, would otherwise be left behind when the CR is deleted. @throws WaitError while such a POST may
 * still take effect.
 */
export async function revealPlaceholders(run: Reconciliation): Promise<void> {
  const { collection, cr, descriptor, memory, session } = run
  const { clock } = run.context
  if (descriptor.replacement?.placeholder === undefined) return
  if (wasAtRest(cr) && memory.placeholderUnknownUntil === undefined) return
  const since = placeholdersSettle(run)
  const wait = since - clock.monotonic()
  if (wait > 0) {
    const message = 'what stood in for the object may still come about: waiting to take it away too'
    throw new WaitError(reasons.Deleting, message, Math.ceil(wait))
  }
  await session.cache.ensureListed(collection, { since })
}

/** Whether the spec was fully applied before the CR was deleted; the deletion itself counts as a generation. */
function wasAtRest(cr: CustomResource): boolean {
  const synced = statusOf(cr).conditions?.find(({ type }) => type === 'Synced')
  return synced?.status === 'True' && (synced.observedGeneration ?? 0) >= generationOf(cr) - 1
}

/**
 * Deletes superseded objects of the CR that have no dependents left. Only stored state counts: until the status names
 * the successor, the old object is all there is.
 * @returns milliseconds until the next check; undefined when none is left.
 */
export async function retireFormer(run: Reconciliation): Promise<number | undefined> {
  const { superseded = [] } = run.internal
  if (superseded.length === 0) return undefined
  if (run.unstored || unresolvedAttempt(run.cr) !== undefined) return 0
  const left: Former[] = []
  let wait = Number.POSITIVE_INFINITY
  for (const former of superseded) {
    const ms = await retire(run, former)
    if (ms === undefined) continue
    left.push(former)
    wait = Math.min(wait, ms)
  }
  run.noteInternal({ superseded: left.length === 0 ? undefined : left })
  if (left.length === 0) run.memory.retiringSince = undefined
  return left.length === 0 ? undefined : wait
}

/** @returns how long to wait until the next check, in milliseconds; undefined when the superseded object is gone. */
async function retire(run: Reconciliation, former: Former): Promise<number | undefined> {
  const { clock, events } = run.context
  const { id } = former
  const early = overlapLeft(run, former)
  if (early > 0) return early
  const existence = await settle(run, run.collection, id)
  if (existence.type === 'unsettled') return existence.ms
  // A status that was restored or copied may name another CR's object.
  if (existence.type === 'gone' || isNeighbours(run, existence.object)) return undefined
  if (referrersHold(run, id)) return IN_USE_MS
  if (await isKeyInUse(run, former)) return IN_USE_MS
  run.memory.retiringSince ??= clock.monotonic()
  const { collection, cr } = run
  const dependents = await dependentsOf(run, { kind: cr.kind, collection, id }, run.memory.retiringSince)
  if (dependents.length > 0 || referrersHold(run, id)) {
    // By the next check they may have gone: these lists will not count then.
    run.memory.retiringSince = undefined
    return IN_USE_MS
  }
  try {
    const deletion = await deleteObject(run, run.collection, id, writeReasons.superseded)
    if (typeof deletion !== 'string') return deletion.ms
  } catch (error) {
    if (error instanceof ApiError && error.code === 'Conflict') return IN_USE_MS
    throw error
  }
  events.record(run.cr, { type: 'Normal', reason: 'FormerDeleted', message: `deleted ${id}, which was replaced` })
  return undefined
}

/**
 * Whether an account uses, or may use, the token of a superseded object: revoking it would lock the operator out. An
 * account wakes its resources once it uses another key.
 */
async function isKeyInUse(run: Reconciliation, { id, digest, adopted }: Former): Promise<boolean> {
  const { context, cr, descriptor, memory } = run
  if (descriptor.output?.type !== 'one-time' || !descriptor.output.opensAccounts) return false
  if (digest === undefined && !adopted) return false
  const dependent = await context.keyDependents.dependentOf(cr, id, digest)
  if (dependent !== undefined && memory.keptFor !== id) {
    const key = adopted ? 'a key that no resource holds, and which it may be' : 'it'
    const message = `${id}, which was replaced, stays as long as ${dependent} works with ${key}`
    context.events.record(cr, { type: 'Normal', reason: 'FormerKept', message })
  }
  memory.keptFor = dependent === undefined ? undefined : id
  return dependent !== undefined
}

/**
 * Whether CRs hold the superseded object: those that still refer to it, and those that are creating an object, for
 * which they may have resolved the old id. Their next status write wakes this CR, so no list is needed.
 */
function referrersHold({ context, cr }: Reconciliation, id: string): boolean {
  return referrersInReach(context, targetKeyOf(cr), cr).some((referrer) => {
    const holds = internalOf(referrer).references?.some((reference) => reference.id === id) ?? false
    return holds || unresolvedAttempt(referrer) !== undefined
  })
}
