import { equalJSON } from '../../util/equal-json.ts'
import { wasClockSet } from '../../util/noted-time.ts'
import { type CustomResource, generationOf, retains, statusOf } from '../cr.ts'
import { pollIn } from '../descriptor/poll-interval.ts'
import { markerOf } from '../identity/marker.ts'
import { noteMark } from '../identity/taken-over.ts'
import { compareFingerprints } from '../inputs/fingerprints.ts'
import { markerText, type Wanted } from '../plan/desired.ts'
import { type Observed, type Operation, type PlanContext, plan } from '../plan/plan.ts'
import { unansweredMs } from '../plan/unanswered.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { isGranted } from '../references/crossings.ts'
import { grantConditions } from '../references/grant-conditions.ts'
import { reportRotation } from '../rotation/rotation.ts'
import type { ReconcileResult } from './result.ts'

/** The writes that are left to do, by what this run knows. */
export function planFor(run: Reconciliation, wanted: Wanted, observed: Observed): readonly Operation[] {
  return plan(run.descriptor, wanted.desired, observed, planContextOf(run, wanted))
}

/** What plans of this run depend on, beside spec and object. */
export function planContextOf(run: Reconciliation, wanted: Wanted): PlanContext {
  const { internal, status } = run
  const nonce = internal.create?.nonce
  return {
    // What others wrote into an adopted object stays, unless the spec says otherwise.
    markedMetadata:
      nonce === undefined || status.adopted ? undefined : markerText(run.context, run.cr, nonce, run.cr.spec.metadata),
    inputsChanged: haveInputsChanged(run, wanted),
    chosen: internal.chosen,
  }
}

/** Whether the inputs may differ from those that were sent. */
function haveInputsChanged({ cr, internal }: Reconciliation, { inputs }: Wanted): boolean {
  const compared = compareFingerprints(internal.inputsFingerprint, inputs.fingerprint)
  // Under a new salt nobody can tell: nothing is sent again for it, unless a new spec may name other inputs.
  return compared === 'unknown' ? statusOf(cr).observedGeneration !== generationOf(cr) : compared === 'different'
}

/** Notes status fields of the kind, and what is kept of the object. */
export function noteKindStatus(run: Reconciliation, { remote, children }: Observed): void {
  const { cr, descriptor, internal } = run
  const intent = descriptor.intent(cr.spec, internal)
  const kept = { ...internal, ...intent }
  run.noteKind({
    ...descriptor.status(remote, kept),
    ...descriptor.children?.status(children),
    ...reportRotation(run, remote).fields,
  })
  const settled = descriptor.internal(remote, kept)
  // What an update without an answer has yet to write is no stranger's when it comes.
  run.noteInternal(unansweredMs(run) > 0 ? { ...settled, ...intent } : settled)
}

/** When an update without an answer is surely over, where something may still come of it. Milliseconds from now. */
function restMs(run: Reconciliation, { remote }: Observed): number | undefined {
  const { descriptor, internal } = run
  const ms = unansweredMs(run)
  return ms === 0 || equalJSON({ ...internal, ...descriptor.internal(remote, internal) }, internal) ? undefined : ms
}

/** Status of the kind and the result, from an object that equals the spec. */
export function conclude(run: Reconciliation, observed: Observed): ReconcileResult {
  const { context, cr, descriptor, memory, session } = run
  const { remote } = observed
  noteKindStatus(run, observed)
  noteMark(run, remote)
  const unclaimed = descriptor.parts.length === 0 ? undefined : countUnclaimed(run, observed)
  const { status } = run
  const readiness = descriptor.readiness({ spec: cr.spec, remote, unclaimed, now: context.clock.now(), status })
  const { ready, reason, message, stalled = false, conditions } = readiness
  const pollMs = sooner(readiness.pollMs, restMs(run, observed))
  const undeclared = session.access.granted === undefined ? undefined : readiness.undeclared
  const retained = run.status.adopted === true && retains(cr)
  const rotation = reportRotation(run, remote)
  const again = sooner(pollMs, rotation.pollMs)
  memory.clockOffset = again === undefined ? undefined : offsetOf(run)
  memory.pollAt = pollMs === undefined ? undefined : context.clock.monotonic() + pollMs
  return {
    state:
      undeclared !== undefined
        ? { type: 'undeclared', ready: message, message: undeclared }
        : ready
          ? { type: 'ready', message, retained }
          : { type: 'synced', reason, message, stalled, retained },
    conditions: [...(conditions ?? []), ...rotation.conditions, ...grantConditions(run)],
    outcome: again === undefined ? { type: 'done' } : { type: 'after', ms: pollIn(again), reason, priority: 'poll' },
  }
}

/**
 * By which clock it is planned when to look again. Where that was set in the middle of the run, some of the plan follows from the clock
 * before and some from the one after: it is by no clock that there will be.
 */
function offsetOf({ clockOffset, context: { clock } }: Reconciliation): number {
  return wasClockSet(clockOffset, clock) ? Number.POSITIVE_INFINITY : clockOffset
}

/** Children that no CR holds, nor is about to: what a part has just made bears its mark. In a shared account a CR of another namespace counts where that is granted. */
function countUnclaimed(
  { context: { resources }, cr, descriptor, session }: Reconciliation,
  { children }: Observed,
): number {
  const mayClaim = ({ metadata: { namespace } }: CustomResource): boolean => {
    const isShared = session.access.granted !== undefined
    return !isShared || namespace === cr.metadata.namespace || isGranted(resources, cr, namespace)
  }
  return children.filter((child) => {
    const marker = markerOf(child)
    const maker = marker === undefined || !descriptor.parts.includes(marker.kind) ? undefined : resources.get(marker)
    const made = maker?.metadata.uid === marker?.uid ? maker : undefined
    const holder = resources.holderOf(session.key, child.id) ?? made
    return holder === undefined || !mayClaim(holder)
  }).length
}

function sooner(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.min(left, right)
}
