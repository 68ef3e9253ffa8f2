import type { AccountSession, ManagedContext } from './context.ts'
import { type CustomResource, isDeleting, nameOf, type ResourceName, shortName, statusOf } from './cr.ts'
import { TerminalError, WaitError } from './errors.ts'
import { reasons } from './reasons.ts'
import { targetView } from './target-view.ts'
import type { CommonStatus, Ref } from './types/common.ts'
import type { FoundReference, ManagedDescriptor, ResolvedTarget } from './types/descriptor.ts'
import type { TargetView } from './types/target.ts'

/** A target that becomes usable wakes its referrers; this is only the fallback. */
const FALLBACK_MS = 60_000

/** References of one CR, resolved to ids. */
export interface ResolvedReferences {
  get(kind: string, ref: Ref): ResolvedTarget
  /** For status: what the remote object will hold once the spec is applied. */
  readonly applied: NonNullable<CommonStatus['references']>
}

/**
 * Resolves every reference of a spec. A *new* reference waits until its target is usable; one that was applied before keeps the
 * id it was applied with while its target is away, and so never blocks later changes.
 * @throws WaitError naming field and target; TerminalError on a cycle. The API itself refuses the id of a target in another account.
 */
export async function resolveReferences(
  context: ManagedContext,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
  session: AccountSession,
): Promise<ResolvedReferences> {
  const found = descriptor.references(cr.spec)
  refuseCycle(context, cr, found)
  const targets = new Map<string, ResolvedTarget>()
  const applied: { kind: string; name: string; id: string }[] = []
  for (const reference of found) {
    const key = refKey(reference.kind, reference.ref)
    if (targets.has(key)) continue
    refuseAsPart(context, cr, reference)
    const id = reference.ref.id ?? namedTarget(context, cr, reference)
    const object = reference.needsObject ? await targetObject(context, session, reference, id) : undefined
    targets.set(key, { id, object })
    if (reference.ref.name !== undefined) applied.push({ kind: reference.kind, name: reference.ref.name, id })
  }
  return {
    applied,
    get: (kind, ref) => {
      const target = targets.get(refKey(kind, ref))
      if (target === undefined) throw new Error(`reference to ${kind} was not declared by the descriptor`)
      return target
    },
  }
}

function refKey(kind: string, ref: Ref): string {
  return ref.id === undefined ? `${kind}/name/${ref.name}` : `${kind}/id/${ref.id}`
}

function namedTarget(context: ManagedContext, cr: CustomResource, reference: FoundReference): string {
  const { kind, path } = reference
  const name = reference.ref.name ?? ''
  const appliedId = statusOf(cr).references?.find((entry) => entry.kind === kind && entry.name === name)?.id
  const target = targetOf(context, cr, reference)
  const refusal =
    target === undefined ? 'does not exist: create it or correct the name' : refusalOf(context, reference, target)
  const id = target === undefined ? undefined : statusOf(target).id
  if (id !== undefined && (refusal === undefined || id === appliedId)) return id
  if (appliedId !== undefined) return appliedId
  throw new WaitError(reasons.ReferenceNotReady, `${path}: ${kind}/${name} ${refusal}`, FALLBACK_MS)
}

/** The CR that a reference leads to: the one of that name, or the one that holds the object of that id. */
function targetOf(
  { resources }: ManagedContext,
  cr: CustomResource,
  { kind, ref }: FoundReference,
): CustomResource | undefined {
  if (ref.id === undefined) return resources.get({ kind, namespace: cr.metadata.namespace, name: ref.name ?? '' })
  const holder = resources.holderOf(ref.id)
  return holder?.kind === kind ? holder : undefined
}

/** The CRs that `cr` is part of, as it sees them. */
export function wholesOf(
  context: ManagedContext,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
): readonly TargetView[] {
  const references = descriptor.references(cr.spec).filter(({ partOf }) => partOf !== undefined)
  return references.flatMap((reference) => {
    const target = targetOf(context, cr, reference)
    return target === undefined ? [] : [targetView(context, target, cr)]
  })
}

/** A part that its whole does not take would undo what the whole does, and the other way round, for ever. */
function refuseAsPart(context: ManagedContext, cr: CustomResource, reference: FoundReference): void {
  if (reference.partOf === undefined) return
  const target = targetOf(context, cr, reference)
  const refusal = target && reference.partOf(targetView(context, target, cr))
  if (target === undefined || refusal === undefined) return
  throw new TerminalError(reasons.ReferenceRefused, `${reference.path}: ${shortName(nameOf(target))} ${refusal}`)
}

/** Why a new reference to `target` has to wait; undefined when it may be made. */
function refusalOf(
  context: ManagedContext,
  { kind, partOf }: FoundReference,
  target: CustomResource,
): string | undefined {
  if (isDeleting(target)) return 'is being deleted'
  if (statusOf(target).id === undefined) return 'is not created yet'
  return partOf === undefined ? context.kinds.managedKind(kind)?.unusable(targetView(context, target)) : undefined
}

async function targetObject(
  context: ManagedContext,
  session: AccountSession,
  { kind, path, ref }: FoundReference,
  id: string,
): Promise<ResolvedTarget['object']> {
  for (const collection of context.kinds.managedKind(kind)?.collections ?? []) {
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

/** A CR that can only be created after itself would wait for ever: say so at once, naming the way round. */
function refuseCycle(context: ManagedContext, cr: CustomResource, found: readonly FoundReference[]): void {
  const own = found.filter(({ kind, ref }) => kind === cr.kind && ref.name !== undefined)
  const trail: string[] = []
  const seen = new Set<string>()
  const visit = (name: string): boolean => {
    if (name === cr.metadata.name) return true
    if (seen.has(name)) return false
    seen.add(name)
    const next = context.resources.get({ kind: cr.kind, namespace: cr.metadata.namespace, name })
    const onward = next === undefined ? [] : (context.kinds.managedKind(cr.kind)?.references(next.spec) ?? [])
    const closed = onward.some(({ kind, ref }) => kind === cr.kind && ref.name !== undefined && visit(ref.name))
    if (closed) trail.unshift(shortName({ kind: cr.kind, name }))
    return closed
  }
  for (const { ref, path } of own) {
    if (ref.name === undefined || !visit(ref.name)) continue
    const self = shortName({ kind: cr.kind, name: cr.metadata.name })
    const way = [self, ...trail, self].join(' → ')
    throw new TerminalError(reasons.ReferenceCycle, `${path}: references form a cycle (${way}): remove one of them`)
  }
}

/** Names of the CRs that `cr` refers to, for the index that wakes referrers. */
export function namedTargets(descriptor: ManagedDescriptor, cr: CustomResource): readonly ResourceName[] {
  return descriptor.references(cr.spec).flatMap(({ kind, ref }) => {
    return ref.name === undefined ? [] : [{ kind, namespace: cr.metadata.namespace, name: ref.name }]
  })
}
