import { type CustomResource, internalOf, nameOf, shortName } from '../cr.ts'
import type { Ref } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { FoundReference, TargetView } from '../descriptor/references.ts'
import type { ManagedContext } from '../run/context.ts'
import { crosses, crossingOf, referredName } from './crossings.ts'
import { targetView } from './target-view.ts'

/**
 * The CR that a reference leads to: the one of that name, or the one that holds the object with that id in the account
 * of `cr`.
 */
export function targetOf(
  { resources }: ManagedContext,
  cr: CustomResource,
  { kind, ref }: FoundReference,
): CustomResource | undefined {
  if (ref.id === undefined) {
    const crossing = crosses(cr, ref) ? crossingOf(resources, cr, { kind, ref }) : undefined
    if (crossing !== undefined) return crossing.type === 'refused' ? undefined : crossing.target
    return resources.get(referredName(cr, { kind, ref }))
  }
  const account = resources.accountKeyOf(cr)
  const holder = account && resources.holderOf(account, ref.id)
  // A CR that only observes the object does not decide about it.
  return holder?.kind === kind && internalOf(holder).create !== undefined ? holder : undefined
}

/** The CRs that `cr` is part of, as it sees them. */
export function wholesOf(
  context: ManagedContext,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
): readonly TargetView[] {
  const references = descriptor.references.of(cr.spec).filter(({ partOf }) => partOf !== undefined)
  return references.flatMap((reference) => {
    const target = targetOf(context, cr, reference)
    return target === undefined ? [] : [targetView(context, target, cr.metadata.namespace, cr)]
  })
}

/** Objects that `cr` refers to by id, for the index that wakes referrers. */
export function targetIds(
  descriptor: ManagedDescriptor,
  cr: CustomResource,
): readonly { readonly kind: string; readonly id: string }[] {
  return descriptor.references.of(cr.spec).flatMap(({ kind, ref: { id } }) => (id === undefined ? [] : [{ kind, id }]))
}

/** A reference in messages, as its author wrote it. */
export function refText(kind: string, { id, name = '', namespace }: Ref): string {
  return id === undefined && namespace !== undefined ? `${kind} ${namespace}/${name}` : `${kind}/${id ?? name}`
}

/** A target as the author of a reference may see it. */
export function messageOf(cr: CustomResource, target: CustomResource, { kind, ref }: FoundReference): string {
  return target.metadata.namespace === cr.metadata.namespace ? shortName(nameOf(target)) : refText(kind, ref)
}
