import type { Collection, RemoteObject } from '../../api/types.ts'
import {
  type CustomResource,
  hasFinalizer,
  heldIds,
  internalOf,
  nameOf,
  shortName,
  statusOf,
  type TargetKey,
} from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { referrerKey, valueUserKey } from '../markers/object-keys.ts'
import { CREATE_ATTEMPT } from '../names.ts'
import type { ManagedContext } from '../run/context.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { countsAcross, isGranted, namedTargets } from './crossings.ts'

/** Dependents that go away wake their targets. Objects not managed here are checked again after this. */
export const IN_USE_MS = 30_000

/** An object that others may refer to. */
export interface UsedObject {
  readonly kind: string
  readonly collection: Collection
  readonly id: string
}

/** An object that refers to another. */
export interface Dependent {
  /** Its name in messages. */
  readonly name: string
  /** The CR that holds it, if there is one. */
  readonly resource: CustomResource | undefined
}

/**
 * Remote objects that refer to the object, managed here or not, from lists that began at the monotonic time `since`
 * or later, and after every request of this process that named the object had ended.
 * @throws WaitError while such a request is in flight
 */
export async function dependentsOf(
  run: Reconciliation,
  { kind, collection, id }: UsedObject,
  since: number,
): Promise<readonly Dependent[]> {
  const { cache } = run.session
  const now = run.context.clock.now()
  const target = cache.get(collection, id)?.object
  const { valuesOf } = run.context.kinds.managedKind(kind)?.identity ?? {}
  const values = target === undefined ? [] : (valuesOf?.(target) ?? [])
  const begun = settledAt(run, id, since)
  const dependents: Dependent[] = []
  for (const { collections, reference } of run.context.kinds.referrersOf(kind)) {
    for (const place of collections) {
      await cache.ensureListed(place, { since: begun })
      const byId = cache.find(place, referrerKey(kind, id))
      const byValue = values.flatMap((value) => cache.find(place, valueUserKey(kind, value)))
      const users = [...byId, ...byValue.filter((object) => target !== undefined && mayHoldUp(run, object, target))]
      for (const object of new Set(users)) {
        if (!reference.isOver?.(object, now)) dependents.push(dependentOf(run, object, place.path))
      }
    }
  }
  return dependents
}

/**
 * Monotonic time from which lists show the effect of requests of this process that named the id. Those that began after
 * `since` need not be waited for: their senders knew of the deletion. @throws WaitError while one may still take
 * effect.
 */
function settledAt({ context, session }: Reconciliation, id: string, since: number): number {
  const { clock, inFlight, times } = context
  const settled = inFlight.settledAt(session, id, since)
  const wait = settled === undefined ? times.scanPauseMs : settled - clock.monotonic()
  if (settled !== undefined && wait <= 0) return settled
  const message = 'waiting for a request in progress that refers to the object'
  throw new WaitError(reasons.Deleting, message, Math.ceil(wait), true)
}

/**
 * Whether an object that uses the target by a value counts. In a shared account a resource of another namespace does
 * only if it is or was permitted to: setting a host must not block the deletion of its reservation.
 */
function mayHoldUp(
  { context: { resources }, cr, session }: Reconciliation,
  dependent: RemoteObject,
  target: RemoteObject,
): boolean {
  const resource = resources.holderOf(session.key, dependent.id)
  const namespace = resource?.metadata.namespace
  if (session.access.granted === undefined || resource === undefined || namespace === cr.metadata.namespace) return true
  const wasPermitted = (internalOf(resource).references ?? []).some(({ id }) => id === target.id)
  return wasPermitted || isGranted(resources, cr, namespace)
}

/**
 * The CRs that refer to the target and may have an object that depends on its object. Known without a request, and
 * complete: a CR records its attempt before it creates an object, and checks its targets once more after that
 * (`ResolvedReferences.recheck`).
 */
export function referringDependents(
  { context, cr }: Reconciliation,
  target: TargetKey,
  counts: (referrer: CustomResource) => boolean = () => true,
): readonly Dependent[] {
  const dependents = referrersInReach(context, target, cr).filter(
    (dependent) => mayHoldObject(dependent) && counts(dependent),
  )
  const { kind, namespace, name } = target
  const resource = name === undefined ? undefined : context.resources.get({ kind, namespace, name })
  return dependents.map((dependent) => ({
    name: messageName(dependent, cr.metadata.namespace, resource && { target: resource, resources: context.resources }),
    resource: dependent,
  }))
}

/** Whether a CR's object has expired, by its status, and will not be renewed: it no longer needs what it refers to. */
export function isPermanentlyExpired({ context: { clock, kinds } }: Reconciliation, cr: CustomResource): boolean {
  const descriptor = kinds.managedKind(cr.kind)
  const status = statusOf(cr)
  const until = descriptor?.status.certificate?.expiresAt?.(status)
  return (
    until !== undefined &&
    descriptor?.status.certificate?.renewsAt?.(status) === undefined &&
    Date.parse(until) <= clock.now()
  )
}

/** Names of dependents, sorted. */
export function namesOfDependents(dependents: readonly Dependent[]): readonly string[] {
  return dependents.map(({ name }) => name).sort(inOrder)
}

/**
 * CRs that refer to the target, for `cr`, which is the target or a part of it. An id is no secret: a CR of another
 * namespace that lives in another account than `cr` cannot mean its object, and must not block it.
 */
export function referrersInReach(
  context: Pick<ManagedContext, 'kinds' | 'resources'>,
  target: TargetKey,
  cr: CustomResource,
): readonly CustomResource[] {
  const { kinds, resources } = context
  const { namespace } = cr.metadata
  return resources.referrersOf(target).filter((referrer) => {
    if (referrer.metadata.namespace === namespace) return true
    const descriptor = kinds.managedKind(referrer.kind)
    const names = descriptor === undefined ? [] : namedTargets(descriptor, referrer)
    return countsAcross(resources, { referrer, names, inOneAccount: isOneAccount(resources, cr, referrer) }, target)
  })
}

/** Accounts of different namespaces are different, unless one key opens both. */
function isOneAccount(resources: ManagedContext['resources'], cr: CustomResource, other: CustomResource): boolean {
  const key = resources.accountKeyOf(cr)
  return key !== undefined && resources.livesIn(other, key)
}

/**
 * Whether the CR has an object, or may have one: a CR that waits for its first, or was refused one, depends on nothing.
 */
export function mayHoldObject(cr: CustomResource): boolean {
  const isOpen = cr.metadata.annotations?.[CREATE_ATTEMPT] !== undefined
  return hasFinalizer(cr) && (heldIds(statusOf(cr)).length > 0 || isOpen)
}

/** A CR that is referred to, with the CRs to show to its readers. */
export interface Grantor {
  readonly target: CustomResource
  readonly resources: Pick<ManagedContext['resources'], 'namespace'>
}

/**
 * `Kind/name` for a CR of the reader's namespace, and with its namespace for one to which the reader's resource grants
 * references. Any other is named by its object's id, which is visible to everyone who shares the account.
 */
export function messageName(cr: CustomResource, reader: string | undefined, grantor?: Grantor): string {
  const { name, namespace } = cr.metadata
  if (namespace === reader) return shortName(nameOf(cr))
  if (
    grantor !== undefined &&
    grantor.target.metadata.namespace === reader &&
    isGranted(grantor.resources, grantor.target, namespace)
  ) {
    return `${cr.kind} ${namespace}/${name}`
  }
  const { id } = statusOf(cr)
  return id === undefined ? 'a resource in another namespace' : `${id} of another namespace`
}

function dependentOf(
  { context: { resources }, cr, session }: Reconciliation,
  { id }: RemoteObject,
  path: string,
): Dependent {
  const resource = resources.holderOf(session.key, id)
  const { namespace } = cr.metadata
  if (resource === undefined) return { name: `${path}/${id}`, resource }
  const isTold = resource.metadata.namespace === namespace || isGranted(resources, cr, resource.metadata.namespace)
  const name = isTold
    ? messageName(resource, namespace, { target: cr, resources })
    : `${path}/${id} of another namespace`
  return { name, resource }
}

function inOrder(left: string, right: string): number {
  return left < right ? -1 : 1
}
