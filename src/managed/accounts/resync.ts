import type { Collection, RemoteObject } from '../../api/types.ts'
import { eachInTurns } from '../../runtime/turns.ts'
import { wasClockSet } from '../../util/noted-time.ts'
import {
  type CustomResource,
  hasFinalizer,
  heldIds,
  internalOf,
  isDeleting,
  nameOf,
  shortName,
  statusOf,
  unresolvedAttempt,
} from '../cr.ts'
import { type ManagedDescriptor, ownCollections } from '../descriptor/descriptor.ts'
import { IdentityMemory } from '../identity/identity-memory.ts'
import { PollMemory } from '../identity/read-object.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { type Marker, markerOf } from '../markers/marker.ts'
import type { AccountContext } from './account-context.ts'
import type { LiveSession } from './session.ts'

/** The members of an account, and the collections that may contain their objects. */
export interface Holdings {
  readonly members: readonly CustomResource[]
  /** Paths of the collections that the members use now. */
  readonly used: ReadonlySet<string>
  readonly collections: readonly Collection[]
}

/**
 * The members of an account and the collections to list, each once: those that the members use, and those that may
 * contain objects of ours although no CR uses them any more.
 */
export function holdingsOf(
  context: AccountContext,
  session: LiveSession,
  members: readonly CustomResource[],
  orphans: readonly { readonly collection: string }[] = [],
): Holdings {
  const used = new Map<string, Collection>()
  for (const cr of members) {
    const descriptor = context.kinds.managedKind(cr.kind)
    if (descriptor === undefined || !mayHold(context, session, cr)) continue
    for (const collection of ownCollections(descriptor, cr.spec)) used.set(collection.path, collection)
  }
  const reported = new Set(orphans.map(({ collection }) => collection))
  const left = collectionsOf(context.kinds.managed).filter((collection) => {
    const { path } = collection
    if (used.has(path)) return false
    const marked = session.cache.all(collection).some((object) => isOurs(context, object))
    return marked || reported.has(path) || session.mayHold(path)
  })
  return { members, used: new Set(used.keys()), collections: [...used.values(), ...left] }
}

/** False for a CR that may not use the account and never did: nothing is listed for it. */
function mayHold({ registry }: AccountContext, { account }: LiveSession, cr: CustomResource): boolean {
  return hasFinalizer(cr) || statusOf(cr).id !== undefined || registry.allows(account, cr)
}

/** Each collection once: children of one kind may be objects of another. */
function collectionsOf(descriptors: readonly ManagedDescriptor[]): readonly Collection[] {
  const all = descriptors.flatMap(({ identity: { collections }, children }) => {
    return children === undefined ? collections : [...collections, children.collection]
  })
  return [...new Set(all)]
}

/** Whether this installation created the object. */
function isOurs({ installation }: AccountContext, object: RemoteObject): boolean {
  return markerOf(object)?.installation === installation
}

/** How many objects `members` hold in collections that `counts`, without those that are being deleted. */
export function countHeld(
  kinds: KindsRegistry,
  members: readonly CustomResource[],
  counts: (collection: Collection) => boolean,
): number {
  return members.filter((cr) => {
    const collection = kinds.managedKind(cr.kind)?.identity.collectionOf(cr.spec)
    return isHolding(cr) && collection !== undefined && counts(collection)
  }).length
}

/** Whether the CR holds an object that it is to keep. */
export function isHolding(cr: CustomResource): boolean {
  return statusOf(cr).id !== undefined && !isDeleting(cr)
}

/** A marked object whose CR is gone. Only reported: whether to delete it is for people to decide. */
export interface Orphan {
  readonly collection: string
  readonly id: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/**
 * Checks every object that the lists showed: notes copies for their CRs to delete, and returns the orphans.
 * @param reported the orphans found before: those in closed collections stay reported
 */
export async function sweep(
  context: AccountContext,
  session: LiveSession,
  collections: readonly Collection[],
  reported: readonly Orphan[] = [],
): Promise<readonly Orphan[]> {
  const closed = new Set(session.cache.refusals().map(({ collection }) => collection.path))
  const orphans = reported.filter(({ collection }) => closed.has(collection))
  const copies = new Map<string, string[]>()
  for (const collection of collections) {
    if (closed.has(collection.path)) continue
    await eachInTurns(context.turns, session.cache.all(collection), (object) => {
      const marker = markerOf(object)
      if (marker?.installation !== context.installation || context.kinds.managedKind(marker.kind) === undefined) return
      if (isOwned(context, session, object, marker) || isGoing(context, session, { collection, object, marker })) return
      if (isOwnedBeside(context, session, object, marker)) return
      const cr = namedBy(context, session, marker)
      if (cr !== undefined && mayStillTake(cr, marker)) return
      if (cr?.metadata.uid !== marker.uid) orphans.push(orphanOf(collection, object, marker))
      else if (isCopy(context, cr, collection)) copies.set(marker.uid, [...(copies.get(marker.uid) ?? []), object.id])
    })
  }
  for (const [uid, ids] of copies) context.memories.of(uid).of(IdentityMemory).expectCopies(ids)
  return orphans.sort((left, right) => (left.id < right.id ? -1 : 1))
}

/**
 * Whether a CR without an id has not yet settled whether the object is its own. One that has had an object takes only
 * those with its own UID: another may have been made by a CR of the same name that an etcd restore undid.
 */
function mayStillTake(cr: CustomResource, { uid }: Marker): boolean {
  const { create } = internalOf(cr)
  return statusOf(cr).id === undefined && (cr.metadata.uid === uid || create?.uid !== cr.metadata.uid)
}

/**
 * The CR that a marker names, if it lives in this account: an API can say nothing about a CR whose object is in another
 * account.
 */
function namedBy({ resources }: AccountContext, { key }: LiveSession, marker: Marker): CustomResource | undefined {
  const cr = resources.get(marker)
  return cr !== undefined && resources.livesIn(cr, key) ? cr : undefined
}

/** Whether a CR holds the object or, for the kind that the marker names, its parent. */
function isOwned(
  { kinds, resources }: AccountContext,
  { key }: LiveSession,
  object: RemoteObject,
  { kind }: Marker,
): boolean {
  if (resources.holderOf(key, object.id) !== undefined) return true
  const parent = parentOf(kinds, object, kind)
  return parent !== undefined && resources.holderOf(key, parent) !== undefined
}

/** The id of the object's parent, if the kind that its marker names has children. */
function parentOf(kinds: KindsRegistry, object: RemoteObject, kind: string): string | undefined {
  return kinds.managedKind(kind)?.children?.parentId(object)
}

/**
 * Whether the object was listed before this process deleted its parent, which takes it along: the next list decides.
 */
function isGoing(
  { kinds }: AccountContext,
  { cache }: LiveSession,
  { collection, object, marker }: { collection: Collection; object: RemoteObject; marker: Marker },
): boolean {
  const parent = parentOf(kinds, object, marker.kind)
  if (parent === undefined) return false
  const own = kinds.managedKind(marker.kind)?.identity.collections ?? []
  return own.some((each) => cache.isDeletedSinceList(each, parent, collection))
}

/**
 * Whether the CR that created the object holds it, or is about to, in another account at the same API. That may be the
 * same account, opened with another key, and need not have been listed: its key may be refused, or it waits for its
 * turn.
 */
function isOwnedBeside(
  { kinds, resources }: AccountContext,
  { key }: LiveSession,
  object: RemoteObject,
  marker: Marker,
): boolean {
  const cr = resources.get(marker)
  if (cr?.metadata.uid !== marker.uid || resources.livesIn(cr, key) || !resources.isBeside(cr, key)) return false
  const status = statusOf(cr)
  const parent = parentOf(kinds, object, marker.kind)
  return status.id === undefined || heldIds(status).some((id) => id === object.id || id === parent)
}

/** Whether the object is a copy of the one that its CR holds. While a create is open, that is not decided. */
function isCopy(context: AccountContext, cr: CustomResource, collection: Collection): boolean {
  const descriptor = context.kinds.managedKind(cr.kind)
  const ofParent = descriptor?.identity.collections.some(({ path }) => path === collection.path) ?? false
  return ofParent && unresolvedAttempt(cr) === undefined && statusOf(cr).id !== undefined
}

function orphanOf(collection: Collection, { id }: RemoteObject, { kind, namespace, name }: Marker): Orphan {
  // The API may return any marker: names are cut to the length that names can have.
  return { collection: collection.path, id, kind, namespace: namespace.slice(0, 63), name: name.slice(0, 253) }
}

/**
 * CRs to wake after a resync: their object, or a child of it, changed or vanished, or has copies; or their next poll
 * was scheduled by a wall clock that was set since.
 */
export function concerned(
  context: AccountContext,
  session: LiveSession,
  members: readonly CustomResource[],
): readonly CustomResource[] {
  const found = new Map<string, CustomResource>()
  const add = (cr: CustomResource | undefined): void => {
    if (cr !== undefined) found.set(cr.metadata.uid, cr)
  }
  const { key } = session
  for (const change of session.takeChanges()) {
    add(context.resources.holderOf(key, change.id) ?? context.resources.childHolderOf(key, change.id))
    if (change.type === 'vanished') continue
    for (const { children } of context.kinds.managed) {
      if (children?.collection.path !== change.collection.path) continue
      const parent = children.parentId(change.object)
      if (parent !== undefined) add(context.resources.holderOf(key, parent))
    }
  }
  for (const cr of members) {
    const memory = context.memories.of(cr.metadata.uid)
    const { copies } = memory.of(IdentityMemory)
    const { clockOffset } = memory.of(PollMemory)
    const isMistimed = clockOffset !== undefined && wasClockSet(clockOffset, context.clock)
    // While a create is open, copies are not looked for: a resync would only repeat what the API has refused.
    const hasCopies = copies !== undefined && unresolvedAttempt(cr) === undefined
    if (hasCopies || isMistimed) add(cr)
  }
  return [...found.values()]
}

/**
 * Name of an enforced restriction that may keep the operator out of the API: as last seen there, or as a resource
 * declares it.
 */
export function apiRestriction(
  { kinds, resources }: AccountContext,
  session: LiveSession,
  members: readonly CustomResource[],
): string | undefined {
  for (const { identity, definition, apiAccess } of kinds.managed) {
    if (apiAccess?.type !== 'restricts') continue
    const seen = identity.collections.flatMap((collection) => {
      return [...session.cache.all(collection)]
        .filter((object) => apiAccess.object(object))
        .map(({ id }) => {
          const holder = resources.holderOf(session.key, id)
          return holder === undefined ? `${collection.path}/${id}` : shortName(nameOf(holder))
        })
    })
    const declared = members
      .filter(({ kind, spec, status }) => {
        return kind === definition.kind && status?.id !== undefined && apiAccess.spec(spec)
      })
      .map((cr) => shortName(nameOf(cr)))
    const [first] = [...seen, ...declared].sort((left, right) => (left < right ? -1 : 1))
    if (first !== undefined) return first
  }
  return undefined
}
