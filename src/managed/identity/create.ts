import { isDefinite, isRefusal } from '../../api/errors.ts'
import type { RemoteObject } from '../../api/types.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { type Attempt, type CreateAnswer, formatAttempt } from '../attempt.ts'
import { externalId, internalOf, isDeleting, ownAttempt, statusOf, withFinalizer } from '../cr.ts'
import { CREATE_ATTEMPT } from '../names.ts'
import { reserveToken, storeToken } from '../outputs/token.ts'
import { planCreate } from '../plan/plan.ts'
import { markerText, type Wanted } from '../plan/wanted.ts'
import { recheckDefaultAccount } from '../references/account-choice.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { stepOf } from './create-step.ts'
import { recordCreated } from './gone.ts'
import { IdentityMemory } from './identity-memory.ts'
import { refusalPause, refuseUnfit, refuseUnfitFound, waitAfterRefusal } from './issued.ts'
import { afterForm, formToSend } from './other-form.ts'
import { recoverMarked, recoverObject } from './recovery.ts'
import { resolveUnknown } from './resolve-unknown.ts'
import { scanFor, take } from './take-object.ts'
import { lastingAbsence, UnansweredMemory } from './unanswered.ts'

/**
 * The create protocol (docs/decisions/0002-create-exactly-once.md): settles the outcome of every POST that was or may
 * have been sent, so that at rest there is exactly one object for each CR.
 */

/**
 * Settles any open attempt and returns the id of the CR's remote object; undefined if there is none.
 * @throws WaitError while the outcome of an earlier POST is unknown.
 */
export async function resolveIdentity(run: Reconciliation): Promise<string | undefined> {
  const step = stepOf(run)
  switch (step.type) {
    case 'settled':
      return step.id
    case 'store':
      // A CR that is being deleted needs no token.
      if (!isDeleting(run.cr)) {
        await refuseUnfit(run, step.answer)
        await storeToken(run, step.answer)
      }
      return take(run, step.answer.object, step.attempt)
    case 'resolve':
      return resolveUnknown(run, step.attempt, step.scan)
    case 'begin':
      return externalId(run.cr) === undefined ? recoverObject(run) : undefined
    // The object being replaced still exists.
    case 'attempt':
      return statusOf(run.cr).id ?? (await recoverMarked(run))
  }
}

/**
 * Creates the object, or the replacement of `former`: one durable attempt, then one POST. The id is noted and kept in
 * memory until it is stored.
 */
export async function createObject(
  run: Reconciliation,
  wanted: Wanted,
  reason: WriteReason,
  former?: RemoteObject,
): Promise<string> {
  const { context, collection, cr, memory, session } = run
  // Whatever the attempt refers to must not be held up by it for an hour.
  if (refusalPause(run) > 0) await dropVoidAttempt(run)
  waitAfterRefusal(run)
  await recheckDefaultAccount(context, cr, session.account)
  const step = stepOf(run)
  const nonce = step.type === 'attempt' ? step.nonce : context.random.hex(16)
  const created = run.descriptor.modules?.named(cr.spec) ?? []
  const earlier = step.type === 'attempt' ? (ownAttempt(cr)?.modules ?? []) : []
  const attempt: Attempt = {
    uid: cr.metadata.uid,
    number: step.type === 'attempt' ? step.number : 1,
    nonce,
    account: session.account,
    modules: [...new Set([...earlier, ...created])],
  }
  const body = planCreate(run.descriptor, wanted.desired, markerText(context, cr, nonce, cr.spec.metadata), former)
  const form = formToSend(run, body)
  const reserved = await reserveToken(run, attempt)
  await recordAttempt(run, attempt)
  // An etcd restore may bring back the previous attempt number. This one was sent since, so a scan must decide then.
  memory.of(IdentityMemory).voidAttempt = undefined
  memory.of(IdentityMemory).firstScanAt = undefined
  await recheckReferences(run, wanted, attempt)
  let answer: CreateAnswer
  try {
    const options = { ...run.originFor(again(reason, attempt)), priority: 'create' as const }
    const object = await context.inFlight.during(session, wanted.references.ids, () => {
      return memory.of(IdentityMemory).creates.send(context.clock.monotonic(), () => {
        return session.cache.create(collection, form, options)
      })
    })
    answer = { nonce, number: attempt.number, object }
  } catch (error) {
    const found = await afterFailedCreate(run, attempt, error)
    if (found === undefined) throw afterForm(run, body, unlessAbsent(run, wanted, error))
    await refuseUnfitFound(run, { ...attempt, object: found })
    return take(run, found, attempt)
  }
  memory.of(IdentityMemory).answer = answer
  memory.of(UnansweredMemory).written()
  memory.of(IdentityMemory).createdHere = true
  recordCreated(run, collection, answer.object.id)
  run.made = answer.object.id
  await refuseUnfit(run, answer)
  await storeToken(run, answer, reserved)
  return take(run, answer.object, attempt)
}

/**
 * Checks the references again now that the attempt is recorded. A search for dependents of a target finds the attempt
 * from now on; a target released before must not be used any more.
 */
async function recheckReferences(
  run: Reconciliation,
  { references }: Wanted,
  { nonce, number }: Attempt,
): Promise<void> {
  try {
    references.recheck()
  } catch (error) {
    run.memory.of(IdentityMemory).voidAttempt = { nonce, number }
    await dropVoidAttempt(run)
    throw error
  }
}

/**
 * Removes an attempt that certainly did nothing before the CR waits for its references: they may be waiting to be
 * deleted until the attempt is resolved.
 */
export async function dropVoidAttempt(run: Reconciliation): Promise<void> {
  if (stepOf(run).type === 'attempt') await dropAttempt(run)
}

/** A create that has no other cause repeats an earlier attempt of the same create. */
function again(reason: WriteReason, { number }: Attempt): WriteReason {
  return number > 1 && reason === writeReasons.spec ? writeReasons.recovery : reason
}

/**
 * Removes an attempt that is no longer needed: the spec changed back before it was sent, or it made an object that has
 * since been replaced, and came back with an old manifest. Once that object is forgotten, nothing would show that the
 * attempt is settled.
 */
export async function dropAttempt(run: Reconciliation): Promise<void> {
  const attempt = ownAttempt(run.cr)
  if (run.unstored || attempt === undefined || attempt.nonce === internalOf(run.cr).create?.nonce) return
  await run.patchMetadata({ annotations: { [CREATE_ATTEMPT]: null } })
  run.memory.of(IdentityMemory).voidAttempt = undefined
}

/**
 * One patch adds finalizer and attempt: without the finalizer the object could leak, without the attempt it could be
 * created twice.
 */
async function recordAttempt(run: Reconciliation, attempt: Attempt): Promise<void> {
  await run.patchMetadata({
    finalizers: withFinalizer(run.cr),
    annotations: { [CREATE_ATTEMPT]: formatAttempt(attempt) },
  })
}

/** Notes what a failed POST means for the attempt; returns the object if it turns out to exist. */
async function afterFailedCreate(
  run: Reconciliation,
  attempt: Attempt,
  error: unknown,
): Promise<RemoteObject | undefined> {
  const { clock, times } = run.context
  if (!isDefinite(error)) {
    run.memory.of(IdentityMemory).unknownUntil = clock.monotonic() + times.requestTimeoutMs
    return undefined
  }
  if (isRefusal(error) && (error.code === 'Conflict' || namesMayBeTaken(run))) {
    const [own] = await scanFor(run, attempt.nonce, clock.monotonic())
    if (own !== undefined) return own
  }
  if (!REFUSED.has(error.code) || attempt.number > 1) {
    // An earlier POST may still be in flight, or none was sent at all: the attempt stays, the next one needs no scan.
    run.memory.of(IdentityMemory).voidAttempt = { nonce: attempt.nonce, number: attempt.number }
    return undefined
  }
  await run.patchMetadata({ annotations: { [CREATE_ATTEMPT]: null } })
  return undefined
}

/** A 404 that lasts is about an object that the body names: the collection itself has just been listed. */
function unlessAbsent(run: Reconciliation, { references }: Wanted, error: unknown): unknown {
  const isAbsence = isDefinite(error) && error.code === 'NotFound'
  return isAbsence && references.ids.length > 0 ? lastingAbsence(run, 'POST', error) : error
}

/** Whether an object that the same request made before may be why the API refuses it. */
function namesMayBeTaken({ descriptor: { identity } }: Reconciliation): boolean {
  return identity.uniqueNames !== undefined || identity.markedBy === 'name'
}

/** The API refused the request itself: it would refuse it again. */
const REFUSED: ReadonlySet<string> = new Set(['Invalid', 'Conflict', 'Forbidden', 'NotFound', 'Unauthorized'])
