import type { Collection, RemoteObject } from '../api/types.ts'
import { accountOf } from './account-choice.ts'
import type { ManagedContext } from './context.ts'
import { type CustomResource, hasFinalizer, heldIds, nameOf, shortName, statusOf, type TargetKey } from './cr.ts'
import { WaitError } from './errors.ts'
import { CREATE_ATTEMPT } from './names.ts'
import { reasons } from './reasons.ts'
import type { Reconciliation } from './reconciliation.ts'
import type { ReferenceKind } from './types/descriptor.ts'

/** A user that goes away wakes its targets; objects not managed here are asked for again after this. */
export const IN_USE_MS = 30_000

/** An object that others may use. */
export interface UsedObject {
  readonly kind: string
  readonly collection: Collection
  readonly id: string
}

/**
 * What uses the object at the API, managed here or not, by the names that messages give them, sorted: as lists show it that began at the
 * monotonic time `since` or later, and after every request of this process that named the object was over.
 * @throws WaitError while such a request is under way
 */
export async function usersOf(
  run: Reconciliation,
  { kind, collection, id }: UsedObject,
  since: number,
): Promise<readonly string[]> {
  const { cache } = run.session
  const target = cache.get(collection, id)?.object
  const begun = settledAt(run, id, since)
  const users: string[] = []
  for (const { descriptor, reference } of run.context.kinds.referrersOf(kind)) {
    for (const place of descriptor.collections) {
      await cache.ensureListed(place, { since: begun })
      for (const object of cache.all(place)) {
        if (uses(reference, object, id, target)) users.push(objectName(run, object, place.path))
      }
    }
  }
  return users.sort(inOrder)
}

/**
 * From when on lists show what has come of requests of this process that named the id. Those that were begun after `since` need no waiting for:
 * their senders knew that the object goes. @throws WaitError while one may take effect.
 */
function settledAt({ context, session }: Reconciliation, id: string, since: number): number {
  const { clock, inFlight, times } = context
  const settled = inFlight.settledAt(session, id, since)
  const wait = settled === undefined ? times.scanPauseMs : settled - clock.monotonic()
  if (settled !== undefined && wait <= 0) return settled
  const message = 'a request that names the object is under way: waiting for its end'
  throw new WaitError(reasons.Deleting, message, Math.ceil(wait), true)
}

function uses(reference: ReferenceKind, user: RemoteObject, id: string, target: RemoteObject | undefined): boolean {
  if (reference.idsIn(user).includes(id)) return true
  return target !== undefined && (reference.uses?.(user, target) ?? false)
}

/**
 * Names of the CRs that refer to the target and may have an object that uses its own, sorted. Known without a request, and complete: a CR that is
 * to have an object says so before it makes one, and looks at its targets once more after that (`ResolvedReferences.confirm`).
 */
export function referringUsers(
  { context, cr }: Reconciliation,
  target: TargetKey,
  counts: (referrer: CustomResource) => boolean = () => true,
): readonly string[] {
  const users = referrersInReach(context, target, cr).filter((user) => mayHoldObject(user) && counts(user))
  return users.map((user) => messageName(user, cr.metadata.namespace)).sort(inOrder)
}

/**
 * CRs that refer to the target, for `cr`, which is the target or a part of it. An id is no secret: those of another namespace that live in
 * another account than `cr` cannot mean its object, and have no say in what becomes of it.
 */
export function referrersInReach(
  context: Pick<ManagedContext, 'kinds' | 'resources'>,
  target: TargetKey,
  cr: CustomResource,
): readonly CustomResource[] {
  const { namespace } = cr.metadata
  return context.resources.referrersOf(target).filter((referrer) => {
    if (referrer.metadata.namespace === namespace) return true
    const account = accountOf(context, cr)
    const other = accountOf(context, referrer)
    // Accounts of two namespaces are two, though one key may open both: what is made there is found by lists.
    return account?.kind === 'ClusterAccount' && other?.kind === account.kind && other.name === account.name
  })
}

/** Whether the CR has an object, or may have one: what only waits for its first, or was refused one, uses nothing. */
export function mayHoldObject(cr: CustomResource): boolean {
  const isOpen = cr.metadata.annotations?.[CREATE_ATTEMPT] !== undefined
  return hasFinalizer(cr) && (heldIds(statusOf(cr)).length > 0 || isOpen)
}

/** `Kind/name` of a CR of the reader's own namespace. Others are told of by their objects' ids, which the account shows to all who share it. */
export function messageName(cr: CustomResource, reader: string | undefined): string {
  if (cr.metadata.namespace === reader) return shortName(nameOf(cr))
  const { id } = statusOf(cr)
  return id === undefined ? 'a resource of another namespace' : `${id} of another namespace`
}

function objectName({ context, cr, session }: Reconciliation, object: RemoteObject, path: string): string {
  const holder = context.resources.holderOf(session.key, object.id)
  const isOwn = holder !== undefined && holder.metadata.namespace === cr.metadata.namespace
  return isOwn ? shortName(nameOf(holder)) : `${path}/${object.id}`
}

function inOrder(left: string, right: string): number {
  return left < right ? -1 : 1
}
