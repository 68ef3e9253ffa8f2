import type { RemoteObject } from '../../api/types.ts'
import { externalId, isDeleting, nameOf, ownAttempt, shortName, withFinalizer } from '../cr.ts'
import { includes } from '../descriptor/access.ts'
import { reasons } from '../descriptor/reasons.ts'
import { markerOf, PLACEHOLDER_NONCE } from '../markers/marker.ts'
import { namesakeKey } from '../markers/object-keys.ts'
import { copiesOf, recoverable } from '../markers/own-objects.ts'
import { ownNote, type RecordedOwnership, recordedOwnership } from '../markers/sealed-note.ts'
import { CREATE_ATTEMPT, REMOTE_ID } from '../names.ts'
import { withItsToken } from '../outputs/token-recovery.ts'
import { notPermitted } from '../references/reach.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { reportLookalikes } from './alike.ts'
import { deleteCopies } from './copies.ts'
import { searchFor } from './read-object.ts'
import { markedObjects } from './take-object.ts'

/**
 * For a CR without an id and without an attempt of its own: takes the object that it had if it lost its status;
 * undefined if it is new.
 */
export async function recoverObject(run: Reconciliation): Promise<string | undefined> {
  const marked = await takeNewest(run, namesakesObjects(run))
  if (marked !== undefined) return marked
  const noted = await ownedByRecord(run)
  if (noted === undefined && !isDeleting(run.cr)) reportLookalikes(run)
  return noted
}

/**
 * For a CR whose attempt made nothing: takes an object that a CR of its name made, which may be why the API refused the
 * attempt; undefined if there is none.
 */
export async function recoverMarked(run: Reconciliation): Promise<string | undefined> {
  return await takeNewest(run, recoverableObjects(run))
}

/** The objects that the next run takes one of, unless an attempt made another. Newest last. */
export function recoverableObjects(run: Reconciliation): readonly RemoteObject[] {
  return run.status.id === undefined && externalId(run.cr) === undefined ? namesakesObjects(run) : []
}

/** Objects that CRs of this name made, and that no one holds. Newest last. */
function namesakesObjects(run: Reconciliation): readonly RemoteObject[] {
  const { collection, context, cr, session } = run
  return unheld(run, recoverable(session.cache.find(collection, namesakeKey(nameOf(cr))), cr, context.installation))
}

function unheld({ context, session }: Reconciliation, objects: readonly RemoteObject[]): readonly RemoteObject[] {
  return objects.filter(({ id }) => context.resources.holderOf(session.key, id) === undefined)
}

/**
 * Takes an object that this very CR created and that its status does not know, because an etcd restore lost that part
 * of its history. Undefined if there is none. Objects created by another CR of the same name are not considered: that
 * CR may be active in another cluster.
 */
export async function findSuccessor(run: Reconciliation): Promise<string | undefined> {
  const { context, cr, status } = run
  const copies = copiesOf(markedObjects(run), cr.metadata.uid, status, context.installation)
  const made = copies.filter((object) => markerOf(object)?.nonce !== PLACEHOLDER_NONCE)
  return await takeNewest(run, unheld(run, made))
}

/**
 * Takes the newest of these objects, which no one holds, preferring one whose token is available; the others of the
 * same UID are deleted.
 */
async function takeNewest(run: Reconciliation, free: readonly RemoteObject[]): Promise<string | undefined> {
  const { context, cr } = run
  const own = (await withItsToken(run, [...free].reverse())) ?? free.at(-1)
  if (own === undefined) return undefined
  // Patching first ensures that nothing is deleted or taken because of an old copy of the CR. An attempt that made a
  // different object would count as open again, so it is removed.
  const isOther = ownAttempt(cr) !== undefined && ownAttempt(cr)?.nonce !== markerOf(own)?.nonce
  await run.patchMetadata({
    finalizers: withFinalizer(cr),
    ...(isOther ? { annotations: { [CREATE_ATTEMPT]: null } } : {}),
  })
  // Objects of yet another UID may be in use in another cluster: they are reported, like every marked object that no CR
  // here holds.
  const uid = markerOf(own)?.uid
  await deleteCopies(
    run,
    free.filter((object) => object !== own && markerOf(object)?.uid === uid),
  )
  context.events.record(cr, {
    type: 'Normal',
    reason: 'Recovered',
    message: `found ${own.id}, which this resource created earlier`,
  })
  return takeMarked(run, own)
}

async function ownedByRecord(run: Reconciliation): Promise<string | undefined> {
  const noted = recordedOwnership(run.cr, (text) => run.session.seal(text))
  // A hint does not permit a deletion either.
  if (noted.type === 'none' || (noted.type === 'hint' && isDeleting(run.cr))) return undefined
  refuseHint(run, noted)
  const object = await recordedObject(run, noted.id)
  if (object === undefined) return undefined
  if (noted.type === 'hint') {
    throw new TerminalError(
      reasons.AlreadyExists,
      `a former resource with this name owned ${noted.id}, which still exists: to use it again, set ` +
        `spec.externalID: ${noted.id} and spec.managementPolicy: Manage; to create a new object, remove the annotation ` +
        'internal.culvert.dev/id, or delete that object',
    )
  }
  await run.patchMetadata({ finalizers: withFinalizer(run.cr) })
  return takeMarked(run, object)
}

/**
 * Anyone can write a note without a seal. Where the namespace may not adopt objects, its id is not looked up: whether
 * an object of another exists would show in the answer. Nor is another object made, since the note may be true.
 * @throws TerminalError the same for every id
 */
function refuseHint({ session }: Reconciliation, noted: RecordedOwnership): void {
  if (noted.type !== 'hint' || includes(session.access.unmanagedObjects, 'Adopt')) return
  throw notPermitted(
    `the annotation ${REMOTE_ID} refers to ${noted.id}, but its seal does not prove that the object belongs to this resource: remove the annotation to create a new object, or have the administrator of ${shortName(session.account)} set unmanagedObjects: Adopt in an entry of spec.access that allows this kind`,
  )
}

/**
 * The object that the annotation `internal.culvert.dev/id` names, unless another CR holds it or it carries a marker.
 */
export async function recordedObject(run: Reconciliation, id: string) {
  const { collection, context, cr, session } = run
  const holder = context.resources.holderOf(session.key, id)
  // A holder whose own annotation names another object has a status that is not its own.
  const isMisplaced = holder !== undefined && (ownNote(holder)?.id ?? id) !== id
  if (holder !== undefined && !isMisplaced) return undefined
  const object = (await session.cache.fetch(collection, id)) ?? (await searchFor(run, collection, id))
  if (object === undefined || markerOf(object) !== undefined) return undefined
  return isMisplaced || context.resources.lock(session.key, id, cr) === undefined ? object : undefined
}

/** Takes an object whose create ended long ago; the nonce in its marker is recorded as the last one known. */
function takeMarked(run: Reconciliation, object: RemoteObject): string {
  const nonce = markerOf(object)?.nonce ?? run.context.random.hex(16)
  run.recordObject(object, { nonce, attempt: 0 })
  return object.id
}
