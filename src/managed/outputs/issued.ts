import type { RemoteObject } from '../../api/types.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import { heldIds, statusOf } from '../cr.ts'
import { deleteForSure } from '../identity/gone.ts'
import { pauseBeforeNext } from '../reconcile/damping.ts'
import { WaitError } from '../reconcile/errors.ts'
import type { Answer } from '../reconcile/memory.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'

/**
 * What keeps the outputs of the CR from being written from this object, as the API has returned it; undefined when
 * nothing does, or none are asked for.
 */
export function derivedProblem(
  { cr, descriptor: { output } }: Reconciliation,
  object: RemoteObject,
): string | undefined {
  if (output?.type !== 'derived' || output.target(cr.spec, cr.metadata.name) === undefined) return undefined
  return output.problem(object)
}

/** The same of the answer to a create, which alone has what the API tells once. */
function answeredProblem(run: Reconciliation, object: RemoteObject): string | undefined {
  const { output } = run.descriptor
  return output?.type === 'one-time' ? output.problem(object) : derivedProblem(run, object)
}

/**
 * Takes away what a create has made that is of no use, since what the API tells of it must not be written. The attempt
 * is over then, and left nothing behind; should this process die before, the one after it finds the object by its mark,
 * as any whose answer got lost.
 * @throws WaitError when it is gone, or while that is not certain.
 */
export async function refuseUnfit(run: Reconciliation, answer: Answer): Promise<void> {
  const problem = answeredProblem(run, answer.object)
  if (problem !== undefined) await refuseObject(run, answer, problem)
}

/** The same for the object of a create whose answer got lost, as a list shows it. */
export async function refuseUnfitFound(run: Reconciliation, found: Answer): Promise<void> {
  const problem = derivedProblem(run, found.object)
  if (problem !== undefined) await refuseObject(run, found, problem)
}

async function refuseObject(run: Reconciliation, answer: Answer, problem: string): Promise<never> {
  const { collection, context, cr, memory, session } = run
  const { nonce, number, object } = answer
  if (memory.refusing !== object.id) {
    memory.refusing = object.id
    const message = `the API answered the create of ${object.id} with ${problem}: nothing is written`
    context.events.record(cr, { type: 'Warning', reason: reasons.AnswerRefused, message })
  }
  // Until it is gone, the next run comes back to it.
  memory.answer = answer
  // An answer that names what somebody holds, this resource included, was no answer to a create.
  const isHeld =
    heldIds(statusOf(cr)).includes(object.id) || context.resources.holderOf(session.key, object.id) !== undefined
  if (!isHeld) await deleteForSure(run, collection, object.id, writeReasons.copy)
  memory.answer = undefined
  memory.refusing = undefined
  memory.refused = { nonce, number }
  // In a row: time that passes in peace says nothing, since nothing was made.
  memory.refusals = { count: (memory.refusals?.count ?? 0) + 1, at: context.clock.monotonic(), problem }
  throw refusedLately(run)
}

/** @throws WaitError while another create would come too early after the last one whose answer was refused. */
export function waitAfterRefusal(run: Reconciliation): void {
  if (refusalPause(run) > 0) throw refusedLately(run)
}

/** How long the next create has to wait since answers to the ones before were refused, in milliseconds. */
export function refusalPause({ context, memory }: Reconciliation): number {
  return pauseBeforeNext(memory.refusals, context.clock.monotonic())
}

export function refusedLately(run: Reconciliation): WaitError {
  const message =
    `the API answered a create with ${run.memory.refusals?.problem}: nothing of it was written, and the object was deleted at the API. Find out whether spec.baseURL ` +
    'of the account leads to the right API; another object is made in a while'
  return new WaitError(reasons.AnswerRefused, message, Math.ceil(refusalPause(run)))
}
