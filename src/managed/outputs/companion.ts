import type { RemoteObject } from '../../api/types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { equalJSON } from '../../util/json.ts'
import { type CustomResource, statusOf } from '../cr.ts'
import type { CommonSpec, Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Companion } from '../descriptor/output.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import { isMarkedAsOwn, ownershipOf } from '../ownership.ts'
import { ConflictError, TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { kubeReason, type RunResult } from '../run/result.ts'
import { OutputMemory } from './output-memory.ts'
import { type CompanionTarget, readTarget, targetText } from './place.ts'
import { deleteFound, naming, notOurs, patchTarget, takeOwnership, withOwned } from './take-ownership.ts'

/** The condition about a companion, and when to check it again if no watch reports a change. */
export interface Accompanied {
  readonly condition?: KindCondition
  readonly pollMs?: number
}

/** How long it takes at most to notice that a type was installed. */
const UNINSTALLED_MS = 30_000
const REFUSED_MS = 600_000

/**
 * The companion that the CR requests or, by its status, has requested; undefined if it requests none, or never
 * got one.
 */
export function companionTarget(
  { companion }: Pick<ManagedDescriptor, 'companion'>,
  cr: CustomResource,
): CompanionTarget | undefined {
  if (companion === undefined || !(companion.isWanted(cr.spec) || isShown(companion, cr))) return undefined
  return shownReason(companion, cr) === reasons.DNSEndpointNotAllowed ? undefined : targetOf(companion, cr)
}

/**
 * Blocks the release of a retained CR while the operator may not write its companion: the garbage collector would
 * delete the companion, and with it what it publishes.
 */
export function refuseToStrand({ context, cr, descriptor: { companion } }: Reconciliation): void {
  if (companion === undefined || context.companions.policy.enabled) return
  if (!companion.isWanted(cr.spec) || !mayHaveOne(companion, cr)) return
  const about = targetText(targetOf(companion, cr))
  const message = `${about} would be deleted with the resource, and the operator is not permitted to release it. Run the operator with --dns-endpoints, or remove metadata.ownerReferences from ${about} and then spec.dns.endpoint from the resource`
  throw new WaitError(reasons.DNSEndpointKept, message, REFUSED_MS)
}

function targetOf({ type }: Companion<CommonSpec>, { metadata: { name } }: CustomResource): CompanionTarget {
  return { kind: type.kind, name, type }
}

function isShown(companion: Companion<CommonSpec>, cr: CustomResource): boolean {
  return shownReason(companion, cr) !== undefined
}

function shownReason({ condition }: Companion<CommonSpec>, cr: CustomResource): string | undefined {
  return statusOf(cr).conditions?.find(({ type }) => type === condition)?.reason
}

/** Reasons that mean that none of ours exists. */
const HAS_NONE: ReadonlySet<string> = new Set([
  reasons.DNSEndpointNotAllowed,
  reasons.NotNeeded,
  reasons.CRDNotInstalled,
  reasons.OutputNotOwned,
])

/** Whether one of ours may exist, according to the status; for operators that may not read companions. */
function mayHaveOne(companion: Companion<CommonSpec>, cr: CustomResource): boolean {
  const reason = shownReason(companion, cr)
  return reason !== undefined && !HAS_NONE.has(reason)
}

/**
 * Makes the companion match the spec, or deletes it; writes only what differs. Errors are reported in its own condition
 * and do not affect the CR otherwise.
 */
export async function keepCompanion(run: Reconciliation, remote: RemoteObject): Promise<Accompanied> {
  const { companion } = run.descriptor
  if (companion === undefined) return {}
  try {
    const { policy } = run.context.companions
    if (!companion.isWanted(run.cr.spec)) {
      if (policy.enabled) await dismiss(run, companion)
      return {}
    }
    const refusal = notAllowed(run, companion)
    const isNeeded = companion.content(run.cr.spec, remote, {}) !== undefined
    if (refusal === undefined || (policy.enabled && !isNeeded)) return await keep(run, companion, remote)
    if (!isNeeded) return told(companion, 'True', reasons.NotNeeded, companion.notNeeded)
    return await leave(run, companion, refusal)
  } catch (error) {
    return trouble(companion, run.cr, error)
  }
}

/**
 * Leaves the companion unchanged, since the answer that it would be made from is not used. One that the spec no longer
 * asks for is deleted all the same.
 * @param problem what is wrong with the answer
 */
export async function leaveCompanion(run: Reconciliation, problem: string): Promise<Accompanied> {
  const { companion } = run.descriptor
  if (companion === undefined) return {}
  try {
    if (!companion.isWanted(run.cr.spec)) {
      if (run.context.companions.policy.enabled) await dismiss(run, companion)
      return {}
    }
    const refusal = notAllowed(run, companion) ?? {
      none: reasons.AnswerRefused,
      kept: reasons.AnswerRefused,
      why: problem,
    }
    return await leave(run, companion, refusal)
  } catch (error) {
    return trouble(companion, run.cr, error)
  }
}

/** Why nothing is written into a companion now, with the reasons to use if none of ours exists and if one does. */
interface Refusal {
  readonly none: Reason
  readonly kept: Reason
  readonly why: string
}

function notAllowed({ context, cr }: Reconciliation, companion: Companion<CommonSpec>): Refusal | undefined {
  const why = companion.notAllowed(cr.spec, context.companions.policy)
  return why === undefined ? undefined : { none: reasons.DNSEndpointNotAllowed, kept: reasons.DNSEndpointKept, why }
}

async function keep(run: Reconciliation, companion: Companion<CommonSpec>, remote: RemoteObject): Promise<Accompanied> {
  const { context, cr, memory } = run
  const target = targetOf(companion, cr)
  memory.of(OutputMemory).dismissed = undefined
  const found = await naming(target, () => readTarget(context.kube, cr, target))
  const content = companion.content(cr.spec, remote, specOf(found))
  if (content === undefined) {
    // Whether a domain needs records never changes: an answer without them deletes none.
    if (ownershipOf(found, cr).type === 'own') return forgotten(companion, target)
    return told(companion, 'True', reasons.NotNeeded, companion.notNeeded)
  }
  if (found === undefined && !(await isServed(context.kube, target, cr))) return notInstalled(companion)
  context.companions.watch(companion.type)
  const ownership = ownershipOf(found, cr)
  if (ownership.type === 'foreign') throw notOurs(target, ownership.owner)
  if (found === undefined || !isMarkedAsOwn(found, cr) || !holds(found, content)) {
    const object = await takeOwnership(run, target, { spec: content })
    const spec = companion.content(cr.spec, remote, specOf(object)) ?? {}
    if (!holds(object, spec)) await naming(target, () => patchTarget(run, target, object, { spec }))
  }
  return told(companion, 'True', reasons.InSync, `${targetText(target)} is up to date`)
}

function forgotten(companion: Companion<CommonSpec>, target: CompanionTarget): Accompanied {
  const message = `${targetText(target)} is not changed: the API no longer returns the records that the domain needed before; ${companion.toRemove}`
  return told(companion, 'False', reasons.AnswerRefused, message)
}

/** Creates none. An existing one stays unchanged: what it publishes may be in use, and no one asked to delete it. */
async function leave(run: Reconciliation, companion: Companion<CommonSpec>, refusal: Refusal): Promise<Accompanied> {
  const { none, kept, why } = refusal
  const { context, cr } = run
  const target = targetOf(companion, cr)
  const hasOne = context.companions.policy.enabled
    ? ownershipOf(await naming(target, () => readTarget(context.kube, cr, target)), cr).type === 'own'
    : mayHaveOne(companion, cr)
  if (!hasOne) return told(companion, 'False', none, why)
  return told(companion, 'False', kept, `${targetText(target)} is not changed: ${why}`)
}

/** Deletes ours. If the status does not mention one, it can only exist after a crash: searched for once. */
async function dismiss(run: Reconciliation, companion: Companion<CommonSpec>): Promise<void> {
  const { cr, memory } = run
  const shown = isShown(companion, cr)
  if (!shown && memory.of(OutputMemory).dismissed) return
  try {
    await remove(run, targetOf(companion, cr))
  } catch (error) {
    // An operator whose CRs never ask for companions need not have permission to read them.
    if (shown || !(error instanceof KubeError) || error.code !== 'Forbidden') throw error
  }
  memory.of(OutputMemory).dismissed = true
}

async function remove(run: Reconciliation, target: CompanionTarget): Promise<void> {
  await withOwned(run, target, (found) => deleteFound(run, target, found))
}

/** Whether the apiserver serves the type: reading one object cannot tell, a list can. */
async function isServed(kube: KubeClient, { type }: CompanionTarget, { metadata }: CustomResource): Promise<boolean> {
  try {
    await kube.list({ ...type, metadataOnly: true }, { namespace: metadata.namespace, limit: 1 })
    return true
  } catch (error) {
    if (error instanceof KubeError && error.code === 'NotFound') return false
    throw error
  }
}

function specOf(object: KubeObject | undefined): Fields {
  return (object?.spec as Fields | undefined) ?? {}
}

function holds(object: KubeObject, content: Fields): boolean {
  const spec = specOf(object)
  return Object.entries(content).every(([field, value]) => equalJSON(spec[field], value))
}

function trouble(companion: Companion<CommonSpec>, cr: CustomResource, error: unknown): Accompanied {
  if (error instanceof TerminalError) return told(companion, 'False', error.code, error.message, REFUSED_MS)
  if (error instanceof WaitError) return told(companion, 'False', error.code, error.message, error.retryMs)
  if (!(error instanceof KubeError)) throw error
  // The next reconcile finds out whether the object is gone, or its whole type.
  if (error.code === 'NotFound') throw new ConflictError(error)
  if (error.code !== 'Forbidden' && error.code !== 'Invalid') throw error
  const about = targetText(targetOf(companion, cr))
  return told(companion, 'False', kubeReason(error), `${about}: ${error.message}`, REFUSED_MS)
}

function notInstalled(companion: Companion<CommonSpec>): Accompanied {
  const { kind, group, version } = companion.type
  const message = `there is no ${kind} of ${group}/${version} in this cluster: ${companion.remedy}`
  return told(companion, 'False', reasons.CRDNotInstalled, message, UNINSTALLED_MS)
}

function told(
  { condition }: Companion<CommonSpec>,
  status: KindCondition['status'],
  reason: Reason,
  message: string,
  pollMs?: number,
): Accompanied {
  return {
    condition: { type: condition, status, reason, message },
    ...(pollMs === undefined ? {} : { pollMs }),
  }
}

/** `result`, extended by the condition of the companion. */
export function withCompanionCondition(result: RunResult, { condition, pollMs }: Accompanied): RunResult {
  const { conditions = [], outcome } = result
  const said = condition === undefined ? result : { ...result, conditions: [...conditions, condition] }
  const sooner = outcome.type === 'after' && outcome.ms <= (pollMs ?? Number.POSITIVE_INFINITY)
  if (pollMs === undefined || sooner) return said
  return { ...said, outcome: { type: 'after', ms: pollMs, reason: condition?.reason ?? '', priority: 'poll' } }
}
