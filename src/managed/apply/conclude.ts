import { equalJSON } from '../../util/json.ts'
import { wasClockSet } from '../../util/noted-time.ts'
import { type CustomResource, retains, statusOf } from '../cr.ts'
import { type Holder, pollIn } from '../descriptor/readiness.ts'
import { PollMemory } from '../identity/read-object.ts'
import { recordMarker } from '../identity/taken-over.ts'
import { UnansweredMemory, unansweredMs } from '../identity/unanswered.ts'
import { markerOf } from '../markers/marker.ts'
import { intendedModules, modulesAtRest } from '../plan/modules.ts'
import type { Observed } from '../plan/plan.ts'
import { isGranted } from '../references/crossings.ts'
import { grantConditions } from '../references/grant-conditions.ts'
import { reportRotation } from '../rotation/rotation.ts'
import { isCommon } from '../run/conditions.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { RunResult } from '../run/result.ts'

/** Notes the status fields of the kind, and what is recorded of the object. */
export function recordKindStatus(run: Reconciliation, { remote, children }: Observed): void {
  const { cr, descriptor, internal } = run
  const intent = intendedModules(descriptor.modules, cr.spec, internal)
  const kept = { ...internal, ...intent }
  run.recordKind({
    ...descriptor.status.shown(remote, kept, cr.spec),
    ...descriptor.children?.status(children),
    ...reportRotation(run, remote).fields,
  })
  const settled = modulesAtRest(descriptor.modules, remote, kept)
  // An update without an answer may still write these fields: that would not be a change by another client.
  run.recordInternal(unansweredMs(run) > 0 ? { ...settled, ...intent } : settled)
}

/**
 * Milliseconds until an update without an answer must have ended, if it could still change something; otherwise
 * undefined. The spec may have changed since it was sent, and nothing else would show soon what it has written then.
 */
function restMs(run: Reconciliation, { remote }: Observed): number | undefined {
  const { context, descriptor, internal, memory } = run
  const { updateUnknownUntil = 0 } = memory.of(UnansweredMemory)
  if (updateUnknownUntil > context.clock.monotonic()) return updateUnknownUntil - context.clock.monotonic()
  const ms = unansweredMs(run)
  const settled = { ...internal, ...modulesAtRest(descriptor.modules, remote, internal) }
  return ms === 0 || equalJSON(settled, internal) ? undefined : ms
}

/** Notes the kind's status and returns the result, for an object that equals the spec. */
export function conclude(run: Reconciliation, observed: Observed): RunResult {
  const { context, cr, descriptor, memory, session } = run
  const { remote } = observed
  recordKindStatus(run, observed)
  recordMarker(run, remote)
  const unclaimed = descriptor.whole === undefined ? undefined : countUnclaimed(run, observed)
  const status = ofSameObject(run)
  const holderOf = (id: string): Holder | undefined => {
    const holder = context.resources.holderOf(session.key, id)
    return holder && { spec: holder.spec, status: statusOf(holder) }
  }
  const now = context.clock.now()
  const readiness = descriptor.status.readiness({ spec: cr.spec, remote, unclaimed, now, status, holderOf })
  const { ready, reason, message, stalled = false, conditions } = readiness
  const pollMs = sooner(readiness.pollMs, restMs(run, observed))
  const undeclared = session.access.granted === undefined ? undefined : readiness.undeclared
  const retained = run.status.adopted === true && retains(cr)
  const rotation = reportRotation(run, remote)
  const again = sooner(pollMs, rotation.pollMs)
  memory.of(PollMemory).scheduled({
    at: pollMs === undefined ? undefined : context.clock.monotonic() + pollMs,
    clockOffset: again === undefined ? undefined : offsetOf(run),
  })
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
 * The status, without the kind's conditions if they describe another object, such as one that was deleted at the API
 * and created again: their times are those of our clock, and an object's are those of the API's.
 */
function ofSameObject({ begunWith, status }: Reconciliation): Reconciliation['status'] {
  if (begunWith === status.id) return status
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => isCommon(type)) }
}

/**
 * The clock by which the next reconcile was scheduled. If the clock was set during the run, the schedule mixes both
 * settings: infinity then makes it count as mistimed.
 */
function offsetOf({ clockOffset, context: { clock } }: Reconciliation): number {
  return wasClockSet(clockOffset, clock) ? Number.POSITIVE_INFINITY : clockOffset
}

/**
 * Counts children that no CR holds or is about to hold: one just created by a part carries that part's marker. In a
 * shared account, a CR of another namespace counts only if the reference is granted.
 */
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
    const maker =
      marker === undefined || !descriptor.whole?.parts.includes(marker.kind) ? undefined : resources.get(marker)
    const made = maker?.metadata.uid === marker?.uid ? maker : undefined
    const holder = resources.holderOf(session.key, child.id) ?? made
    return holder === undefined || !mayClaim(holder)
  }).length
}

function sooner(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.min(left, right)
}
