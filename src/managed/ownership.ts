import type { KubeObject, OwnerReference } from '../kube/types.ts'
import { shortName } from './cr.ts'
import { MANAGED_BY, OUTPUT_KEYS, OUTPUT_OF } from './names.ts'

/** The owner of an object into which a CR wants to write its outputs. */
export type Ownership =
  | { readonly type: 'absent' }
  /** The CR owns it. */
  | { readonly type: 'own' }
  /** A CR of the same name owned it under another UID, or released it when it was retained. */
  | { readonly type: 'namesake' }
  /** It must not be touched. `owner` says who owns it. */
  | { readonly type: 'foreign'; readonly owner: string }

/**
 * An object is never taken by its name alone: the owner reference decides, or the annotation of a CR that released it.
 */
export function ownershipOf(object: KubeObject | undefined, cr: KubeObject): Ownership {
  if (object === undefined) return { type: 'absent' }
  const { ownerReferences = [], annotations = {} } = object.metadata
  if (ownerReferences.some(({ uid }) => uid === cr.metadata.uid)) return { type: 'own' }
  const owner = ownerReferences.find(({ controller }) => controller === true) ?? ownerReferences[0]
  if (owner !== undefined) {
    return isNamesake(owner, cr) ? { type: 'namesake' } : { type: 'foreign', owner: shortName(owner) }
  }
  return annotations[OUTPUT_OF] === noteOf(cr) ? { type: 'namesake' } : { type: 'foreign', owner: 'someone else' }
}

function isNamesake({ apiVersion, kind, name }: OwnerReference, cr: KubeObject): boolean {
  return groupOf(apiVersion) === groupOf(cr.apiVersion) && kind === cr.kind && name === cr.metadata.name
}

/** Empty for the core group. */
function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
}

/** Labels by which people find what Culvert created. */
export const LABELS = { [MANAGED_BY]: 'culvert' } as const

/** Whether the object has everything that marks it as the CR's: owner reference, annotation and labels. */
export function isMarkedAsOwn(object: KubeObject, cr: KubeObject): boolean {
  const { annotations = {}, labels = {} } = object.metadata
  const isLabelled = Object.entries(LABELS).every(([name, value]) => labels[name] === value)
  return ownershipOf(object, cr).type === 'own' && annotations[OUTPUT_OF] === noteOf(cr) && isLabelled
}

/** Keys in the object that Culvert wrote, according to its annotation. */
export function keysWritten(object: KubeObject | undefined): readonly string[] {
  return namesNoted(object, OUTPUT_KEYS)
}

/** Names in an annotation of the object, as `keysNote` writes them. */
export function namesNoted(object: KubeObject | undefined, annotation: string): readonly string[] {
  return object?.metadata.annotations?.[annotation]?.split(',').filter((name) => name !== '') ?? []
}

/** Value of an annotation that `namesNoted` reads. */
export function keysNote(keys: readonly string[]): string {
  return [...new Set(keys)].sort((left, right) => (left < right ? -1 : 1)).join(',')
}

/** Value of the annotation `internal.culvert.dev/output-of`. */
export function noteOf(cr: KubeObject): string {
  return shortName({ kind: cr.kind, name: cr.metadata.name })
}

/**
 * The owner references of `object`, with ours as the controller and without those to CRs of the same name with another
 * UID.
 */
export function withOwner(object: KubeObject | undefined, cr: KubeObject): readonly OwnerReference[] {
  const { apiVersion, kind, metadata } = cr
  const own = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }
  return [...withoutOwner(object, cr).filter((owner) => !isNamesake(owner, cr)), own]
}

export function withoutOwner(object: KubeObject | undefined, cr: KubeObject): readonly OwnerReference[] {
  return (object?.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== cr.metadata.uid)
}
