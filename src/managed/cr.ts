import type { KubeObject, ObjectKey } from '../kube/types.ts'
import type { WriteOrigin, WriteReason } from '../telemetry/write-origin.ts'
import { type AccountKey, accountKey } from './account-resource.ts'
import { type AccountName, type Attempt, parseAttempt } from './attempt.ts'
import type { CommonSpec, CommonStatus, Fields } from './descriptor/common.ts'
import type { InternalStatus } from './descriptor/internal.ts'
import { CREATE_ATTEMPT, FINALIZER, PAUSED } from './names.ts'

/**
 * A custom resource of a managed kind. Its spec is validated against the kind's schema before a descriptor receives it.
 */
export interface CustomResource extends KubeObject {
  readonly spec: CommonSpec
  readonly status?: CommonStatus & Fields
}

/** Identifies one CR across all kinds. */
export interface ResourceName extends ObjectKey {
  readonly kind: string
}

/** `Kind/namespace/name`; the text form of a name in queues, maps and logs. */
export function nameText({ kind, namespace, name }: ResourceName): string {
  return `${kind}/${namespace ?? ''}/${name}`
}

/** `Kind/name`, the form in messages within a namespace. */
export function shortName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`
}

export function nameOf(object: KubeObject): ResourceName {
  const { namespace, name } = object.metadata
  return { kind: object.kind, namespace, name }
}

export function statusOf(cr: CustomResource): CommonStatus & Fields {
  return cr.status ?? {}
}

/** Culvert's bookkeeping about the CR, as stored in Kubernetes. */
export function internalOf(cr: CustomResource): InternalStatus {
  return statusOf(cr).internal ?? {}
}

/** Ids of the objects that the CR with this status holds: its own, and superseded ones that are still to be deleted. */
export function heldIds({ id, internal }: CommonStatus): readonly string[] {
  const former = (internal?.superseded ?? []).map((entry) => entry.id)
  return id === undefined ? former : [id, ...former]
}

/** The target of references: a CR by its name, objects of its kind by their ids. */
export interface TargetKey {
  readonly kind: string
  readonly namespace?: string | undefined
  /** Absent for objects that no CR holds. */
  readonly name?: string | undefined
  readonly ids?: readonly string[]
  /** The account of the ids: another account may have the same ids. Without it, they match nothing. */
  readonly account?: AccountKey | undefined
}

/** How others refer to the CR: by its name in its own namespace, and by the ids that it holds in its account. */
export function targetKeyOf(cr: CustomResource): TargetKey {
  return { ...nameOf(cr), ids: heldIds(statusOf(cr)), account: recordedAccountKey(cr) }
}

/** The account in which the CR has, or may have, an object. */
export function recordedAccount(cr: CustomResource): AccountName | undefined {
  return statusOf(cr).accountRef ?? ownAttempt(cr)?.account
}

function recordedAccountKey(cr: CustomResource): AccountKey | undefined {
  const account = recordedAccount(cr)
  return account === undefined ? undefined : accountKey(account, cr.metadata.namespace ?? '')
}

/** The CR's own attempt; undefined when there is none or it was copied from another CR. */
export function ownAttempt(cr: CustomResource): Attempt | undefined {
  const attempt = parseAttempt(cr.metadata.annotations?.[CREATE_ATTEMPT])
  return attempt?.uid === cr.metadata.uid ? attempt : undefined
}

/** The CR's own attempt while its outcome is unknown. */
export function unresolvedAttempt(cr: CustomResource): Attempt | undefined {
  const attempt = ownAttempt(cr)
  return attempt !== undefined && !isSettled(cr, attempt) ? attempt : undefined
}

/**
 * Whether the status records what the create with that nonce made: the current object, or one that was replaced since.
 * The latter comes back with an old manifest, and taking its object again would undo the replacement.
 */
function isSettled(cr: CustomResource, { nonce }: Attempt): boolean {
  const { create, superseded = [] } = internalOf(cr)
  return create?.nonce === nonce || superseded.some((former) => former.nonce === nonce)
}

/** The CR carries an attempt that is not its own: it came back under another UID, or the annotation was copied. */
export function hasFormerAttempt(cr: CustomResource): boolean {
  return cr.metadata.annotations?.[CREATE_ATTEMPT] !== undefined && ownAttempt(cr) === undefined
}

/** The id of the existing object that the CR should observe or adopt instead of creating one. */
export function externalId(cr: CustomResource): string | undefined {
  return cr.spec.externalID
}

/**
 * Status only: the object is never written. The CRD requires a policy together with an id; without one, an
 * object that Culvert did not create is not changed.
 */
export function isObserved(cr: CustomResource): boolean {
  return (cr.spec.managementPolicy ?? (externalId(cr) === undefined ? 'Manage' : 'Observe')) === 'Observe'
}

/** What the spec asks for, deletion included, has to be approved first. */
export function needsApproval(cr: CustomResource): boolean {
  return cr.spec.managementPolicy === 'Plan'
}

/** The CR should adopt the object that it names, and has not done so yet. */
export function isAdopting(cr: CustomResource): boolean {
  const open = internalOf(cr).create === undefined && unresolvedAttempt(cr) === undefined
  return open && externalId(cr) !== undefined && !isObserved(cr)
}

/**
 * Whether the object stays when the CR is deleted. Culvert does not delete what it did not create, unless the spec says
 * so.
 */
export function retains(cr: CustomResource): boolean {
  if (isObserved(cr)) return true
  const adopted = statusOf(cr).adopted ?? isAdopting(cr)
  return (cr.spec.deletionPolicy ?? (adopted ? 'Retain' : 'Delete')) === 'Retain'
}

export function hasFinalizer(object: KubeObject): boolean {
  return object.metadata.finalizers?.includes(FINALIZER) ?? false
}

/** The finalizers of an object, including ours. */
export function withFinalizer(object: KubeObject): readonly string[] {
  const finalizers = object.metadata.finalizers ?? []
  return hasFinalizer(object) ? finalizers : [...finalizers, FINALIZER]
}

/** The finalizers of an object, without ours. */
export function withoutFinalizer(object: KubeObject): readonly string[] {
  return object.metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? []
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

export function isPaused(object: KubeObject): boolean {
  return object.metadata.annotations?.[PAUSED] === 'true'
}

/** How long a new resource waits before its conditions say so, in milliseconds. */
export const LONG_WAIT_MS = 30_000

/** Whether a CR that must be reconciled has no conditions yet. */
export function hasNoConditions(
  cr: KubeObject & { readonly status?: { readonly conditions?: readonly unknown[] } },
): boolean {
  return (cr.status?.conditions ?? []).length === 0 && !isDeleting(cr) && !isPaused(cr)
}

/** For which resource and why something is written to an account. */
export function originOf({ kind, metadata }: KubeObject, reason: WriteReason): WriteOrigin {
  const { namespace, name, uid } = metadata
  return { resource: { kind, namespace, name, uid }, reason }
}

export function generationOf(object: KubeObject): number {
  return object.metadata.generation ?? 0
}
