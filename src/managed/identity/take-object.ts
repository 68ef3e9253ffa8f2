import type { RemoteObject } from '../../api/types.ts'
import type { Attempt } from '../attempt.ts'
import { retains } from '../cr.ts'
import { bearerKey } from '../markers/object-keys.ts'
import { createdBy } from '../markers/own-objects.ts'
import { intendedModules } from '../plan/modules.ts'
import { formerNotes, issueNotes } from '../rotation/rotation.ts'
import { RotationMemory } from '../rotation/rotation-memory.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { IdentityMemory } from './identity-memory.ts'

/** Objects that the attempt made, by a list that began at `since` or later. */
export async function scanFor(run: Reconciliation, nonce: string, since: number): Promise<readonly RemoteObject[]> {
  const { collection, context, cr, session } = run
  await session.cache.ensureListed(collection, { since })
  const own = { installation: context.installation, uid: cr.metadata.uid, nonce }
  return createdBy(markedObjects(run), own)
}

/** Objects with the marker of a CR of this UID, as the lists and answers so far show them. */
export function markedObjects({ collection, cr, session }: Reconciliation): readonly RemoteObject[] {
  return session.cache.find(collection, bearerKey(cr.metadata.uid))
}

/**
 * Notes the new object. An object that the CR held until now is superseded, and is deleted once it has no dependents.
 */
export function take(run: Reconciliation, object: RemoteObject, attempt: Attempt): string {
  const { adopted, id } = run.status
  const { create, superseded = [] } = run.internal
  // An object that was only observed, or was adopted and is retained, must not be deleted.
  const ours = create !== undefined && !(adopted && retains(run.cr))
  if (id !== undefined && id !== object.id && ours) {
    const former = { id, nonce: create.nonce, ...formerNotes(run) }
    run.recordInternal({ superseded: [...superseded.filter((entry) => entry.id !== id), former] })
  }
  run.note({ adopted: undefined, ...issueNotes(run) })
  run.memory.of(RotationMemory).succeeded()
  run.memory.of(IdentityMemory).accepted()
  run.memory.of(IdentityMemory).creates.succeeded()
  run.recordObject(object, { nonce: attempt.nonce, attempt: attempt.number })
  run.recordInternal(intendedModules(run.descriptor.modules, run.cr.spec, {}, attempt.modules))
  return object.id
}
