import type { RemoteObject } from '../../api/types.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { refuseVanished } from './adopt.ts'
import { IdentityMemory } from './identity-memory.ts'
import { readObject } from './read-object.ts'
import { findSuccessor } from './recovery.ts'
import { refuseTaken } from './taken-over.ts'

/** The object that the CR has; undefined if one must be created. */
export async function findObject(run: Reconciliation, known: string | undefined): Promise<RemoteObject | undefined> {
  const object = known === undefined ? undefined : await readObject(run, known)
  if (object !== undefined) return refuseTaken(run, object)
  if (known === undefined) return undefined
  refuseVanished(run, known)
  // If etcd was restored, the object may be gone because it was replaced after the backup.
  const successor = await findSuccessor(run)
  if (successor !== undefined) return run.session.cache.get(run.collection, successor)?.object
  recordVanished(run, known)
  return undefined
}

function recordVanished(run: Reconciliation, id: string): void {
  const { context, cr } = run
  run.memory.of(IdentityMemory).isLost = true
  // If creating it again is refused, the status must not go on naming an object that is gone.
  run.note({ id: undefined, uri: undefined, createdAt: undefined })
  context.metrics.drift(cr.kind, DELETED)
  const message = `${id} was deleted outside Culvert: recreating it`
  context.events.record(cr, { type: 'Warning', reason: 'RemoteDeleted', message })
}

/** The field name under which the drift metric counts a deleted object. */
const DELETED = 'deleted'
