import type { RemoteObject } from '../../api/types.ts'
import { digestOf } from '../../util/json.ts'
import { observeChildren } from '../apply/children.ts'
import { generationOf, isDeleting, needsApproval } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { readLive } from '../identity/read-object.ts'
import { otherParts } from '../markers/children-in.ts'
import { APPROVED_PLAN } from '../names.ts'
import type { Observed } from '../plan/plan.ts'
import { planContextOf, recallChosen } from '../plan/remaining.ts'
import { markerText, type Wanted } from '../plan/wanted.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { describeRequests, hashOfPlan, isPlanFor, shownPlan } from './pending-plan.ts'
import { deletion, deletionOf, type PlannedRequest, plannedRequests } from './planned-requests.ts'

/**
 * `managementPolicy: Plan`: what a new spec, or a deletion, would do to the account waits in `status.plan` until it is
 * approved. Once approved, a spec is kept like any other: drift is corrected and tokens rotate without another approval
 * (docs/decisions/0044-plans-that-wait-for-approval.md).
 */

/** How often a deletion that waits looks whether its namespace goes too, in milliseconds, where none are watched. */
const NAMESPACE_MS = 30_000
/** The annotation, or a watched namespace that goes, wakes the CR; this is the fallback, in milliseconds. */
const APPROVAL_MS = 3_600_000

/**
 * Lets the run go on if the spec is approved, or nothing follows from it.
 * @param existing the CR's object; undefined if one must be created
 * @throws WaitError while it waits for approval; the plan is in the status then.
 */
export async function awaitApproval(
  run: Reconciliation,
  wanted: Wanted,
  existing: RemoteObject | undefined,
): Promise<void> {
  if (!needsApproval(run.cr)) return
  const { inputs, references } = wanted
  const of = digestOf([run.cr.metadata.uid, generationOf(run.cr), references.applied, inputs.fingerprint])
  // What depends on the time, such as the validity of a certificate, must not make the plan another with every look.
  const asOf: Wanted = { ...wanted, desired: { ...wanted.desired, now: Date.parse(waitingSince(run, of)) } }
  await permit(run, of, APPROVAL_MS, async (isLive) => {
    if (existing === undefined) return planOf(run, asOf, undefined)
    const remote = isLive ? await readLive(run, run.collection, existing.id) : existing
    // The next run finds out the current state.
    if (remote === undefined) throw new WaitError(reasons.Progressing, `${existing.id} no longer exists`, 0, true)
    return planOf(run, asOf, await observeChildren(run, remote, isLive))
  })
}

/**
 * Lets a deletion go on if it is approved, or if its namespace is being deleted.
 * @param ids objects of the CR that would be deleted
 * @throws WaitError while it waits for approval; the plan is in the status then.
 */
export async function awaitApprovalOfDeletion(run: Reconciliation, ids: readonly string[]): Promise<void> {
  if (!needsApproval(run.cr) || ids.length === 0 || (await isNamespaceGoing(run))) return
  const of = digestOf([run.cr.metadata.uid, generationOf(run.cr), 'deletion'])
  const isWatched = run.context.resources.namespace(run.cr.metadata.namespace ?? '') !== undefined
  await permit(run, of, isWatched ? APPROVAL_MS : NAMESPACE_MS, () => ids.map((id) => deletionIn(run, id)))
}

function deletionIn(run: Reconciliation, id: string): PlannedRequest {
  const { collection, descriptor, session } = run
  const remote = session.cache.get(collection, id)?.object
  if (remote === undefined) return deletion(collection, id)
  return deletionOf({ collection, descriptor, others: otherParts(run, remote) }, remote)
}

/** Where namespaces are not watched, the RoleBinding that is held there tells: it is deleted with its namespace. */
async function isNamespaceGoing({ context: { holds, resources }, cr }: Reconciliation): Promise<boolean> {
  const { namespace = '' } = cr.metadata
  const seen = resources.namespace(namespace)
  return seen === undefined ? ((await holds?.isGoing(namespace)) ?? false) : isDeleting(seen)
}

/**
 * @param of digest of what would be approved
 * @param plan its requests; asked for again, from live state, before an approval counts
 */
async function permit(
  run: Reconciliation,
  of: string,
  retryMs: number,
  plan: (isLive: boolean) => readonly PlannedRequest[] | Promise<readonly PlannedRequest[]>,
): Promise<void> {
  const { approved } = run.internal
  if (approved?.of === of) return run.note({ plan: undefined })
  const origin = { of, after: approved?.plan }
  let requests = await plan(false)
  const given = run.cr.metadata.annotations?.[APPROVED_PLAN]
  if (requests.length > 0 && given === hashOfPlan(requests, origin)) requests = await plan(true)
  const hash = hashOfPlan(requests, origin)
  if (requests.length === 0) {
    run.note({ plan: undefined })
    return run.recordInternal({ approved: { ...approved, of } })
  }
  if (given !== hash) {
    run.note({ plan: shownPlan(requests, hash, waitingSince(run, of)) })
    throw waiting(run, requests, retryMs)
  }
  // Stored first: after a crash the approved plan continues, and nothing else needs the approval again.
  run.note({ plan: undefined })
  run.recordInternal({ approved: { of, plan: hash } })
  await run.store('executing the approved plan')
}

/** Since when the spec, or the deletion, waits for approval. */
function waitingSince({ context, status }: Reconciliation, of: string): string {
  const { plan } = status
  return plan !== undefined && isPlanFor(plan.hash, of) ? plan.since : new Date(context.clock.now()).toISOString()
}

function waiting({ cr }: Reconciliation, requests: readonly PlannedRequest[], retryMs: number): WaitError {
  const what = describeRequests(requests)
  const message = `waits for approval: ${what} (see status.plan). To approve: culvert approve ${cr.kind}/${cr.metadata.name}`
  return new WaitError(reasons.AwaitingApproval, message, retryMs)
}

/** @param observed undefined: there is no object */
function planOf(run: Reconciliation, wanted: Wanted, observed: Observed | undefined): readonly PlannedRequest[] {
  recallChosen(run)
  return plannedRequests({
    descriptor: run.descriptor,
    desired: wanted.desired,
    collection: run.collection,
    observed,
    others: observed && otherParts(run, observed.remote),
    context: planContextOf(run, wanted),
    marker: markerText(run.context, run.cr, '', run.cr.spec.metadata),
  })
}
