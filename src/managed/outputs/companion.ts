import type { RemoteObject } from '../../api/types.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { type CustomResource, statusOf } from '../cr.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { Companion } from '../descriptor/companion.ts'
import type { Fields, KindCondition, ManagedDescriptor } from '../descriptor/descriptor.ts'
import { ConflictError, TerminalError, WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { type Reason, reasons } from '../status/reasons.ts'
import type { ReconcileResult } from '../status/result.ts'
import { claim, naming, notOurs, patchTarget } from './claim.ts'
import { isClaimed, ownershipOf } from './ownership.ts'
import { type CompanionTarget, readTarget, targetText } from './place.ts'
import { deleteFound, withOwned } from './with-owned.ts'

/** What is to be said of a companion, and when to look at it again if nothing tells of a change. */
export interface Accompanied {
  readonly condition?: KindCondition
  readonly pollMs?: number
}

/** That a type gets installed is noticed so soon. */
const UNINSTALLED_MS = 30_000
const REFUSED_MS = 600_000

/**
 * The object that the CR asks for beside itself, or did by what its status says; undefined when it asks for none, or
 * never got one.
 */
export function companionTarget(
  { companion }: Pick<ManagedDescriptor, 'companion'>,
  cr: CustomResource,
): CompanionTarget | undefined {
  if (companion === undefined || !(companion.isWanted(cr.spec) || isShown(companion, cr))) return undefined
  return shownReason(companion, cr) === reasons.DNSEndpointNotAllowed ? undefined : targetOf(companion, cr)
}

/**
 * Keeps a CR that is retained from being let go of while the operator may not touch a companion that goes with it: the
 * garbage collector would delete what it publishes.
 */
export function refuseToStrand({ context, cr, descriptor: { companion } }: Reconciliation): void {
  if (companion === undefined || context.companions.policy.enabled) return
  if (!companion.isWanted(cr.spec) || !mayHaveOne(companion, cr)) return
  const about = targetText(targetOf(companion, cr))
  const message = `${about} would be deleted with the resource, and the operator may not release it. Run it with --dns-endpoints, or take metadata.ownerReferences out of ${about} and then spec.dns.endpoint out of the resource`
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

/** Reasons that say that there is none of ours. */
const HAS_NONE: ReadonlySet<string> = new Set([
  reasons.DNSEndpointNotAllowed,
  reasons.NotNeeded,
  reasons.CRDNotInstalled,
  reasons.OutputNotOwned,
])

/** Whether there may be one of ours, as far as the status tells, where none may be read. */
function mayHaveOne(companion: Companion<CommonSpec>, cr: CustomResource): boolean {
  const reason = shownReason(companion, cr)
  return reason !== undefined && !HAS_NONE.has(reason)
}

/**
 * Makes the companion what the spec asks for, or takes it away: writes only what differs. The CR itself is none the
 * worse for trouble with it.
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
 * Leaves the companion as it is, since the answer that it would follow from is not used; one that the spec asks for no
 * more goes all the same.
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

/** Why nothing is put into a companion now, with the reasons where there is none of ours and where there is one. */
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
  memory.dismissed = undefined
  const found = await naming(target, () => readTarget(context.kube, cr, target))
  const content = companion.content(cr.spec, remote, specOf(found))
  if (content === undefined) {
    // Whether a domain needs records never changes: an answer that forgets them takes none away.
    if (ownershipOf(found, cr).type === 'own') return forgotten(companion, target)
    return told(companion, 'True', reasons.NotNeeded, companion.notNeeded)
  }
  if (found === undefined && !(await isServed(context.kube, target, cr))) return notInstalled(companion)
  context.companions.watch(companion.type)
  const ownership = ownershipOf(found, cr)
  if (ownership.type === 'foreign') throw notOurs(target, ownership.owner)
  if (found === undefined || !isClaimed(found, cr) || !holds(found, content)) {
    const object = await claim(run, target, { spec: content })
    const spec = companion.content(cr.spec, remote, specOf(object)) ?? {}
    if (!holds(object, spec)) await naming(target, () => patchTarget(run, target, object, { spec }))
  }
  return told(companion, 'True', reasons.InSync, `${targetText(target)} is as it should be`)
}

function forgotten(companion: Companion<CommonSpec>, target: CompanionTarget): Accompanied {
  const message = `${targetText(target)} stays as it is: the API names no records any more, which the domain needed before; ${companion.toRemove}`
  return told(companion, 'False', reasons.AnswerRefused, message)
}

/** Makes none. One that is there stays as it is: what it publishes may be in use, and nobody asked to take it away. */
async function leave(run: Reconciliation, companion: Companion<CommonSpec>, refusal: Refusal): Promise<Accompanied> {
  const { none, kept, why } = refusal
  const { context, cr } = run
  const target = targetOf(companion, cr)
  const hasOne = context.companions.policy.enabled
    ? ownershipOf(await naming(target, () => readTarget(context.kube, cr, target)), cr).type === 'own'
    : mayHaveOne(companion, cr)
  if (!hasOne) return told(companion, 'False', none, why)
  return told(companion, 'False', kept, `${targetText(target)} stays as it is: ${why}`)
}

/** Takes away what is ours. Without a word of it in the status there can be one only after a crash: looked for once. */
async function dismiss(run: Reconciliation, companion: Companion<CommonSpec>): Promise<void> {
  const { cr, memory } = run
  const shown = isShown(companion, cr)
  if (!shown && memory.dismissed) return
  try {
    await remove(run, targetOf(companion, cr))
  } catch (error) {
    // Who never asks for companions need not be allowed to look at them.
    if (shown || !(error instanceof KubeError) || error.code !== 'Forbidden') throw error
  }
  memory.dismissed = true
}

async function remove(run: Reconciliation, target: CompanionTarget): Promise<void> {
  await withOwned(run, target, (found) => deleteFound(run, target, found))
}

/** Whether the API server knows the type: a read of one object cannot tell, a list can. */
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
  // Whether the object went, or its type with it, the next look tells.
  if (error.code === 'NotFound') throw new ConflictError(error)
  if (error.code !== 'Forbidden' && error.code !== 'Invalid') throw error
  const about = targetText(targetOf(companion, cr))
  return told(companion, 'False', reasons.KubernetesError, `${about}: ${error.message}`, REFUSED_MS)
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

/** `result` with what is to be said of the companion. */
export function accompanied(result: ReconcileResult, { condition, pollMs }: Accompanied): ReconcileResult {
  const { conditions = [], outcome } = result
  const said = condition === undefined ? result : { ...result, conditions: [...conditions, condition] }
  const sooner = outcome.type === 'after' && outcome.ms <= (pollMs ?? Number.POSITIVE_INFINITY)
  if (pollMs === undefined || sooner) return said
  return { ...said, outcome: { type: 'after', ms: pollMs, reason: condition?.reason ?? '', priority: 'poll' } }
}
