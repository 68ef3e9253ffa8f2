import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, externalId, nameOf, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { isNamesake, type Marker, markerOf } from '../markers/marker.ts'
import { isSealed, ownNote } from '../markers/sealed-note.ts'
import type { ManagedContext } from '../run/context.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { holderName, refuseHeld } from './adopt.ts'

/** The owner of an object that this CR's status names, if that is not this CR. */
type Taker =
  /**
   * A CR of the same name and another UID, on an object that carried our own marker before: a second cluster with the
   * same installation id has taken it. A CR that came back with its old status has not put its marker on the object
   * yet, so this does not apply to it.
   */
  | { readonly type: 'namesake'; readonly marker: Marker }
  /** Another CR of this cluster that exists: our status was copied from it or restored to the wrong CR. */
  | { readonly type: 'neighbour'; readonly marker: Marker }
  /** Another CR of this cluster whose status names the object too, while no marker shows the owner. */
  | { readonly type: 'rival'; readonly holder: CustomResource }
  /**
   * Another CR of this cluster whose own annotation names the object, while no marker shows the owner and ours names
   * another object.
   */
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

/**
 * The CR of this cluster whose marker the object carries, whatever statuses say. @param kind the kind it must have;
 * undefined: any
 */
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

/** Whether the marker is that of a CR of the same name and another UID, on an object that carried our own before. */
function isOfOtherLife({ context, cr, internal }: Reconciliation, marker: Marker): boolean {
  const { uid } = cr.metadata
  const isOther = marker.installation === context.installation && isNamesake(marker, cr) && marker.uid !== uid
  return isOther && internal.create?.uid === uid
}

/**
 * Whether a CR of the same name and another UID has put its marker on a child of an object that carried ours when last
 * seen.
 */
export function isTakenChild(run: Reconciliation, child: RemoteObject): boolean {
  const marker = markerOf(child)
  return marker !== undefined && isOfOtherLife(run, marker)
}

/**
 * Another CR whose status names the object. An object without a marker is ours if our own note, sealed with the
 * account's key, says so.
 */
function rivalOf({ context, cr, session }: Reconciliation, object: RemoteObject): Taker | undefined {
  const holder = context.resources.holderOf(session.key, object.id)
  if (holder === undefined || holder.metadata.uid === cr.metadata.uid) return undefined
  const own = markerOf(object) === undefined ? ownNote(cr) : undefined
  const isOurs = own?.id === object.id && isSealed(own, (text) => session.seal(text))
  return isOurs ? undefined : { type: 'rival', holder }
}

/**
 * Another CR that notes the object as its own. Anyone may write an annotation on a CR of theirs, so it counts only if
 * it is sealed with the account's key, or if our own note names another object.
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
 * @throws TerminalError for an object that belongs to another CR: two would overwrite each other forever. A CR that
 *   adopted the object by naming it releases it.
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
    `${object.id} ${ownershipOf(run, taker)}: ${cause}. Culvert does not write to the object, and keeps it when this ` +
      `resource is deleted. ${remedy}`,
  )
}

function wordsOf({ type }: Taker): { readonly cause: string; readonly remedy: string } {
  if (type === 'namesake') {
    return {
      cause: 'a second cluster manages this account with the same installation id',
      remedy: 'Stop one of the operators, or give each its own --installation',
    }
  }
  return {
    cause: 'the status of this resource was restored, or copied from another resource',
    remedy:
      'Remove id and internal from its status (kubectl edit --subresource=status) to let it find or create its own object',
  }
}

/** Why the object belongs to the other CR. */
function ownershipOf({ cr, session }: Reconciliation, taker: Taker): string {
  if (taker.type === 'rival') return `is managed by ${holderName(cr, taker.holder)}`
  if (taker.type === 'noted')
    return `belongs to ${holderName(cr, taker.holder)}, according to its annotation internal.culvert.dev/id`
  const { kind, namespace, name, uid } = taker.marker
  const isElsewhere = namespace !== (cr.metadata.namespace ?? '')
  if (isElsewhere && session.access.granted !== undefined)
    return 'carries the marker of a resource in another namespace'
  const bearer =
    taker.type === 'namesake' ? `another ${shortName(nameOf(cr))} (UID ${uid})` : `${kind} ${namespace}/${name}`
  return `carries the marker of ${bearer}`
}

/** Notes that the object carries the marker of this very CR, as it does once the CR has created or taken it. */
export function recordMarker(run: Reconciliation, object: RemoteObject): void {
  const { create } = run.internal
  const { uid } = run.cr.metadata
  if (create === undefined || create.uid === uid || markerOf(object)?.uid !== uid) return
  run.recordInternal({ create: { ...create, uid } })
}

/**
 * Whether a live read shows that the object belongs to another CR by now. Costs a GET only if a marker, or another CR's
 * status, can show that.
 */
export async function isTakenLive(run: Reconciliation, id: string): Promise<boolean> {
  const { collection, cr, internal, session, status } = run
  const mayBeNamesakes = status.id === id && internal.create?.uid === cr.metadata.uid
  const known = session.cache.get(collection, id)?.object
  if (!mayBeNamesakes && !isNeighbours(run, known ?? { id })) return false
  // A 404 does not refute what is known.
  const live = (await session.cache.fetch(collection, id)) ?? session.cache.get(collection, id)?.object
  const taker = live === undefined ? undefined : takerOf(run, live)
  if (taker === undefined) return false
  const message = `kept ${id}: it ${ownershipOf(run, taker)}`
  run.context.events.record(cr, { type: 'Normal', reason: 'LeftInPlace', message })
  return true
}

/** Whether the object belongs to another CR that exists in this cluster. */
export function isNeighbours(run: Reconciliation, object: RemoteObject): boolean {
  const taker = takerOf(run, object)
  return taker !== undefined && taker.type !== 'namesake'
}
