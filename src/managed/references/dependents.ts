import type { Collection, RemoteObject } from '../../api/types.ts'
import { type CustomResource, hasFinalizer, heldIds, nameOf, shortName, statusOf, type TargetKey } from '../cr.ts'
import type { ReferenceKind } from '../descriptor/descriptor.ts'
import { CREATE_ATTEMPT } from '../names.ts'
import type { ManagedContext } from '../reconcile/context.ts'
import { WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'
import { countsAcross, isGranted, namedTargets } from './crossings.ts'

/** A dependent that goes away wakes its targets; objects not managed here are asked for again after this. */
export const IN_USE_MS = 30_000

/** An object that others may use. */
export interface UsedObject {
  readonly kind: string
  readonly collection: Collection
  readonly id: string
}

/** What uses an object. */
export interface Dependent {
  /** As messages say it. */
  readonly name: string
  /** The CR that holds it, if there is one. */
  readonly resource: CustomResource | undefined
}

/**
 * What uses the object at the API, managed here or not: as lists show it that began at the
 * monotonic time `since` or later, and after every request of this process that named the object was over.
 * @throws WaitError while such a request is under way
 */
export async function dependentsOf(
  run: Reconciliation,
  { kind, collection, id }: UsedObject,
  since: number,
): Promise<readonly Dependent[]> {
  const { cache } = run.session
  const now = run.context.clock.now()
  const target = cache.get(collection, id)?.object
  const begun = settledAt(run, id, since)
  const dependents: Dependent[] = []
  for (const { descriptor, reference } of run.context.kinds.referrersOf(kind)) {
    for (const place of descriptor.collections) {
      await cache.ensureListed(place, { since: begun })
      for (const object of cache.all(place)) {
        if (reference.isOver?.(object, now)) continue
        if (uses(reference, object, id, target)) dependents.push(dependentOf(run, object, place.path))
      }
    }
  }
  return dependents
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

function uses(
  reference: ReferenceKind,
  dependent: RemoteObject,
  id: string,
  target: RemoteObject | undefined,
): boolean {
  if (reference.idsIn(dependent).includes(id)) return true
  return target !== undefined && (reference.uses?.(dependent, target) ?? false)
}

/**
 * The CRs that refer to the target and may have an object that uses its own. Known without a request, and complete: a CR that is
 * to have an object says so before it makes one, and looks at its targets once more after that (`ResolvedReferences.confirm`).
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

/** Whether the object of a CR has run its course, by its status, and none takes its place: it needs nothing any more that it refers to. */
export function hasRunItsCourse({ context: { clock, kinds } }: Reconciliation, cr: CustomResource): boolean {
  const descriptor = kinds.managedKind(cr.kind)
  const status = statusOf(cr)
  const until = descriptor?.expiresAt?.(status)
  return until !== undefined && descriptor?.renewsAt?.(status) === undefined && Date.parse(until) <= clock.now()
}

/** Names of dependents, sorted. */
export function namesOfDependents(dependents: readonly Dependent[]): readonly string[] {
  return dependents.map(({ name }) => name).sort(inOrder)
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
  const { kinds, resources } = context
  const { namespace } = cr.metadata
  return resources.referrersOf(target).filter((referrer) => {
    if (referrer.metadata.namespace === namespace) return true
    const descriptor = kinds.managedKind(referrer.kind)
    const names = descriptor === undefined ? [] : namedTargets(descriptor, referrer)
    return countsAcross(resources, { referrer, names, inOneAccount: isOneAccount(resources, cr, referrer) }, target)
  })
}

/** Accounts of two namespaces are two, unless one key opens both. */
function isOneAccount(resources: ManagedContext['resources'], cr: CustomResource, other: CustomResource): boolean {
  const key = resources.accountKeyOf(cr)
  return key !== undefined && resources.livesIn(other, key)
}

/** Whether the CR has an object, or may have one: what only waits for its first, or was refused one, uses nothing. */
export function mayHoldObject(cr: CustomResource): boolean {
  const isOpen = cr.metadata.annotations?.[CREATE_ATTEMPT] !== undefined
  return hasFinalizer(cr) && (heldIds(statusOf(cr)).length > 0 || isOpen)
}

/** A CR that is referred to, to whose people it is told who does. */
export interface Grantor {
  readonly target: CustomResource
  readonly resources: Pick<ManagedContext['resources'], 'namespace'>
}

/**
 * `Kind/name` of a CR of the reader's own namespace, and with its namespace where the reader's resource grants references from there. Others are told of by their objects' ids,
 * which the account shows to all who share it.
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
  return id === undefined ? 'a resource of another namespace' : `${id} of another namespace`
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
