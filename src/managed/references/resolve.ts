import {
  type CustomResource,
  externalId,
  generationOf,
  hasNoConditions,
  LONG_WAIT_MS,
  shortName,
  statusOf,
} from '../cr.ts'
import type { Ref } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { ResolvedTarget } from '../descriptor/desired.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { FoundReference } from '../descriptor/references.ts'
import type { ManagedContext } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { MemberSession } from '../run/session.ts'
import { appliedReference, crosses, crossingOf, type SentReference } from './crossings.ts'
import { refuseCycle } from './cycle.ts'
import { keeperOf, notGranted, notPermitted, refuseUse } from './reach.ts'
import { targetView } from './target-view.ts'
import { messageOf, refText, targetOf } from './targets.ts'
import { isApplied, type Resolver, refusalOfReference } from './usable.ts'

/**
 * Resolves the references of a spec to ids: finds which target each means, whether the namespace may refer to it, and
 * whether it is usable yet, and reads from the account what these decisions need.
 */

/** A target that becomes usable wakes its referrers; this is only the fallback. */
const FALLBACK_MS = 60_000

/** Maximum age of the cached state of an unmanaged object when it is referred to, in milliseconds. */
const FRESH_MS = 60_000

/** References of one CR, resolved to ids. */
export interface ResolvedReferences {
  get(kind: string, ref: Ref): ResolvedTarget
  /** False for an optional reference that cannot be resolved. */
  has(kind: string, ref: Ref): boolean
  /** The ids, each once. */
  readonly ids: readonly string[]
  /**
   * Resolves the references once more from the current state. A deletion becomes visible before its last check for
   * dependents, so if this is called after the CR's object or attempt is recorded, and right before a request that
   * names the ids, one of the two always sees the other.
   * @throws WaitError if a reference is no longer permitted, or leads to another object
   */
  recheck(): void
  /** For the status: what the remote object will refer to once the spec is applied. */
  readonly applied: NonNullable<InternalStatus['references']>
}

/**
 * Resolves every reference of a spec. A *new* reference waits until its target is usable; one that was applied before
 * keeps its id while its target is missing, and so never blocks later changes.
 * @throws WaitError naming field and target; TerminalError on a cycle. The API itself refuses the id of a target in
 *   another account.
 */
export async function resolveReferences(
  context: ManagedContext,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
  session: MemberSession,
): Promise<ResolvedReferences> {
  const found = descriptor.references.of(cr.spec)
  refuseCycle(context, cr, found)
  const targets = new Map<string, ResolvedTarget>()
  const applied: SentReference[] = []
  const resolver = { context, descriptor, session, cr }
  // One that is optional in one place may be needed in another.
  const mayMiss = ({ optional = false }: FoundReference): boolean => optional && hasObject(cr)
  for (const reference of [...found].sort((left, right) => Number(mayMiss(left)) - Number(mayMiss(right)))) {
    const key = refKey(reference.kind, reference.ref)
    if (targets.has(key)) continue
    const target = await resolved(resolver, reference).catch((error: unknown) => {
      if (error instanceof WaitError && mayMiss(reference)) return undefined
      throw error
    })
    if (target === undefined) continue
    targets.set(key, target)
    applied.push(sentFor(resolver, reference, target.id))
  }
  refuseTwice(found, (kind, ref) => targets.get(refKey(kind, ref))?.id)
  return {
    applied,
    ids: [...new Set([...targets.values()].map(({ id }) => id))],
    recheck: () => {
      for (const reference of found) {
        const { kind, path, ref } = reference
        if (!targets.has(refKey(kind, ref))) continue
        if (idOf(resolver, reference) === targets.get(refKey(kind, ref))?.id) continue
        const message = `${path}: ${refText(kind, ref)} has another object now`
        throw new WaitError(reasons.ReferenceNotReady, message, 0, true)
      }
    },
    has: (kind, ref) => targets.has(refKey(kind, ref)),
    get: (kind, ref) => {
      const target = targets.get(refKey(kind, ref))
      if (target === undefined) throw new Error(`reference to ${kind} was not declared by the descriptor`)
      return target
    },
  }
}

async function resolved(resolver: Resolver, reference: FoundReference): Promise<ResolvedTarget> {
  const { context, cr, session } = resolver
  refuseBeyondReach(resolver, reference)
  await learnOfObject(resolver, reference)
  await learnOfCrossing(resolver, reference)
  refuseAsPart(context, cr, reference)
  const id = idOf(resolver, reference)
  const object = reference.needsObject ? await targetObject(context, session, reference, id) : undefined
  return { id, object }
}

/** Whether the CR has a remote object, or names the one to adopt. */
function hasObject(cr: CustomResource): boolean {
  return statusOf(cr).id !== undefined || externalId(cr) !== undefined
}

/**
 * Refuses one object named both by name and by id where each may be named once. @throws TerminalError naming both paths
 */
function refuseTwice(found: readonly FoundReference[], idOf: (kind: string, ref: Ref) => string | undefined): void {
  const paths = new Map<string, string>()
  for (const { kind, once = false, path, ref } of found) {
    if (!once) continue
    const id = idOf(kind, ref) ?? ''
    const other = paths.get(id)
    if (other !== undefined) {
      throw new TerminalError(
        reasons.InvalidSpec,
        `${other} and ${path} refer to the same ${kind} (${id}): remove one of them`,
      )
    }
    paths.set(id, path)
  }
}

function refKey(kind: string, ref: Ref): string {
  return ref.id === undefined ? `${kind}/name/${ref.namespace ?? ''}/${ref.name}` : `${kind}/id/${ref.id}`
}

/** The entry of `status.internal.references` for a resolved reference. */
function sentFor({ context, cr }: Resolver, { kind, ref }: FoundReference, id: string): SentReference {
  const { name, namespace } = ref
  if (name === undefined) return { kind, id }
  if (namespace === undefined || !crosses(cr, ref)) return { kind, name, id }
  const isGranted = crossingOf(context.resources, cr, { kind, ref }).type === 'granted'
  const generation = isGranted ? generationOf(cr) : appliedReference(cr, { kind, ref })?.generation
  return { kind, name, namespace, id, ...(generation === undefined ? {} : { generation }) }
}

/** The id that a reference resolves to. @throws WaitError while the reference is not permitted or not usable. */
function idOf(resolver: Resolver, reference: FoundReference): string {
  const { context, cr } = resolver
  const { kind, path, ref } = reference
  refuseBeyondReach(resolver, reference)
  refuseCrossing(resolver, reference)
  const appliedId =
    ref.id === undefined ? appliedReference(cr, reference)?.id : isApplied(resolver, reference) ? ref.id : undefined
  const target = targetOf(context, cr, reference)
  const id = ref.id ?? (target === undefined ? undefined : statusOf(target).id)
  const refusal = refusalOfReference(resolver, reference, target)
  if (id !== undefined && (refusal === undefined || id === appliedId)) return id
  if (appliedId !== undefined) return appliedId
  const message = `${path}: ${refText(kind, ref)} ${refusal}`
  // Both are new, and the target has yet to be reconciled: nothing is wrong.
  if (target !== undefined && hasNoConditions(target) && hasNoConditions(cr)) {
    throw new WaitError(reasons.ReferenceNotReady, message, LONG_WAIT_MS, true)
  }
  throw new WaitError(reasons.ReferenceNotReady, message, FALLBACK_MS)
}

/**
 * Refuses an id of another namespace's object, and in a shared account one of an unmanaged object, unless the account
 * permits it.
 */
function refuseBeyondReach(
  { context, cr, session }: Resolver,
  { kind, partOf, path, ref: { id } }: FoundReference,
): void {
  if (id === undefined) return
  // A part is written into the object it belongs to.
  const asked = partOf === undefined ? 'Reference' : 'Adopt'
  const keeper = keeperOf(context, session, kind, id)
  refuseUse(session, cr.metadata.namespace, keeper && (keeper.metadata.namespace ?? ''), {
    path: `${path}.id`,
    id,
    asked,
  })
}

/**
 * Refuses a reference to another namespace that is not granted, with the same error whether the resource exists or not;
 * and one whose target lives in another account.
 */
function refuseCrossing({ context: { resources }, cr, session }: Resolver, reference: FoundReference): void {
  const { kind, path, ref } = reference
  if (!crosses(cr, ref)) return
  const crossing = crossingOf(resources, cr, reference)
  if (crossing.type === 'refused') throw notGranted(cr, path, refText(kind, ref))
  const { id } = crossing.target === undefined ? {} : statusOf(crossing.target)
  if (id === undefined || id === appliedReference(cr, reference)?.id) return
  if (resources.holderOf(session.key, id)?.metadata.uid === crossing.target?.metadata.uid) return
  throw notPermitted(
    `${path}: ${refText(kind, ref)} has no object in ${shortName(session.account)}, the account of this resource: refer to one in the same account`,
  )
}

/** Two accounts may be the same one at the API. That shows once this one's cache has the object. */
async function learnOfCrossing({ context, cr, session }: Resolver, reference: FoundReference): Promise<void> {
  const target = crosses(cr, reference.ref) ? targetOf(context, cr, reference) : undefined
  const id = target && statusOf(target).id
  if (id === undefined || id === appliedReference(cr, reference)?.id) return
  if (context.resources.holderOf(session.key, id) !== undefined) return
  for (const collection of context.kinds.collectionsOf(reference.kind)) {
    if (session.cache.get(collection, id)?.object === undefined) await session.cache.fetch(collection, id)
  }
}

/**
 * Fills the account cache for a reference by id: with the children of an object that no CR manages; and with the object
 * itself if a CR of another account holds one with that id, or the account is shared.
 */
async function learnOfObject(resolver: Resolver, reference: FoundReference): Promise<void> {
  const { context, cr, session } = resolver
  const { kind, partOf, ref } = reference
  const { id } = ref
  if (id === undefined || targetOf(context, cr, reference) !== undefined) return
  const { children, whole } = context.kinds.managedKind(kind) ?? {}
  const collections = context.kinds.collectionsOf(kind)
  const { access, cache } = session
  // An object that was just created is in no status yet: its marker shows the owner.
  const isAnybodys = access.granted !== undefined && !isApplied(resolver, reference)
  if (isAnybodys || context.resources.isHeld(id)) {
    for (const collection of collections) {
      if (cache.get(collection, id)?.object === undefined) await cache.fetch(collection, id)
    }
    if (targetOf(context, cr, reference) !== undefined) return
  }
  if (children === undefined || whole === undefined) return
  if (partOf !== undefined || isApplied(resolver, reference)) return
  const needed = [...collections, children.collection]
  // Otherwise, each try would list those that are open.
  const [closed] = needed.flatMap((collection) => cache.refusalOf(collection) ?? [])
  if (closed !== undefined) throw closed
  const list = async (since: number): Promise<void> => {
    for (const collection of needed) await cache.ensureListed(collection, { since })
  }
  await list(context.clock.monotonic() - FRESH_MS)
  // An object that was just created is in no list yet.
  if (collections.every((collection) => cache.get(collection, id)?.object === undefined)) {
    await list(context.clock.monotonic())
  }
}

/** A part that its whole does not accept would undo the whole's changes, and vice versa, forever. */
function refuseAsPart(context: ManagedContext, cr: CustomResource, reference: FoundReference): void {
  if (reference.partOf === undefined) return
  const target = targetOf(context, cr, reference)
  const refusal = target && reference.partOf(targetView(context, target, cr.metadata.namespace, cr))
  if (target === undefined || refusal === undefined) return
  throw new TerminalError(reasons.ReferenceRefused, `${reference.path}: ${messageOf(cr, target, reference)} ${refusal}`)
}

async function targetObject(
  context: ManagedContext,
  session: MemberSession,
  { kind, path, ref }: FoundReference,
  id: string,
): Promise<ResolvedTarget['object']> {
  for (const collection of context.kinds.collectionsOf(kind)) {
    const cached = session.cache.get(collection, id)?.object
    const object = cached ?? (await session.cache.fetch(collection, id))
    if (object !== undefined) return object
  }
  throw new WaitError(
    reasons.ReferenceNotReady,
    `${path}: no ${kind} with id ${id} in the account${ref.id === undefined ? '' : ': correct the id'}`,
    FALLBACK_MS,
  )
}
