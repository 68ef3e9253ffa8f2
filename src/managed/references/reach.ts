import { type CustomResource, internalOf, isObserved, shortName } from '../cr.ts'
import { includes, type UnmanagedObjects } from '../descriptor/access.ts'
import { reasons } from '../descriptor/reasons.ts'
import { markerOf } from '../markers/marker.ts'
import { isSealed, ownNote } from '../markers/sealed-note.ts'
import type { ManagedContext } from '../run/context.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { AccountSession, MemberSession } from '../run/session.ts'

/** A use of an object by its id. */
export interface IdUse {
  /** Namespace of the resource that names the id. */
  readonly namespace: string
  /** Namespace of the resource that holds the object; undefined if none does. */
  readonly keeper: string | undefined
  /** How the resource may use objects that no resource holds. */
  readonly allowed: UnmanagedObjects
  /** How it wants to use this one. */
  readonly asked: Exclude<UnmanagedObjects, 'Deny'>
}

/**
 * Why an object may not be used by its id; undefined if it may. A resource that may not use unmanaged objects gets the
 * same answer for every id, whether the object is held, unmanaged or does not exist.
 */
export function refusalOfUse({ namespace, keeper, allowed, asked }: IdUse): 'kept elsewhere' | 'unmanaged' | undefined {
  if (keeper === namespace) return undefined
  if (!includes(allowed, asked)) return 'unmanaged'
  return keeper === undefined ? undefined : 'kept elsewhere'
}

/** An id in a spec. */
export interface NamedId {
  /** Path of the field, for messages. */
  readonly path: string
  readonly id: string
  readonly asked: IdUse['asked']
}

/**
 * @param keeper namespace of the resource that holds the object
 * @throws TerminalError for an id of an object that the namespace may not use
 */
export function refuseUse(
  { account, access }: Pick<MemberSession, 'account' | 'access'>,
  namespace: string | undefined,
  keeper: string | undefined,
  { path, id, asked }: NamedId,
): void {
  const own = namespace ?? ''
  const refusal = refusalOfUse({ namespace: own, keeper, allowed: access.unmanagedObjects, asked })
  if (refusal === undefined) return
  const byName =
    'refer to the resource by name or, in another namespace, by namespace and name if its spec.allowedReferences permits it'
  if (refusal === 'kept elsewhere') {
    throw notPermitted(
      `${path}: ${id} is managed by a resource in another namespace and cannot be used by id: ${byName}`,
    )
  }
  const remedy = `${byName}, or have its administrator set unmanagedObjects: ${asked} in an entry of spec.access that allows this kind`
  throw notPermitted(
    `${path}: ${id} belongs to no resource in namespace ${own}, and ${shortName(account)} does not allow that namespace to use other objects: ${remedy}`,
  )
}

/**
 * The error for a value that uses an object of another namespace, or an unmanaged one. It is the same for every value,
 * whether such an object exists or not.
 */
export function valueNotPermitted(
  { account, access }: Pick<MemberSession, 'account' | 'access'>,
  namespace: string,
  { path, value }: { readonly path: string; readonly value: string },
): TerminalError {
  const unmanaged = includes(access.unmanagedObjects, 'Reference')
    ? ''
    : `, or have the administrator of ${shortName(account)} set unmanagedObjects: Reference in an entry of spec.access that allows this kind`
  return notPermitted(
    `${path}: ${value} is not reserved by a resource that permits references from namespace ${namespace}: reserve it in this namespace, or have the namespace added to spec.allowedReferences of the resource that reserves it${unmanaged}`,
  )
}

/**
 * The error for a reference into another namespace that is not granted. It is the same if the resource does not exist.
 * @param what the resource, as the author of the reference named it
 */
export function notGranted(
  { metadata: { namespace = '' } }: CustomResource,
  path: string,
  what: string,
): TerminalError {
  return notPermitted(
    `${path}: ${what} does not permit references from namespace ${namespace}, or does not exist: have the namespace added to its spec.allowedReferences, or refer to another`,
  )
}

/** A person has to change something: Stalled. */
export function notPermitted(message: string): TerminalError {
  return new TerminalError(reasons.ReferenceNotPermitted, message)
}

/** Where the owner of an object is looked up. */
type Place = Pick<ManagedContext, 'installation' | 'kinds' | 'resources'>

/**
 * The resource that holds an object of that kind: by the marker in the account, a sealed note, a status, a lock of a
 * run, or as a child of its object. Statuses come last, since only they can be forged without the account's key. A
 * resource that only observes an object does not hold it.
 */
export function keeperOf(
  { installation, kinds, resources }: Place,
  session: Pick<AccountSession, 'cache' | 'key' | 'seal'>,
  kind: string,
  id: string,
): CustomResource | undefined {
  for (const collection of kinds.collectionsOf(kind)) {
    const object = session.cache.get(collection, id)?.object
    const marker = object && markerOf(object)
    if (marker === undefined || marker.installation !== installation) continue
    const marked = resources.get(marker)
    if (marked?.metadata.uid === marker.uid) return marked
  }
  return recordedKeeper(resources, session, id) ?? keeperByStatus(resources, session, id)
}

function recordedKeeper(
  resources: Place['resources'],
  session: Pick<AccountSession, 'key' | 'seal'>,
  id: string,
): CustomResource | undefined {
  const noter = resources.noterOf(session.key, id)
  const note = noter && ownNote(noter)
  return note !== undefined && isSealed(note, (text) => session.seal(text)) ? noter : undefined
}

function keeperByStatus(
  resources: Place['resources'],
  { key }: Pick<AccountSession, 'key'>,
  id: string,
): CustomResource | undefined {
  const holder = resources.holderOf(key, id)
  const isObserver = holder !== undefined && isObserved(holder) && internalOf(holder).create === undefined
  return isObserver || holder === undefined ? resources.childHolderOf(key, id) : holder
}
