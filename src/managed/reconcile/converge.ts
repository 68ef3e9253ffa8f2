import type { RemoteObject } from '../../api/types.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import { apply } from '../apply/apply.ts'
import { conclude } from '../apply/conclude.ts'
import { writeDerived } from '../apply/derived.ts'
import { createOrRecreate, keepOrReplace } from '../apply/make-object.ts'
import { observe } from '../apply/observe.ts'
import { resolveWanted } from '../apply/resolve-wanted.ts'
import { retireFormer } from '../apply/retire-former.ts'
import { findToken, keepToken } from '../apply/token-care.ts'
import { isAdopting, isObserved, needsApproval, unresolvedAttempt } from '../cr.ts'
import { keepFinalizer } from '../delete/delete.ts'
import { pollIn } from '../descriptor/readiness.ts'
import { adopt } from '../identity/adopt.ts'
import { awaitOwnLists } from '../identity/await-list.ts'
import { sweepCopies } from '../identity/copies.ts'
import { dropVoidAttempt, resolveIdentity } from '../identity/create.ts'
import { findObject } from '../identity/find-object.ts'
import { IdentityMemory } from '../identity/identity-memory.ts'
import { namingHolder } from '../identity/name-holder.ts'
import { answerProblem, refuseAnswer } from '../identity/refused-answer.ts'
import { keepCompanion, withCompanionCondition } from '../outputs/companion.ts'
import { updateReason } from '../plan/announce.ts'
import { heldAlone, refuseLockout, waitBeforeRestricting } from '../plan/lockout-guard.ts'
import type { Wanted } from '../plan/wanted.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { RunResult } from '../run/result.ts'

/**
 * Lets the run go on if what the spec asks for may be done to the account.
 * @param existing the CR's object; undefined if one must be created
 * @throws WaitError while it waits for approval
 */
export type ApproveSpec = (run: Reconciliation, wanted: Wanted, existing: RemoteObject | undefined) => Promise<void>

/**
 * Makes the account match the spec of a CR that is not being deleted: settles its identity, resolves its inputs, plans
 * and executes the writes.
 * @param approve waits where what follows has to be approved first
 */
export async function converge(run: Reconciliation, approve: ApproveSpec): Promise<RunResult> {
  await awaitOwnLists(run)
  await run.session.cache.ensureListed(run.collection)
  const observed = isObserved(run.cr)
  // The outcome of a POST that may still be in flight must be known, whatever the spec asks for by now.
  const known = observed && unresolvedAttempt(run.cr) === undefined ? undefined : await resolveIdentity(run)
  if (!needsApproval(run.cr)) run.note({ plan: undefined })
  if (observed) return observe(run)
  await keepFinalizer(run)
  const wanted = await resolveOrLetGo(run)
  try {
    return await convergeTo(run, wanted, known, approve)
  } catch (error) {
    throw namingHolder(run, wanted, error)
  }
}

/** @param known id of the CR's object, if it has one */
async function convergeTo(
  run: Reconciliation,
  wanted: Wanted,
  known: string | undefined,
  approve: ApproveSpec,
): Promise<RunResult> {
  const adopting = isAdopting(run.cr)
  const existing = adopting ? await adopt(run, wanted) : await findObject(run, known)
  waitBeforeRestricting(run, existing)
  if (run.descriptor.children === undefined) await refuseLockout(run, wanted, heldAlone(existing))
  const token = await findToken(run)
  await approve(run, wanted, existing)
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
  const again = run.memory.of(IdentityMemory).copies === undefined ? retireMs : 0
  return pollingAgain(withCompanionCondition(conclude(run, applied), companion), again)
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
function pollingAgain(result: RunResult, ms: number | undefined): RunResult {
  const { outcome } = result
  if (ms === undefined || (outcome.type === 'after' && outcome.ms <= ms)) return result
  return {
    ...result,
    outcome: { type: 'after', ms: pollIn(ms), reason: 'a former object waits to be deleted', priority: 'poll' },
  }
}
