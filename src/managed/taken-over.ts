import type { RemoteObject } from '../api/types.ts'
import { nameOf, shortName } from './cr.ts'
import { TerminalError } from './errors.ts'
import { isNamesake, type Marker, markerOf } from './marker.ts'
import { reasons } from './reasons.ts'
import type { Reconciliation } from './reconciliation.ts'

/**
 * The mark of another life of this CR on an object that was seen to bear our own before: a CR of the same name in a second cluster
 * with the same installation id has taken it for its own. A CR that came back with its status of before has not put its own mark on it yet.
 */
export function takerOf({ context, cr, status }: Reconciliation, object: RemoteObject): Marker | undefined {
  const marker = markerOf(object)
  const { uid } = cr.metadata
  if (marker?.installation !== context.installation || !isNamesake(marker, cr)) return undefined
  return marker.uid !== uid && status.create?.uid === uid ? marker : undefined
}

/** @throws TerminalError for an object that another life of this CR has taken: two operators would write over each other for ever. */
export function refuseTaken(run: Reconciliation, object: RemoteObject): RemoteObject {
  const taker = takerOf(run, object)
  if (taker === undefined) return object
  throw new TerminalError(
    reasons.TakenOver,
    `${object.id} bears the mark of another ${shortName(nameOf(run.cr))} (UID ${taker.uid}): a second cluster works on this account with ` +
      'the same installation id. Nothing is written to the object here, and it stays when this resource is deleted. Stop one ' +
      'of the two operators, or give each its own --installation',
  )
}

/** Notes that the object bears the mark of this very CR, as it does once it was made or taken by it. */
export function noteMark(run: Reconciliation, object: RemoteObject): void {
  const { create } = run.status
  const { uid } = run.cr.metadata
  if (create === undefined || create.uid === uid || markerOf(object)?.uid !== uid) return
  run.note({ create: { ...create, uid } })
}

/** Whether a live look shows that the object is another's by now. Costs a GET only where a mark can say so. */
export async function isTakenLive(run: Reconciliation, id: string): Promise<boolean> {
  const { collection, cr, session, status } = run
  if (status.create?.uid !== cr.metadata.uid || status.id !== id) return false
  const live = await session.cache.fetch(collection, id)
  const taker = live === undefined ? undefined : takerOf(run, live)
  if (taker === undefined) return false
  const message = `left ${id} in place: it bears the mark of another ${shortName(nameOf(cr))} (UID ${taker.uid})`
  run.context.events.record(cr, { type: 'Normal', reason: 'LeftInPlace', message })
  return true
}
