import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { includes } from '../accounts/access.ts'
import { type CustomResource, externalId, nameOf, retains, shortName, statusOf, withFinalizer } from '../cr.ts'
import { withItsToken } from '../outputs/token-recovery.ts'
import type { Wanted } from '../plan/desired.ts'
import { decided } from '../plan/plan.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'
import { markerOf } from './marker.ts'
import { isReadDue, sought } from './read-object.ts'

/**
 * The object that `spec.externalID` names.
 * @throws TerminalError when it is not there, or not to be had: one that another resource holds, or that Culvert made for another.
 */
export async function externalObject(run: Reconciliation, id: string): Promise<RemoteObject> {
  const { collection, context, cr, session } = run
  if (!includes(session.access.unmanagedObjects, 'Adopt')) {
    const remedy =
      'let its administrator set unmanagedObjects: Adopt in an entry of spec.access, or remove spec.externalID'
    throw notAdoptable(`${shortName(session.account)} does not allow it: ${remedy}`)
  }
  refuseHeld(run, id, context.resources.holderOf(session.key, id))
  refusePartOfOthers(run, id)
  const cached = session.cache.get(collection, id)
  // While something of it is under way, as a certificate that is being made, it is looked at live when that is due.
  const trusted = cached?.suspect === undefined && !isReadDue(run) ? cached?.object : undefined
  const object = trusted ?? (await session.cache.fetch(collection, id)) ?? (await sought(run, collection, id))
  if (object === undefined) {
    throw new TerminalError(
      reasons.RemoteMissing,
      `spec.externalID names ${id}, which is not in ${collection.path}: correct it, or remove it to have an object created`,
    )
  }
  refuseMarked(run, object)
  refuseHeld(run, id, context.resources.claim(session.key, id, cr))
  return object
}

/** @throws TerminalError when another has the object. A CR that has it in its status all the same, by a race, lets go of it. */
export function refuseHeld(run: Reconciliation, id: string, holder: CustomResource | undefined): void {
  const { cr } = run
  if (holder === undefined || holder.metadata.uid === cr.metadata.uid) return
  if (statusOf(cr).id === id) {
    run.note({ id: undefined, uri: undefined, createdAt: undefined, adopted: undefined })
    run.noteInternal({ create: undefined, applied: undefined })
  }
  const remedy = holder.metadata.namespace === cr.metadata.namespace ? ', or delete that resource first' : ''
  throw notAdoptable(`${id} is held by ${holderName(cr, holder)}: name another object${remedy}`)
}

/** What belongs to an object of another namespace, such as a rule of its policy, is that one's too. */
function refusePartOfOthers({ context, cr, session }: Reconciliation, id: string): void {
  const whole = context.resources.childHolderOf(session.key, id)
  if (whole === undefined || whole.metadata.namespace === cr.metadata.namespace) return
  throw notAdoptable(`${id} is held by ${holderName(cr, whole)}: name another object`)
}

/** The holder as it may be told to the reader of a CR, who is to know neither namespace nor name of another's. */
export function holderName({ metadata }: CustomResource, holder: CustomResource): string {
  return holder.metadata.namespace === metadata.namespace
    ? shortName(nameOf(holder))
    : 'a resource of another namespace'
}

/** An object that Culvert made, here or elsewhere, for another resource is that one's. */
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
    throw notAdoptable(`${object.id} is held by a resource of another namespace: name another object`)
  }
  throw notAdoptable(
    `${object.id} bears the mark of ${kind} ${namespace}/${name}: let that resource manage it, or take the mark out of its metadata`,
  )
}

function notAdoptable(why: string): TerminalError {
  return new TerminalError(reasons.NotAdoptable, `the object that spec.externalID names cannot be taken: ${why}`)
}

/**
 * Takes charge of the object that the CR names. From then on it is kept as the spec says, like one that Culvert made.
 * @throws TerminalError when a field that cannot be changed differs from the spec; nothing was written then.
 */
export async function adopt(run: Reconciliation, wanted: Wanted): Promise<RemoteObject> {
  const { context, cr } = run
  const object = await externalObject(run, externalId(cr) ?? '')
  const fixed = fixedDifferences(run, wanted, object)
  if (fixed.length > 0) {
    throw notAdoptable(
      `${object.id} differs from the spec in ${fixed.join(', ')}, which cannot be changed: correct the spec, or name another object`,
    )
  }
  await run.patchMetadata({ finalizers: withFinalizer(cr) })
  run.noteObject(object, { nonce: markerOf(object)?.nonce ?? context.random.hex(16), attempt: 0 })
  run.note({ adopted: true })
  run.noteInternal({ applied: [] })
  // Of a former life's object the Secret may still hold the token; that of anybody else's is known to whoever made it.
  await withItsToken(run, [object])
  context.events.record(cr, { type: 'Normal', reason: 'Adopted', message: adoptedMessage(run, object.id) })
  return object
}

/** Says what becomes of the object when its resource goes: with what was adopted that is not what people may be used to. */
function adoptedMessage({ cr }: Reconciliation, id: string): string {
  return retains(cr)
    ? `adopted ${id}; it stays at the API when this resource is deleted, unless spec.deletionPolicy is Delete`
    : `adopted ${id}; it is deleted with this resource, as spec.deletionPolicy says`
}

/** Fields fixed at create in which `object` differs from the spec, so far as the API shows them. */
export function fixedDifferences({ descriptor }: Reconciliation, { desired }: Wanted, object: RemoteObject) {
  const wanted = decided(desired, descriptor.desire(desired, object))
  const comparable = descriptor.comparable(wanted, object)
  const found = descriptor.observe(object)
  return descriptor.createOnly.filter((field) => {
    return wanted[field] !== undefined && found[field] !== undefined && !equalJSON(comparable[field], found[field])
  })
}

/** @throws TerminalError for an adopted object that has vanished: what Culvert did not make it does not make again. */
export function refuseVanished({ status }: Reconciliation, id: string): void {
  if (!status.adopted) return
  throw new TerminalError(
    reasons.RemoteMissing,
    `${id}, which was adopted, was deleted at the API: delete this resource, and create it anew with another spec.externalID, or without one to have an object created`,
  )
}
