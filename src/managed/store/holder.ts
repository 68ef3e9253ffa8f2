import { type CustomResource, internalOf } from '../cr.ts'

/**
 * Which of the CRs whose statuses name one object owns it; undefined if there are none. The result does not depend on
 * the caller and stays the same as long as the statuses do: a CR that manages the object precedes one that only
 * observes it, then the older CR precedes the younger.
 */
export function holderAmong(candidates: readonly CustomResource[]): CustomResource | undefined {
  return candidates.reduce<CustomResource | undefined>((first, next) => {
    return first === undefined || goesBefore(next, first) ? next : first
  }, undefined)
}

function goesBefore(left: CustomResource, right: CustomResource): boolean {
  const [mine, other] = [rankOf(left), rankOf(right)]
  const at = mine.findIndex((value, index) => value !== other[index])
  return at >= 0 && (mine[at] ?? '') < (other[at] ?? '')
}

/** Compared field by field; the smaller comes first. All times have the same text form. */
function rankOf(cr: CustomResource): readonly string[] {
  const { creationTimestamp = '', uid } = cr.metadata
  return [internalOf(cr).create === undefined ? 'observes' : 'manages', creationTimestamp, uid]
}
