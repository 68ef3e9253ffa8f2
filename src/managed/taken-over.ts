import type { RemoteObject } from '../api/types.ts'
import { nameOf, shortName } from './cr.ts'
import { TerminalError } from './errors.ts'
import { isNamesake, type Marker, markerOf } from './marker.ts'
import { reasons } from './reasons.ts'
import type { Reconciliation } from './reconciliation.ts'

/** Whose an object is that this CR's status names, if it is another's. */
type Taker =
  /**
   * Another life of this CR, on an object that was seen to bear our own mark before: a CR of the same name in a second cluster with the
   * same installation id has taken it for its own. A CR that came back with its status of before has not put its own mark on it yet.
   */
  | { readonly type: 'namesake'; readonly marker: Marker }
  /** Another CR of this cluster, which is there: our status is a copy of its own, or was put back in the wrong place. */
  | { readonly type: 'neighbour'; readonly marker: Marker }

function takerOf({ context, cr, status }: Reconciliation, object: RemoteObject): Taker | undefined {
  const marker = markerOf(object)
  const { uid } = cr.metadata
  if (marker?.installation !== context.installation || marker.uid === uid) return undefined
  if (isNamesake(marker, cr)) return status.create?.uid === uid ? { type: 'namesake', marker } : undefined
  return context.resources.get(marker)?.metadata.uid === marker.uid ? { type: 'neighbour', marker } : undefined
}

/** @throws TerminalError for an object that is another's: two would write over each other for ever. */
export function refuseTaken(run: Reconciliation, object: RemoteObject): RemoteObject {
  const taker = takerOf(run, object)
  if (taker === undefined) return object
  const { cause, remedy } = wordsOf(taker)
  throw new TerminalError(
    reasons.TakenOver,
    `${object.id} bears the mark of ${bearerOf(run, taker)}: ${cause}. Nothing is written to the object here, and it stays when this ` +
      `resource is deleted. ${remedy}`,
  )
}

function wordsOf({ type }: Taker): { readonly cause: string; readonly remedy: string } {
  if (type === 'namesake') {
    return {
      cause: 'a second cluster works on this account with the same installation id',
      remedy: 'Stop one of the two operators, or give each its own --installation',
    }
  }
  return {
    cause: 'the status of this resource is not its own, but put back or copied from another',
    remedy:
      'Remove id and create from its status (kubectl edit --subresource=status) to let it find or make an object of its own',
  }
}

function bearerOf({ cr }: Reconciliation, { type, marker }: Taker): string {
  const { kind, namespace, name, uid } = marker
  return type === 'namesake' ? `another ${shortName(nameOf(cr))} (UID ${uid})` : `${kind} ${namespace}/${name}`
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
  const mayBeNamesakes = status.id === id && status.create?.uid === cr.metadata.uid
  const known = session.cache.get(collection, id)?.object
  if (!mayBeNamesakes && (known === undefined || !isNeighbours(run, known))) return false
  const live = await session.cache.fetch(collection, id)
  const taker = live === undefined ? undefined : takerOf(run, live)
  if (taker === undefined) return false
  const message = `left ${id} in place: it bears the mark of ${bearerOf(run, taker)}`
  run.context.events.record(cr, { type: 'Normal', reason: 'LeftInPlace', message })
  return true
}

/** Whether the object bears the mark of another CR of this cluster that is there. */
export function isNeighbours(run: Reconciliation, object: RemoteObject): boolean {
  return takerOf(run, object)?.type === 'neighbour'
}
