import type { RemoteObject } from '../../api/types.ts'
import { statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { leaveCompanion, withCompanionCondition } from '../outputs/companion.ts'
import { isCommon } from '../run/conditions.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { type RunResult, resultOf } from '../run/result.ts'

/** Why an answer about the CR's object must not be used; undefined if it may be. */
export function answerProblem({ cr, descriptor }: Reconciliation, remote: RemoteObject): string | undefined {
  return descriptor.status.answerProblem?.(cr.spec, remote)
}

/**
 * Ends a run whose object the API describes in a way that must not be used. Nothing more is written at the API, and
 * what was published before stays, since a wrong answer says nothing about it.
 */
export async function refuseAnswer(run: Reconciliation, { id }: RemoteObject, problem: string): Promise<RunResult> {
  const message = `${id}: ${problem}. This response is discarded, and earlier outputs are kept: find out in the service what happened to the object, or delete this resource`
  const result = resultOf(new TerminalError(reasons.AnswerRefused, message), run.status.id !== undefined, false)
  const { condition } = run.descriptor.companion ?? {}
  const kept = (statusOf(run.cr).conditions ?? []).filter(({ type }) => !isCommon(type) && type !== condition)
  return withCompanionCondition({ ...result, conditions: kept }, await leaveCompanion(run, problem))
}
