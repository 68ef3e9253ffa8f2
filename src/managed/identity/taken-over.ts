import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, externalId, nameOf, shortName } from '../cr.ts'
import type { ManagedContext } from '../reconcile/context.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'
import { holderName, refuseHeld } from './adopt.ts'
import { isNamesake, type Marker, markerOf } from './marker.ts'
import { isSealed, ownNote } from './ownership.ts'

/** Whose an object is that this CR's status names, if it is another's. */
type Taker =
  /**
   * Another life of this CR, on an object that was seen to bear our own mark before: a CR of the same name in a second cluster with the
   * same installation id has taken it for its own. A CR that came back with its status of before has not put its own mark on it yet.
   */
  | { readonly type: 'namesake'; readonly marker: Marker }
  /** Another CR of this cluster, which is there: our status is a copy of its own, or was put back in the wrong place. */
  | { readonly type: 'neighbour'; readonly marker: Marker }
  /** Another CR of this cluster whose status names it too, where no mark tells whose it is. */
  | { readonly type: 'rival'; readonly holder: CustomResource }
  /** Another CR of this cluster whose own annotation says that it holds it, where no mark tells whose it is and ours names another. */
  | { readonly type: 'noted'; readonly holder: CustomResource }

function takerOf(run: Reconciliation, object: RemoteObject): Taker | undefined {
  const { context, cr } = run
  const marker = markerOf(object)
  if (marker?.installation === context.installation) {
    if (marker.uid === cr.metadata.uid) return undefined
    if (isOfOtherLife(run, marker)) return { type: 'namesake', marker }
    if (!isNamesake(marker, cr) && bearerOf(context, object) !== undefined) return { type: 'neighbour', marker }
  }
  return (marker === undefined ? noterOf(run, object) : undefined) ?? rivalOf(run, object)
}

/** The CR of this cluster that the object bears the mark of, whatever statuses say. @param kind what it has to be of; undefined: any */
export function bearerOf(
  { installation, resources }: Pick<ManagedContext, 'installation' | 'resources'>,
  object: RemoteObject,
  kind?: string,
): CustomResource | undefined {
  const marker = markerOf(object)
  if (marker?.installation !== installation || (kind !== undefined && marker.kind !== kind)) return undefined
  const bearer = resources.get(marker)
  return bearer?.metadata.uid === marker.uid ? bearer : undefined
}

/** Whether the mark is that of another life of the CR, whose object was seen to bear our own before. */
function isOfOtherLife({ context, cr, internal }: Reconciliation, marker: Marker): boolean {
  const { uid } = cr.metadata
  const isOther = marker.installation === context.installation && isNamesake(marker, cr) && marker.uid !== uid
  return isOther && internal.create?.uid === uid
}

/** Whether another life of the CR has put its mark on a child of an object that bore ours when it was last seen. */
export function isTakenChild(run: Reconciliation, child: RemoteObject): boolean {
  const marker = markerOf(child)
  return marker !== undefined && isOfOtherLife(run, marker)
}

/** Another CR whose status names the object; what bears no mark is ours where our own note, sealed by the account's key, says so. */
function rivalOf({ context, cr, session }: Reconciliation, object: RemoteObject): Taker | undefined {
  const holder = context.resources.holderOf(session.key, object.id)
  if (holder === undefined || holder.metadata.uid === cr.metadata.uid) return undefined
  const own = markerOf(object) === undefined ? ownNote(cr) : undefined
  const isOurs = own?.id === object.id && isSealed(own, (text) => session.seal(text))
  return isOurs ? undefined : { type: 'rival', holder }
}

/**
 * Who notes the object as its own, where it is not this CR. Anybody may write an annotation on a CR of theirs: it counts when it is sealed by the
 * account's key, or when our own names another object.
 */
function noterOf({ context, cr, session }: Reconciliation, { id }: RemoteObject): Taker | undefined {
  const own = ownNote(cr)
  const holder = own?.id === id ? undefined : context.resources.noterOf(session.key, id)
  const note = holder && ownNote(holder)
  if (holder === undefined || note === undefined || holder.metadata.uid === cr.metadata.uid) return undefined
  const counts = own !== undefined || isSealed(note, (text) => session.seal(text))
  return counts ? { type: 'noted', holder } : undefined
}

/**
 * @throws TerminalError for an object that is another's: two would write over each other for ever. Who named the object itself lets go of
 * it.
 */
export function refuseTaken(run: Reconciliation, object: RemoteObject): RemoteObject {
  const taker = takerOf(run, object)
  if (taker === undefined) return object
  if (taker.type === 'rival' && run.status.adopted && externalId(run.cr) === object.id) {
    refuseHeld(run, object.id, taker.holder)
  }
  const { cause, remedy } = wordsOf(taker)
  throw new TerminalError(
    reasons.TakenOver,
    `${object.id} ${ownershipOf(run, taker)}: ${cause}. Nothing is written to the object here, and it stays when this ` +
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
      'Remove id and internal from its status (kubectl edit --subresource=status) to let it find or make an object of its own',
  }
}

/** What makes the object the other's. */
function ownershipOf({ cr, session }: Reconciliation, taker: Taker): string {
  if (taker.type === 'rival') return `is held by ${holderName(cr, taker.holder)}`
  if (taker.type === 'noted')
    return `is that of ${holderName(cr, taker.holder)} by its annotation internal.culvert.dev/id`
  const { kind, namespace, name, uid } = taker.marker
  const isElsewhere = namespace !== (cr.metadata.namespace ?? '')
  if (isElsewhere && session.access.granted !== undefined) return 'bears the mark of a resource of another namespace'
  const bearer =
    taker.type === 'namesake' ? `another ${shortName(nameOf(cr))} (UID ${uid})` : `${kind} ${namespace}/${name}`
  return `bears the mark of ${bearer}`
}

/** Notes that the object bears the mark of this very CR, as it does once it was made or taken by it. */
export function noteMark(run: Reconciliation, object: RemoteObject): void {
  const { create } = run.internal
  const { uid } = run.cr.metadata
  if (create === undefined || create.uid === uid || markerOf(object)?.uid !== uid) return
  run.noteInternal({ create: { ...create, uid } })
}

/** Whether a live look shows that the object is another's by now. Costs a GET only where a mark, or another's status, can say so. */
export async function isTakenLive(run: Reconciliation, id: string): Promise<boolean> {
  const { collection, cr, internal, session, status } = run
  const mayBeNamesakes = status.id === id && internal.create?.uid === cr.metadata.uid
  const known = session.cache.get(collection, id)?.object
  if (!mayBeNamesakes && !isNeighbours(run, known ?? { id })) return false
  // A 404 does not unsay what is known.
  const live = (await session.cache.fetch(collection, id)) ?? session.cache.get(collection, id)?.object
  const taker = live === undefined ? undefined : takerOf(run, live)
  if (taker === undefined) return false
  const message = `left ${id} in place: it ${ownershipOf(run, taker)}`
  run.context.events.record(cr, { type: 'Normal', reason: 'LeftInPlace', message })
  return true
}

/** Whether the object is that of another CR of this cluster that is there. */
export function isNeighbours(run: Reconciliation, object: RemoteObject): boolean {
  const taker = takerOf(run, object)
  return taker !== undefined && taker.type !== 'namesake'
}
