import {
  type CustomResource,
  generationOf,
  internalOf,
  nameOf,
  nameText,
  type ResourceName,
  type TargetKey,
} from '../cr.ts'
import type { Ref } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { ReferenceGrant } from '../descriptor/grant.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import { selects } from '../descriptor/label-selector.ts'
import type { Resources } from '../run/context.ts'

/** Looks up resources and namespaces. */
type Known = Pick<Resources, 'get' | 'namespace'>

/** A reference that names a resource of another namespace. */
export interface CrossReference {
  readonly kind: string
  readonly ref: Ref
}

/**
 * The state of a reference across namespaces. `refused` is the same whether the resource exists or not. `withdrawn`:
 * the reference is in use and was granted when its spec was applied, but is granted no longer; the resource may be
 * gone.
 */
export type Crossing =
  | { readonly type: 'granted'; readonly target: CustomResource }
  | { readonly type: 'withdrawn'; readonly target: CustomResource | undefined }
  | { readonly type: 'refused' }

/** The name of the CR that a reference by name leads to. */
export function referredName(cr: CustomResource, { kind, ref }: CrossReference): ResourceName {
  return { kind, namespace: ref.namespace ?? cr.metadata.namespace, name: ref.name ?? '' }
}

/** Whether a reference by name leads out of the namespace of `cr`. */
export function crosses(cr: CustomResource, { namespace }: Ref): boolean {
  return namespace !== undefined && namespace !== cr.metadata.namespace
}

/** The state of a reference that leads out of the namespace of `cr`. */
export function crossingOf(known: Known, cr: CustomResource, reference: CrossReference): Crossing {
  const target = known.get(referredName(cr, reference))
  if (target !== undefined && isGranted(known, target, cr.metadata.namespace)) return { type: 'granted', target }
  const isInUse = appliedReference(cr, reference)?.generation === generationOf(cr)
  return isInUse ? { type: 'withdrawn', target } : { type: 'refused' }
}

/** Whether the grants of `target` permit references from another namespace. */
export function isGranted(known: Pick<Known, 'namespace'>, target: CustomResource, namespace = ''): boolean {
  const { allowedReferences } = target.spec
  if (allowedReferences === undefined) return false
  return permits(allowedReferences, { name: namespace, labels: known.namespace(namespace)?.metadata.labels })
}

/** The entry of `status.internal.references` for a reference by name: what was last sent for it. */
export function appliedReference(cr: CustomResource, { kind, ref }: CrossReference): SentReference | undefined {
  const namespace = crosses(cr, ref) ? ref.namespace : undefined
  return internalOf(cr).references?.find((entry) => {
    return entry.kind === kind && entry.name === ref.name && entry.namespace === namespace
  })
}

export type SentReference = NonNullable<InternalStatus['references']>[number]

/** Names of the CRs that `cr` refers to, for the index that wakes referrers. */
export function namedTargets(descriptor: ManagedDescriptor, cr: CustomResource): readonly ResourceName[] {
  return descriptor.references.of(cr.spec).flatMap(({ kind, ref }) => {
    return ref.name === undefined ? [] : [referredName(cr, { kind, ref })]
  })
}

/** A resource that refers to one of another namespace, or to its object. */
export interface ForeignReferrer {
  readonly referrer: CustomResource
  /** The resources in its spec. */
  readonly names: readonly ResourceName[]
  /** Whether both are known to live in one account. */
  readonly inOneAccount: boolean
}

/**
 * Whether such a resource may block the target: it is permitted to refer to it, or its object already does. A spec
 * alone blocks nothing, and an id that was sent to another account names another object.
 */
export function countsAcross(
  known: Known,
  { referrer, names, inOneAccount }: ForeignReferrer,
  { ids = [], kind, name, namespace }: TargetKey,
): boolean {
  const isInUse = (internalOf(referrer).references ?? []).some((entry) => {
    const isNamed = name !== undefined && entry.name === name && entry.namespace === namespace
    return entry.kind === kind && (isNamed || (inOneAccount && ids.includes(entry.id)))
  })
  if (isInUse) return true
  const target = name === undefined || !inOneAccount ? undefined : known.get({ kind, namespace, name })
  if (target === undefined || !names.some((each) => nameText(each) === nameText(nameOf(target)))) return false
  return isGranted(known, target, referrer.metadata.namespace)
}

/** A namespace as grants see it. */
export interface GrantedNamespace {
  readonly name: string
  /** Undefined if namespaces are not watched. */
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** Whether any grant of a resource permits references from another namespace. */
export function permits(grants: readonly ReferenceGrant[] | undefined, { name, labels }: GrantedNamespace): boolean {
  return (grants ?? []).some(({ namespaces, namespaceSelector }) => {
    if (namespaces !== undefined) return namespaces.includes(name)
    return labels !== undefined && selects(namespaceSelector, labels)
  })
}
