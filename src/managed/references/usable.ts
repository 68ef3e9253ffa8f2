import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, internalOf, isDeleting, statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { FoundReference } from '../descriptor/references.ts'
import { childrenIn } from '../markers/children-in.ts'
import type { ManagedContext } from '../run/context.ts'
import type { MemberSession } from '../run/session.ts'
import { appliedReference, referredName } from './crossings.ts'
import { targetView } from './target-view.ts'

/** Decides whether the target of a reference is usable yet, from what is known of it. */

/** The inputs for resolving references. */
export interface Resolver {
  readonly context: ManagedContext
  readonly descriptor: ManagedDescriptor
  readonly session: MemberSession
  readonly cr: CustomResource
}

type TargetContext = Pick<ManagedContext, 'kinds' | 'resources'>

const MISSING = 'does not exist: create it or correct the name'

/**
 * Why `cr` would have to wait with a reference by name within its namespace; undefined if it need not: the target is
 * usable, or the object of `cr` has the reference already.
 */
export function refusalByName(
  context: TargetContext,
  cr: CustomResource,
  reference: Pick<FoundReference, 'kind' | 'ref'>,
): string | undefined {
  if (appliedReference(cr, reference) !== undefined) return undefined
  const target = context.resources.get(referredName(cr, reference))
  return target === undefined ? MISSING : refusalOf(context, reference, target, cr.metadata.namespace)
}

/** Why a new reference has to wait; undefined if it may be made. */
export function refusalOfReference(
  { context, cr, session }: Resolver,
  reference: FoundReference,
  target: CustomResource | undefined,
): string | undefined {
  const { kind, partOf, ref } = reference
  if (target === undefined) {
    if (ref.id === undefined) return MISSING
    const children = partOf === undefined ? knownChildren(context, session, kind, ref.id) : undefined
    return children && context.kinds.managedKind(kind)?.whole?.unusableObject(children)
  }
  const refusal = refusalOf(context, reference, target, cr.metadata.namespace)
  if (refusal === undefined || target.metadata.namespace === cr.metadata.namespace) return refusal
  // The reason concerns the owners in that namespace only.
  return isDeleting(target)
    ? 'is being deleted: refer to another'
    : 'cannot be referred to yet: a resource in another namespace must be Ready first'
}

/** Why a new reference to `target` has to wait, in words for readers of its namespace; undefined if it may be made. */
function refusalOf(
  context: TargetContext,
  { kind, partOf }: Pick<FoundReference, 'kind' | 'partOf'>,
  target: CustomResource,
  reader: string | undefined,
): string | undefined {
  if (isDeleting(target)) return 'is being deleted'
  if (statusOf(target).id === undefined) {
    return isUnlistable(target) ? 'is not created yet: the API does not list its collection' : 'is not created yet'
  }
  return partOf === undefined
    ? context.kinds.managedKind(kind)?.whole?.unusable(targetView(context, target, reader))
    : undefined
}

function isUnlistable({ status }: CustomResource): boolean {
  return status?.conditions?.some(({ reason }) => reason === reasons.CollectionNotListable) ?? false
}

/**
 * The children of an object that no CR manages, without those that CRs are about to delete; undefined for a kind that
 * does not need them, and for an object that the account does not show: the API itself refuses its id.
 */
function knownChildren(
  { kinds, resources }: ManagedContext,
  { cache, key }: MemberSession,
  kind: string,
  id: string,
): readonly RemoteObject[] | undefined {
  const { children, whole } = kinds.managedKind(kind) ?? {}
  if (children === undefined || whole === undefined) return undefined
  const collections = kinds.collectionsOf(kind)
  if (collections.every((collection) => cache.get(collection, id)?.object === undefined)) return undefined
  return childrenIn(cache, children, id).filter((child) => {
    const holder = resources.holderOf(key, child.id)
    return holder === undefined || !isDeleting(holder)
  })
}

/**
 * Whether the CR's object already has the reference by id: according to the status or, if that does not say yet, the
 * account.
 */
export function isApplied(
  { cr, descriptor, session }: Resolver,
  { kind, partOf, ref: { id = '' } }: FoundReference,
): boolean {
  const { id: own } = statusOf(cr)
  const { references = [] } = internalOf(cr)
  if (references.some((entry) => entry.kind === kind && entry.id === id)) return true
  if (own === undefined) return false
  // An object belongs to its whole from its creation.
  if (partOf !== undefined) return true
  const object = session.cache.get(descriptor.identity.collectionOf(cr.spec), own)?.object
  return (
    object !== undefined &&
    descriptor.references.kinds.some((each) => each.kind === kind && each.idsIn(object).includes(id))
  )
}
