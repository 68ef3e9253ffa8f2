import { type CustomResource, externalId, internalOf } from '../cr.ts'
import type { CommonSpec, CommonStatus, Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'

/**
 * An object that existed before its resource keeps the fields that the spec never set: its creator may rely on them.
 * The same holds for an object that replaces it. In an object that Culvert created, every field that the spec leaves
 * out has the contract's default.
 */

/**
 * API fields that the spec sets, sorted: the value of `status.internal.applied` once they are applied. Does not include
 * metadata, of which the spec sets single keys: other keys stay, and so does a key that was removed from the spec.
 */
export function fieldsSet<Spec extends CommonSpec>(descriptor: ManagedDescriptor<Spec>, spec: Spec): readonly string[] {
  const described = spec.description === undefined ? [] : ['description']
  return [...new Set([...descriptor.fields.setBy(spec), ...described])].sort()
}

/** Whether fields that the spec never set are left alone; `status` is the status including what this run has noted. */
function leavesAlone(cr: CustomResource, { adopted, internal = {} }: CommonStatus): boolean {
  const isFound = internal.create === undefined && externalId(cr) !== undefined
  return isFound || adopted === true || internal.applied !== undefined
}

/**
 * Whether the spec decides an API field. It does not decide fields that are left alone; a field that it once set
 * returns to the contract's default when it is left out.
 * @param status called each time, since the status gains fields during a run
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

/**
 * The fields to store before a write, so that a field removed from the spec before the next status write still returns
 * to its default.
 */
export function appliedBefore(descriptor: ManagedDescriptor, cr: CustomResource, status: CommonStatus) {
  if (!leavesAlone(cr, status)) return {}
  const all = new Set([...(internalOf(cr).applied ?? []), ...fieldsSet(descriptor, cr.spec)])
  return { applied: [...all].sort() }
}

/**
 * The fields to store once the object matches the spec: a field that returned to its default is no longer decided by
 * the spec.
 */
export function appliedAfter(descriptor: ManagedDescriptor, cr: CustomResource, status: CommonStatus) {
  return leavesAlone(cr, status) ? { applied: [...fieldsSet(descriptor, cr.spec)] } : {}
}
