import type { RemoteObject } from '../../api/types.ts'
import { heldIds, internalOf, isDeleting, statusOf, type TargetKey, targetKeyOf } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import type {
  AccountView,
  FoundReference,
  Observable,
  Part,
  PartView,
  Release,
  SiblingView,
  TargetView,
} from '../descriptor/references.ts'
import { bearerOf } from '../identity/taken-over.ts'
import { childrenIn } from '../markers/children-in.ts'
import { isNamesake, markerOf } from '../markers/marker.ts'
import {
  dependentsOf,
  IN_USE_MS,
  namesOfDependents,
  referrersInReach,
  referringDependents,
} from '../references/dependents.ts'
import { partView } from '../references/target-view.ts'
import { targetOf, wholesOf } from '../references/targets.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { DeleteMemory } from './delete-memory.ts'

/** Whether the object of a deleted part belongs to another owner by now and must not be touched. */
export function isLeft({ context, cr, descriptor }: Reconciliation): boolean {
  return descriptor.part?.mayDelete(wholesOf(context, descriptor, cr), {}).type === 'leave'
}

/**
 * Returns once the object of a deleted part may be deleted. What its kind needs to know is read from the account, from
 * lists that began after the deletion was seen; resources are evaluated last, when nothing else is waited for.
 * @throws WaitError while the object has to stay
 */
export async function awaitPart(run: Reconciliation): Promise<void> {
  const message = await refusal(run, (part, ...view) => part.mayDelete(...view))
  if (message === undefined) return
  // By the next check there may be new ones: these lists will not count then.
  run.memory.of(DeleteMemory).deletingSince = undefined
  throw new WaitError(reasons.Deleting, message, IN_USE_MS)
}

/**
 * Returns once the object of a part may be deleted because another has to take its place.
 * @throws WaitError while the object has to stay
 */
export async function awaitReplacement(run: Reconciliation): Promise<void> {
  const message = await refusal(run, (part, ...view) => part.mayReplace(run.cr.spec as Fields, ...view))
  if (message !== undefined) throw new WaitError(reasons.Progressing, message, IN_USE_MS)
}

/** Why the object of a part has to stay; undefined if it may be deleted. */
async function refusal(
  run: Reconciliation,
  choose: (part: Part, wholes: readonly TargetView[], account: AccountView) => Release,
): Promise<string | undefined> {
  const { context, cr, descriptor } = run
  if (descriptor.part === undefined) return undefined
  let account: AccountView = {}
  for (;;) {
    const choice = choose(descriptor.part, wholesOf(context, descriptor, cr), account)
    if (choice.type === 'wait') return choice.message
    if (choice.type !== 'observe') return undefined
    account = { ...account, ...(await OBSERVERS[choice.at](run)) }
  }
}

const OBSERVERS: Readonly<Record<Observable, (run: Reconciliation) => Promise<AccountView>>> = {
  siblings: async (run) => ({ ...(await childrenOfWholes(run)), parts: partsOfWholes(run) }),
  dependents: async (run) => ({ dependents: await dependentsOfWholes(run) }),
}

/**
 * The children of the objects that the part belongs to: its own, and the others. A child made by an open create is in
 * no status yet: its marker shows the owner.
 */
async function childrenOfWholes(run: Reconciliation): Promise<Pick<AccountView, 'own' | 'siblings'>> {
  const { context, cr, session } = run
  const found: RemoteObject[] = []
  for (const { id, descriptor } of wholesAtAPI(run)) {
    const { children } = descriptor
    if (children === undefined) continue
    await session.cache.ensureListed(children.collection, { since: since(run) })
    found.push(...childrenIn(session.cache, children, id))
  }
  const { own = [], others = [] } = Object.groupBy(found, (child) => (isOwn(run, child) ? 'own' : 'others'))
  return { own, siblings: others.map(siblingOf) }

  function siblingOf(object: RemoteObject): SiblingView {
    const holder = context.resources.holderOf(session.key, object.id) ?? bearerOf(context, object, cr.kind)
    return { object, holder: holder && partView(holder, cr.metadata.namespace) }
  }
}

/**
 * Whether the object is deleted with the part: the part holds it, or created it. A part that holds nothing also takes
 * what was created before it lost its status.
 */
function isOwn({ context, cr, status }: Reconciliation, object: RemoteObject): boolean {
  const held = new Set([...heldIds(statusOf(cr)), ...heldIds(status)])
  if (held.has(object.id)) return true
  const marker = markerOf(object)
  if (marker?.installation !== context.installation || !isNamesake(marker, cr)) return false
  return marker.uid === cr.metadata.uid || held.size === 0
}

/** The other CRs that are part of what the part belongs to. */
function partsOfWholes(run: Reconciliation): readonly PartView[] {
  const { context, cr } = run
  return wholesAtAPI(run).flatMap(({ key, descriptor }) => {
    return referrersInReach(context, key, cr)
      .filter(({ kind, metadata }) => descriptor.whole?.parts.includes(kind) && metadata.uid !== cr.metadata.uid)
      .map((part) => partView(part, cr.metadata.namespace))
  })
}

/** Dependents of the objects that the part belongs to. */
async function dependentsOfWholes(run: Reconciliation): Promise<readonly string[]> {
  const found: string[] = []
  for (const { id, key, descriptor } of wholesAtAPI(run)) {
    const parts = descriptor.whole?.parts ?? []
    found.push(...namesOfDependents(referringDependents(run, key, ({ kind }) => !parts.includes(kind))))
    for (const collection of descriptor.identity.collections) {
      const dependents = await dependentsOf(run, { kind: descriptor.definition.kind, collection, id }, since(run))
      found.push(...namesOfDependents(dependents))
    }
  }
  return [...new Set(found)]
}

interface Whole {
  readonly id: string
  readonly key: TargetKey
  readonly descriptor: ManagedDescriptor
}

/** The objects that the CR is part of, as the account has them, whether a resource manages them or not. */
function wholesAtAPI({ context, cr, descriptor, session }: Reconciliation): readonly Whole[] {
  return descriptor.references.of(cr.spec).flatMap((reference: FoundReference): readonly Whole[] => {
    const { kind, partOf, ref } = reference
    const whole = context.kinds.managedKind(kind)
    if (partOf === undefined || whole === undefined) return []
    const target = targetOf(context, cr, reference)
    const applied = internalOf(cr).references?.find((entry) => entry.kind === kind)?.id
    const id = ref.id ?? (target === undefined ? applied : statusOf(target).id)
    if (id === undefined) return []
    return [
      {
        id,
        key: target === undefined ? { kind, ids: [id], account: session.key } : targetKeyOf(target),
        descriptor: whole,
      },
    ]
  })
}

/** Monotonic time when the deletion was seen, or the reconcile began; only lists that began later count. */
function since({ begun, context, cr, memory }: Reconciliation): number {
  if (!isDeleting(cr)) return begun
  const seen = memory.of(DeleteMemory).deletingSince ?? context.clock.monotonic()
  memory.of(DeleteMemory).deletingSince = seen
  return seen
}
