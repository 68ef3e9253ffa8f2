import type { Priority } from '../../util/priority.ts'
import { type CustomResource, isDeleting, statusOf } from '../cr.ts'

/**
 * The priority for a CR that was woken. What has no object yet waits behind what has one: an edit of something at work comes before
 * however many new resources, and so does taking something away.
 */
export function priorityOf(cr: CustomResource | undefined, priority: Priority): Priority {
  if (priority !== 'edit' || cr === undefined || isDeleting(cr)) return priority
  return statusOf(cr).id === undefined ? 'create' : 'edit'
}
