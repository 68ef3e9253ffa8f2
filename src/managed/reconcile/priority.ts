import type { Priority } from '../../util/priority.ts'
import { type CustomResource, isDeleting, statusOf } from '../cr.ts'

/**
 * The priority of a CR that was woken. A CR without an object waits behind those that have one: edits and deletions of
 * existing objects come before any number of new resources.
 */
export function priorityOf(cr: CustomResource | undefined, priority: Priority): Priority {
  if (priority !== 'edit' || cr === undefined || isDeleting(cr)) return priority
  return statusOf(cr).id === undefined ? 'create' : 'edit'
}
