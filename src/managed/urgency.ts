import type { Lane } from '../util/lane.ts'
import { type CustomResource, isDeleting, statusOf } from './cr.ts'

/**
 * The lane for a CR that was woken. What has no object yet waits behind what has one: an edit of something at work comes before
 * however many new resources, and so does taking something away.
 */
export function urgencyOf(cr: CustomResource | undefined, lane: Lane): Lane {
  if (lane !== 'edit' || cr === undefined || isDeleting(cr)) return lane
  return statusOf(cr).id === undefined ? 'create' : 'edit'
}
