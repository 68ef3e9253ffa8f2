import { writeReasons } from '../../telemetry/write-origin.ts'
import { awaitApproval } from '../approval/approval.ts'
import { isAdopting, isObserved, needsApproval, unresolvedAttempt } from '../cr.ts'
import { keepFinalizer } from '../delete/delete.ts'
import { pollIn } from '../descriptor/status.ts'
import { adopt } from '../identity/adopt.ts'
import { sweepCopies } from '../identity/copies.ts'
import { dropVoidAttempt, settleIdentity } from '../identity/create.ts'
import { findObject } from '../identity/find-object.ts'
import { namingHolder } from '../identity/name-holder.ts'
import { answerProblem, refuseAnswer } from '../identity/refused-answer.ts'
import { accompanied, keepCompanion } from '../outputs/companion.ts'
import { writeDerived } from '../outputs/derived.ts'
import { findToken, keepToken } from '../outputs/token-care.ts'
import { heldAlone, refuseShutOut, waitBeforeRestricting } from '../plan/api-access.ts'
import { apply } from '../plan/apply.ts'
import { resolveWanted, type Wanted } from '../plan/desired.ts'
import { createOrRecreate, keepOrReplace } from '../plan/make-object.ts'
import { observe } from '../plan/observe.ts'
import { retireFormer } from '../plan/retire-former.ts'
import { updateReason } from '../plan/write-reason.ts'
import { conclude } from '../status/conclude.ts'
import type { ReconcileResult } from '../status/result.ts'
import { awaitOwnLists } from './await-list.ts'
import { WaitError } from './errors.ts'
import type { Reconciliation } from './reconciliation.ts'

/**
 * Makes the account match the spec of a CR that is not being deleted: settles its identity, resolves its inputs, plans
 * and executes the writes.
 */
export async function converge(run: Reconciliation): Promise<ReconcileResult> {
  await awaitOwnLists(run)
  await run.session.cache.ensureListed(run.collection)
  const observed = isObserved(run.cr)
  // The outcome of a POST that may still be in flight must be known, whatever the spec asks for by now.
  const known = observed && unresolvedAttempt(run.cr) === undefined ? undefined : await settleIdentity(run)
  if (!needsApproval(run.cr)) run.note({ plan: undefined })
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
  const existing = adopting ? await adopt(run, wanted) : await findObject(run, known)
  waitBeforeRestricting(run, existing)
  if (run.descriptor.children === undefined) await refuseShutOut(run, wanted, heldAlone(existing))
  const token = await findToken(run)
  await awaitApproval(run, wanted, existing)
  const { remote, made } =
    existing === undefined ? await createOrRecreate(run, wanted) : await keepOrReplace(run, wanted, existing, token)
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
  const again = run.memory.identity.copies === undefined ? retireMs : 0
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

/** `result`, reconciled again after `ms` if that is sooner. */
function pollingAgain(result: ReconcileResult, ms: number | undefined): ReconcileResult {
  const { outcome } = result
  if (ms === undefined || (outcome.type === 'after' && outcome.ms <= ms)) return result
  return {
    ...result,
    outcome: { type: 'after', ms: pollIn(ms), reason: 'a former object waits to be deleted', priority: 'poll' },
  }
}
