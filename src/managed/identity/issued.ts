import type { RemoteObject } from '../../api/types.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import type { CreateAnswer } from '../attempt.ts'
import { heldIds, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { deleteForSure } from './gone.ts'
import { IdentityMemory } from './identity-memory.ts'

/**
 * Why the outputs of the CR must not be written from this object, as the API returned it; undefined if they may be, or
 * none are asked for.
 */
export function derivedProblem(
  { cr, descriptor: { output } }: Reconciliation,
  object: RemoteObject,
): string | undefined {
  if (output?.type !== 'derived' || output.target(cr.spec, cr.metadata.name) === undefined) return undefined
  return output.problem(object)
}

/** Like `derivedProblem`, for the answer to a create, which alone has what the API returns only once. */
function answeredProblem(run: Reconciliation, object: RemoteObject): string | undefined {
  const { output } = run.descriptor
  return output?.type === 'one-time' ? output.problem(object) : derivedProblem(run, object)
}

/**
 * Deletes the object of a create whose answer must not be written, since it is of no use. The attempt is then over and
 * left nothing behind. If this process dies first, the next one finds the object by its marker, like any whose answer
 * was lost.
 * @throws WaitError once it is deleted, and while that is not certain.
 */
export async function refuseUnfit(run: Reconciliation, answer: CreateAnswer): Promise<void> {
  const problem = answeredProblem(run, answer.object)
  if (problem !== undefined) await refuseObject(run, answer, problem)
}

/** Like `refuseUnfit`, for the object of a create whose answer was lost, as a list shows it. */
export async function refuseUnfitFound(run: Reconciliation, found: CreateAnswer): Promise<void> {
  const problem = derivedProblem(run, found.object)
  if (problem !== undefined) await refuseObject(run, found, problem)
}

async function refuseObject(run: Reconciliation, answer: CreateAnswer, problem: string): Promise<never> {
  const { collection, context, cr, memory, session } = run
  const { object } = answer
  if (memory.of(IdentityMemory).refusing !== object.id) {
    memory.of(IdentityMemory).refusing = object.id
    const message = `the API returned ${problem} for the create of ${object.id}: nothing is written`
    context.events.record(cr, { type: 'Warning', reason: reasons.AnswerRefused, message })
  }
  memory.of(IdentityMemory).holdBack(answer)
  // An answer with the id of an object that a resource holds, this one included, did not answer a create.
  const isHeld =
    heldIds(statusOf(cr)).includes(object.id) || context.resources.holderOf(session.key, object.id) !== undefined
  if (!isHeld) await deleteForSure(run, collection, object.id, writeReasons.copy)
  memory.of(IdentityMemory).discard(answer)
  memory.of(IdentityMemory).refused(problem, context.clock.monotonic())
  throw refusedLately(run)
}

/** @throws WaitError while it is too early for another create after refused answers, or creates without one. */
export function waitAfterRefusal(run: Reconciliation): void {
  if (refusalPause(run) > 0) throw refusedLately(run)
}

/** How long the next create must wait because of refused answers, or creates without one, in milliseconds. */
export function refusalPause({ context, memory }: Reconciliation): number {
  const now = context.clock.monotonic()
  return Math.max(memory.of(IdentityMemory).pauseAfterRefusal(now), memory.of(IdentityMemory).creates.pauseMs(now))
}

export function refusedLately(run: Reconciliation): WaitError {
  const { context, memory } = run
  const { failure } = memory.of(IdentityMemory).creates
  // The message of the failure itself, so that the condition says the same before, while and after it waits.
  if (failure !== undefined && memory.of(IdentityMemory).pauseAfterRefusal(context.clock.monotonic()) === 0) {
    return new WaitError(reasons.ApiError, failure.message, Math.ceil(refusalPause(run)))
  }
  const message =
    `the API returned ${memory.of(IdentityMemory).refusedFor} for a create: nothing was written, and the object was deleted in the service. Check that spec.baseURL of the account ` +
    'is the right API; another object will be created later'
  return new WaitError(reasons.AnswerRefused, message, Math.ceil(refusalPause(run)))
}
