import type { RemoteObject } from '../../api/types.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { generationOf } from '../cr.ts'
import { awaitReplacement } from '../delete/part.ts'
import { reasons } from '../descriptor/reasons.ts'
import { createObject, dropAttempt } from '../identity/create.ts'
import { IdentityMemory } from '../identity/identity-memory.ts'
import { waitAfterRefusal } from '../identity/issued.ts'
import { replaceObject } from '../identity/replace.ts'
import { refuseTaken } from '../identity/taken-over.ts'
import { OutputMemory } from '../outputs/output-memory.ts'
import type { TokenState } from '../outputs/token.ts'
import { createNotApplied, rotationReason } from '../plan/announce.ts'
import { planReplacement, type ReplaceOperation } from '../plan/plan.ts'
import { recordChosen } from '../plan/remaining.ts'
import { recordSent, referencesKept, type Wanted } from '../plan/wanted.ts'
import { announceRotation, recordRotationFailure, rotationStep } from '../rotation/rotation.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { ApplyMemory } from './apply-memory.ts'
import { announceReissue, isReissueDue } from './token-care.ts'

/** The object that the CR has from now on. */
export interface Kept {
  readonly remote: RemoteObject
  /** Why it was created, if this run created it. */
  readonly made?: WriteReason
}

/**
 * The existing object, or the one that replaces it because a create-only field changed or its token must rotate or be
 * reissued.
 */
export async function keepOrReplace(
  run: Reconciliation,
  wanted: Wanted,
  existing: RemoteObject,
  token: TokenState,
): Promise<Kept> {
  const replacement = planReplacement(run.descriptor, wanted.desired, existing)
  if (replacement !== undefined) {
    const purpose = purposeOf(run, wanted, replacement)
    if (run.memory.of(ApplyMemory).replacedFor === purpose(existing)) throw createNotApplied(replacement)
    waitAfterRefusal(run)
    if (run.descriptor.replacement?.first === 'delete') await awaitReplacement(run)
    const message = `${replacement.fields.join(', ')} cannot be changed: replacing ${existing.id} with a new object`
    run.context.events.record(run.cr, { type: 'Normal', reason: 'Replacing', message })
    const successor = await replace(run, wanted, existing, writeReasons.replacement)
    run.memory.of(ApplyMemory).replacedFor = purpose(successor.remote)
    return successor
  }
  run.memory.of(ApplyMemory).replacedFor = undefined
  if (rotationStep(run, existing, token).type === 'due') return rotate(run, wanted, existing)
  if (!isReissueDue(run, token)) {
    await dropAttempt(run)
    return { remote: existing }
  }
  announceReissue(run, token)
  const successor = await replace(run, wanted, existing, writeReasons.reissue)
  run.memory.of(OutputMemory).reissued(run.context.clock.monotonic())
  return successor
}

/** Rotates: replaces `existing` by a new object of the same spec. `existing` stays in use if none can be created. */
async function rotate(run: Reconciliation, wanted: Wanted, existing: RemoteObject): Promise<Kept> {
  announceRotation(run, existing.id)
  try {
    return await replace(run, wanted, existing, rotationReason(run))
  } catch (error) {
    if (!recordRotationFailure(run, error)) throw error
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

async function replace(
  run: Reconciliation,
  wanted: Wanted,
  existing: RemoteObject,
  reason: WriteReason,
): Promise<Kept> {
  const kept = referencesKept(run, wanted)
  // An object that is not in the status yet would be forgotten if this process died before its successor was stored.
  if (run.unstored || kept.references !== undefined) {
    run.recordInternal(kept)
    await run.store(`replacing ${existing.id} with a new object`)
    refuseTaken(run, existing)
  }
  return { remote: made(run, wanted, await replaceObject(run, wanted, existing, reason)), made: reason }
}

/** @throws WaitError while an object that was repeatedly deleted at the API must wait. */
export async function createOrRecreate(run: Reconciliation, wanted: Wanted): Promise<Kept> {
  const { clock, times } = run.context
  const { memory } = run
  if (!memory.of(IdentityMemory).isLost) return created(run, wanted, writeReasons.spec)
  // Wait at least until the loss of the previous object could have been noticed.
  const pause = memory.of(IdentityMemory).pauseBeforeRemake(clock.monotonic(), times.readLagMs)
  if (pause > 0) {
    const message =
      'the object was deleted outside Culvert again: find out what deletes it; Culvert will recreate it after a pause'
    throw new WaitError(reasons.RemoteMissing, message, Math.ceil(pause))
  }
  const kept = await created(run, wanted, writeReasons.drift)
  memory.of(IdentityMemory).remade(clock.monotonic(), times.readLagMs)
  return kept
}

async function created(run: Reconciliation, wanted: Wanted, reason: WriteReason): Promise<Kept> {
  const kept = referencesKept(run, wanted)
  if (kept.references !== undefined) {
    run.recordInternal(kept)
    await run.store('recreating the object')
  }
  return { remote: made(run, wanted, await createObject(run, wanted, reason)), made: reason }
}

/** The object that a POST has just created; notes what was sent, and what the service made of it. */
function made(run: Reconciliation, wanted: Wanted, id: string): RemoteObject {
  // Stored together with the id.
  recordSent(run, wanted)
  const object = run.session.cache.get(run.collection, id)?.object
  if (object === undefined) throw new Error(`the response for ${id} was not cached`)
  // One that was found may have been made for an earlier spec.
  if (run.made === id) recordChosen(run, wanted, object)
  return object
}
