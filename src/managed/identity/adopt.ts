import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import { type CustomResource, externalId, nameOf, retains, shortName, statusOf, withFinalizer } from '../cr.ts'
import { includes } from '../descriptor/access.ts'
import { reasons } from '../descriptor/reasons.ts'
import { markerOf } from '../markers/marker.ts'
import { withItsToken } from '../outputs/token-recovery.ts'
import { decided } from '../plan/plan.ts'
import type { Wanted } from '../plan/wanted.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { isReadDue, searchFor } from './read-object.ts'

/**
 * Returns the object that `spec.externalID` names.
 * @throws TerminalError if it does not exist or cannot be adopted: another resource holds it, or Culvert made it for
 *   another.
 */
export async function externalObject(run: Reconciliation, id: string): Promise<RemoteObject> {
  const { collection, context, cr, session } = run
  if (!includes(session.access.unmanagedObjects, 'Adopt')) {
    const remedy =
      'have its administrator set unmanagedObjects: Adopt in an entry of spec.access, or remove spec.externalID'
    throw notAdoptable(`${shortName(session.account)} does not allow it: ${remedy}`)
  }
  refuseHeld(run, id, context.resources.holderOf(session.key, id))
  refusePartOfOthers(run, id)
  const cached = session.cache.get(collection, id)
  // While something in it is in progress, such as a certificate being issued, it is read live when a poll is due.
  const trusted = cached?.suspect === undefined && !isReadDue(run) ? cached?.object : undefined
  const object = trusted ?? (await session.cache.fetch(collection, id)) ?? (await searchFor(run, collection, id))
  if (object === undefined) {
    throw new TerminalError(
      reasons.RemoteMissing,
      `spec.externalID: ${id} does not exist in ${collection.path}: correct it, or remove it to have an object created`,
    )
  }
  refuseMarked(run, object)
  refuseHeld(run, id, context.resources.lock(session.key, id, cr))
  return object
}

/**
 * @throws TerminalError if another CR has the object. A CR that names it in its status all the same, because of a race,
 *   releases it.
 */
export function refuseHeld(run: Reconciliation, id: string, holder: CustomResource | undefined): void {
  const { cr } = run
  if (holder === undefined || holder.metadata.uid === cr.metadata.uid) return
  if (statusOf(cr).id === id) {
    run.note({ id: undefined, uri: undefined, createdAt: undefined, adopted: undefined })
    run.recordInternal({ create: undefined, applied: undefined })
  }
  const remedy = holder.metadata.namespace === cr.metadata.namespace ? ', or delete that resource first' : ''
  throw notAdoptable(`${id} is managed by ${holderName(cr, holder)}: choose another object${remedy}`)
}

/** A part of another namespace's object, such as a rule of its policy, belongs to that namespace too. */
function refusePartOfOthers({ context, cr, session }: Reconciliation, id: string): void {
  const whole = context.resources.childHolderOf(session.key, id)
  if (whole === undefined || whole.metadata.namespace === cr.metadata.namespace) return
  throw notAdoptable(`${id} is managed by ${holderName(cr, whole)}: choose another object`)
}

/** The holder as the readers of a CR may see it: they must not learn namespace or name of another namespace's CR. */
export function holderName({ metadata }: CustomResource, holder: CustomResource): string {
  return holder.metadata.namespace === metadata.namespace
    ? shortName(nameOf(holder))
    : 'a resource in another namespace'
}

/** An object that Culvert made for another resource, here or elsewhere, belongs to that resource. */
function refuseMarked({ context, cr, session }: Reconciliation, object: RemoteObject): void {
  const marker = markerOf(object)
  if (marker === undefined) return
  const { kind, namespace, name } = marker
  const own = nameOf(cr)
  const isOwn =
    marker.installation === context.installation &&
    kind === own.kind &&
    namespace === (own.namespace ?? '') &&
    name === own.name
  if (isOwn) return
  if (session.access.granted !== undefined && namespace !== cr.metadata.namespace) {
    throw notAdoptable(`${object.id} is managed by a resource in another namespace: choose another object`)
  }
  throw notAdoptable(
    `${object.id} carries the marker of ${kind} ${namespace}/${name}: have that resource manage it, or remove the marker from its metadata`,
  )
}

function notAdoptable(why: string): TerminalError {
  return new TerminalError(reasons.NotAdoptable, `the object in spec.externalID cannot be used: ${why}`)
}

/**
 * Adopts the object that the CR names. From then on it is kept in sync with the spec, like one that Culvert made.
 * @throws TerminalError if a field that cannot be changed differs from the spec; nothing was written then.
 */
export async function adopt(run: Reconciliation, wanted: Wanted): Promise<RemoteObject> {
  const { context, cr } = run
  const object = await externalObject(run, externalId(cr) ?? '')
  const fixed = fixedDifferences(run, wanted, object)
  if (fixed.length > 0) {
    throw notAdoptable(
      `${object.id} differs from the spec in ${fixed.join(', ')}, which cannot be changed: correct the spec, or choose another object`,
    )
  }
  await run.patchMetadata({ finalizers: withFinalizer(cr) })
  run.recordObject(object, { nonce: markerOf(object)?.nonce ?? context.random.hex(16), attempt: 0 })
  run.note({ adopted: true })
  run.recordInternal({ applied: [] })
  // If the object is a recovered one, the Secret may still hold its token. The token of any other object is known only
  // to its creator.
  await withItsToken(run, [object])
  context.events.record(cr, { type: 'Normal', reason: 'Adopted', message: adoptedMessage(run, object.id) })
  return object
}

/** Says what happens to the object when its resource is deleted, since the default differs for adopted objects. */
function adoptedMessage({ cr }: Reconciliation, id: string): string {
  return retains(cr)
    ? `adopted ${id}; it is kept when this resource is deleted, unless spec.deletionPolicy is Delete`
    : `adopted ${id}; it is deleted with this resource (spec.deletionPolicy)`
}

/** Create-only fields in which `object` differs from the spec, as far as the API returns them. */
export function fixedDifferences({ descriptor }: Reconciliation, { desired }: Wanted, object: RemoteObject) {
  const wanted = decided(desired, descriptor.fields.desire(desired, object))
  const comparable = descriptor.fields.comparable(wanted, object)
  const found = descriptor.fields.observe(object)
  return descriptor.fields.createOnly.filter((field) => {
    return wanted[field] !== undefined && found[field] !== undefined && !equalJSON(comparable[field], found[field])
  })
}

/**
 * @throws TerminalError for an adopted object that was deleted: Culvert did not create it, so it does not create it
 *   again.
 */
export function refuseVanished({ status }: Reconciliation, id: string): void {
  if (!status.adopted) return
  throw new TerminalError(
    reasons.RemoteMissing,
    `${id}, which was adopted, was deleted outside Culvert: delete this resource and recreate it with another spec.externalID, or without one to have an object created`,
  )
}
