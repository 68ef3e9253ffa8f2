import type { RemoteObject } from '../../api/types.ts'
import { timeInMs } from '../../util/time.ts'
import { type CustomResource, heldIds } from '../cr.ts'
import type { CommonStatus } from '../descriptor/common.ts'
import { isNamesake, type Marker, markerOf, PLACEHOLDER_NONCE } from './marker.ts'

/** Objects that this very create made: installation, UID and nonce are ours. Oldest first; that one is kept. */
export function createdBy(
  objects: Iterable<RemoteObject>,
  own: { readonly installation: string; readonly uid: string; readonly nonce: string },
): readonly RemoteObject[] {
  return byAge(objects, (marker) => {
    return marker.installation === own.installation && marker.uid === own.uid && marker.nonce === own.nonce
  })
}

/**
 * Objects with the marker of the CR of this UID that its status does not know: copies left by a late or duplicated
 * POST.
 */
export function copiesOf(
  objects: Iterable<RemoteObject>,
  uid: string,
  status: CommonStatus,
  installation: string,
): readonly RemoteObject[] {
  const known = new Set(heldIds(status))
  return byAge(objects, (marker, object) => {
    return marker.installation === installation && marker.uid === uid && !known.has(object.id)
  })
}

/**
 * Objects that a CR of the same kind, namespace and name left in the account. The CR came back without its status
 * (restored from a backup, or created again by GitOps), so they are its own. Newest last; that one is taken.
 */
export function recoverable(
  objects: Iterable<RemoteObject>,
  cr: CustomResource,
  installation: string,
): readonly RemoteObject[] {
  return byAge(objects, (marker) => {
    return marker.installation === installation && isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE
  })
}

/**
 * The matching objects, oldest first. The contract gives ids no order (`management-api.md § Conventions`), so they
 * decide only between objects of the same time.
 */
function byAge(
  objects: Iterable<RemoteObject>,
  matches: (marker: Marker, object: RemoteObject) => boolean,
): readonly RemoteObject[] {
  const found: RemoteObject[] = []
  for (const object of objects) {
    const marker = markerOf(object)
    if (marker !== undefined && matches(marker, object)) found.push(object)
  }
  return found.sort((left, right) => createdMs(left) - createdMs(right) || (left.id < right.id ? -1 : 1))
}

/** In milliseconds; 0 where the API shows no such time. */
function createdMs({ created_at: created }: RemoteObject): number {
  return timeInMs(created) ?? 0
}
