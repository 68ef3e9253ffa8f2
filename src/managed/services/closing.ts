import { currentOf, isSettled } from '../composed/wanted.ts'
import { type CustomResource, internalOf, shortName, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { mayHoldObject } from '../references/dependents.ts'
import { refusalByName } from '../references/usable.ts'
import type { ManagedContext } from '../run/context.ts'
import { POLICY, type ServicePart } from './objects.ts'

/**
 * Keeps an Edge closed while it cannot be restricted as its Service requires. An Edge that waits for a policy continues
 * serving as it did, and that may be everyone (docs/decisions/0043-services-of-type-load-balancer.md).
 */

interface EdgeFields {
  readonly backend: { readonly enabled?: boolean }
  readonly hostports?: readonly object[]
  readonly ipRestriction?: { readonly ipPolicyRefs?: readonly PolicyReference[] } | null
}

interface PolicyReference {
  readonly name?: string
}

export type Known = Pick<ManagedContext, 'kinds' | 'resources'>

/** What is done about an Edge that may let in others than its Service asks for. */
export interface Closing {
  /** Whether the Edge has to turn off its Backend. Otherwise it lets no one in, and keeps asking for its policies. */
  readonly turnsOff: boolean
  /** Why it lets no one in, or does not yet. */
  readonly why: string
  /** The API refuses the policies; otherwise the Edge would have to wait for them. */
  readonly isRefused: boolean
}

/**
 * How to keep an Edge closed that cannot be restricted as `wanted` says; undefined if it can, already is, or need not
 * be. Whether the API refuses the restriction shows only once the Edge has asked for it: an Edge that serves is closed
 * then, and asks again when it is closed.
 */
export function closingOf(known: Known, edge: CustomResource, wanted: ServicePart): Closing | undefined {
  const waits = cannotRestrict(known, edge, wanted)
  if (waits !== undefined) return { turnsOff: true, why: waits, isRefused: false }
  const asked = policiesOf(fieldsOf(wanted))
  if (asked.length === 0) return undefined
  const refusal = refusedEdit(edge)
  const isTurnedOff = (edge.spec as unknown as Partial<EdgeFields>).backend?.enabled === false
  if (isTurnedOff) {
    // What would open it is asked for once nothing can overtake what closes it.
    const why = currentOf(edge)?.message ?? 'it is being reconciled'
    return isSettled(edge) ? undefined : { turnsOff: true, why, isRefused: refusal !== undefined }
  }
  const hasAsked = isSameSet(asked, policiesOf(edge.spec as unknown as EdgeFields))
  if (refusal === undefined || !hasAsked || isRestrictedBy(known, edge, asked)) return undefined
  return { turnsOff: letsIn(edge), why: refusal, isRefused: true }
}

/** Why the API refuses the current spec of an Edge. Its status then shows the modules as they were found. */
function refusedEdit(edge: CustomResource): string | undefined {
  const synced = currentOf(edge)
  const isRefused = synced?.status === 'False' && REFUSALS.some((reason) => reason === synced.reason)
  return isRefused ? synced.message : undefined
}

const REFUSALS = [reasons.Rejected, reasons.Conflict] as const

interface Modules {
  readonly backend?: { readonly enabled: boolean }
  readonly ipRestriction?: { readonly enabled: boolean; readonly ipPolicyIDs?: readonly string[] }
}

function modulesOf(edge: CustomResource): Modules {
  return (statusOf(edge).modules ?? {}) as Modules
}

/** Whether its object has a Backend in use, as far as its status says. */
function letsIn(edge: CustomResource): boolean {
  return modulesOf(edge).backend?.enabled === true
}

/** Whether its object is restricted by exactly the policies of these names. */
function isRestrictedBy({ resources }: Known, edge: CustomResource, names: readonly string[]): boolean {
  const { ipRestriction } = modulesOf(edge)
  const ids = names.flatMap((name) => {
    const policy = resources.get({ kind: POLICY, namespace: edge.metadata.namespace, name })
    return (policy && statusOf(policy).id) ?? []
  })
  const isComplete = ids.length === names.length && ipRestriction?.enabled === true
  return isComplete && isSameSet(ids, ipRestriction.ipPolicyIDs ?? [])
}

/**
 * Why an Edge that may be serving cannot be restricted at once as `wanted` says; undefined if it can, already is, or
 * need not be. Without an object it has nothing to close, and is made with all of its policies.
 */
function cannotRestrict(known: Known, edge: CustomResource, wanted: ServicePart): string | undefined {
  const spec = fieldsOf(wanted)
  const asked = policiesOf(spec)
  if (asked.length === 0 || !mayHoldObject(edge) || isSameSet(asked, sentPolicies(edge))) return undefined
  for (const { kind, ref } of known.kinds.managedKind(edge.kind)?.references.of(spec as never) ?? []) {
    const refusal = refusalOf(known, edge, kind, ref)
    if (refusal !== undefined) return `${shortName({ kind, name: ref.name ?? '' })} ${refusal}`
  }
  return undefined
}

/**
 * `wanted` without a way in: it names no Backend that is in use, and of the policies that the Edge names already it
 * keeps those that it need not wait for, since it would wait with the rest, or that are in force already if the API
 * refuses others. It listens where it did.
 */
export function closed(
  known: Known,
  edge: CustomResource,
  wanted: ServicePart,
  { isRefused }: Pick<Closing, 'isRefused'>,
): ServicePart {
  const { hostports: _, ...spec } = fieldsOf(wanted)
  const sent = sentPolicies(edge)
  const kept = refsIn(edge.spec as unknown as EdgeFields).filter((ref) => {
    return isRefused ? sent.includes(ref.name ?? '') : refusalOf(known, edge, POLICY, ref) === undefined
  })
  const ipRestriction = kept.length === 0 ? null : { enabled: true, ipPolicyRefs: kept }
  return { ...wanted, content: { spec: { ...spec, backend: { ...spec.backend, enabled: false }, ipRestriction } } }
}

function refusalOf({ kinds, resources }: Known, edge: CustomResource, kind: string, ref: PolicyReference) {
  const refusal = refusalByName({ kinds, resources }, edge, { kind, ref })
  if (refusal !== undefined) return refusal
  const target = resources.get({ kind, namespace: edge.metadata.namespace, name: ref.name ?? '' })
  const account = resources.accountKeyOf(edge)
  const isElsewhere = target !== undefined && account !== undefined && !resources.livesIn(target, account)
  return isElsewhere ? 'is in another account: choose one in the account of the Service' : undefined
}

function fieldsOf({ content }: ServicePart): EdgeFields {
  return content.spec as EdgeFields
}

function refsIn({ ipRestriction }: EdgeFields): readonly PolicyReference[] {
  return ipRestriction?.ipPolicyRefs ?? []
}

function policiesOf(spec: EdgeFields): readonly string[] {
  return refsIn(spec).flatMap(({ name }) => name ?? [])
}

/** The policies by which the object of the Edge restricts for certain: a write may have dropped any other. */
function sentPolicies(edge: CustomResource): readonly string[] {
  return (internalOf(edge).references ?? []).flatMap(({ kind, name }) => (kind === POLICY ? (name ?? []) : []))
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  const [one, other] = [new Set(left), new Set(right)]
  return one.size === other.size && left.every((each) => other.has(each))
}
