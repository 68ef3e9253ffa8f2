import { type CustomResource, externalId, internalOf } from '../cr.ts'
import type { CommonSpec, CommonStatus } from '../descriptor/common.ts'
import type { Fields, ManagedDescriptor } from '../descriptor/descriptor.ts'

/**
 * An object that existed before its resource keeps what the spec never said: whoever made it may rely on that. So does the object that takes its place when
 * it is rotated or replaced. Of an object that Culvert created, every field that the spec leaves out has the contract's default.
 */

/**
 * API fields that the spec sets, sorted: what `status.internal.applied` says once they are applied. Without metadata, of which the spec sets keys: those of
 * others stay with them, and a key that has left the spec stays too.
 */
export function fieldsSet<Spec extends CommonSpec>(descriptor: ManagedDescriptor<Spec>, spec: Spec): readonly string[] {
  const described = spec.description === undefined ? [] : ['description']
  return [...new Set([...descriptor.setBy(spec), ...described])].sort()
}

/** Whether the fields that the spec never set are left alone; `status` as the run has it so far. */
function leavesAlone(cr: CustomResource, { adopted, internal = {} }: CommonStatus): boolean {
  const isFound = internal.create === undefined && externalId(cr) !== undefined
  return isFound || adopted === true || internal.applied !== undefined
}

/**
 * Whether the spec decides about an API field. About one that is left alone it does not; one that it has set before goes back to the contract's default
 * when it is left out.
 * @param status asked each time, since it gains fields while a run goes on
 */
export function decider<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  cr: CustomResource,
  status: () => CommonStatus & Fields,
): (field: string) => boolean {
  const set = new Set(fieldsSet(descriptor, cr.spec as Spec))
  return (field) => {
    const now = status()
    return !leavesAlone(cr, now) || set.has(field) || (now.internal?.applied ?? []).includes(field)
  }
}

/** What has to be noted before a write, so that a field which leaves the spec before the next status is written still goes back. */
export function appliedBefore(descriptor: ManagedDescriptor, cr: CustomResource, status: CommonStatus) {
  if (!leavesAlone(cr, status)) return {}
  const all = new Set([...(internalOf(cr).applied ?? []), ...fieldsSet(descriptor, cr.spec)])
  return { applied: [...all].sort() }
}

/** What is noted once the object is as the spec says: a field that went back to its default is nobody's again. */
export function appliedAfter(descriptor: ManagedDescriptor, cr: CustomResource, status: CommonStatus) {
  return leavesAlone(cr, status) ? { applied: [...fieldsSet(descriptor, cr.spec)] } : {}
}
