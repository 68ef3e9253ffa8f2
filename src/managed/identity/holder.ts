import { type CustomResource, internalOf } from '../cr.ts'

/**
 * Which of the CRs whose statuses name one object has it; undefined without any. It is the same whoever asks, and stays so as long as the
 * statuses do: who manages it goes before who only looks, then the older CR before the younger.
 */
export function holderAmong(claimants: readonly CustomResource[]): CustomResource | undefined {
  return claimants.reduce<CustomResource | undefined>((first, next) => {
    return first === undefined || goesBefore(next, first) ? next : first
  }, undefined)
}

function goesBefore(left: CustomResource, right: CustomResource): boolean {
  const [mine, other] = [rankOf(left), rankOf(right)]
  const at = mine.findIndex((value, index) => value !== other[index])
  return at >= 0 && (mine[at] ?? '') < (other[at] ?? '')
}

/** Smaller goes first, field by field. Times are texts of one form. */
function rankOf(cr: CustomResource): readonly string[] {
  const { creationTimestamp = '', uid } = cr.metadata
  return [internalOf(cr).create === undefined ? 'looks' : 'holds', creationTimestamp, uid]
}
