import type { RemoteObject } from '../../api/types.ts'
import { nameOf, shortName } from '../cr.ts'
import type { AccessChange } from '../descriptor/api-access.ts'
import type { Fields } from '../descriptor/common.ts'
import { reasons } from '../descriptor/reasons.ts'
import { childKey, referrerKey } from '../markers/object-keys.ts'
import { IN_USE_MS } from '../references/dependents.ts'
import { targetView } from '../references/target-view.ts'
import { wholesOf } from '../references/targets.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { Operation } from './plan.ts'
import type { Wanted } from './wanted.ts'

/**
 * Called before a write that may shrink the set of addresses admitted to the API. If Culvert's own address were
 * excluded, no later request could undo the write.
 * @param wanted undefined: the CR is being deleted
 * @throws TerminalError, or WaitError for a deletion, naming the restriction, unless the spec acknowledges it.
 */
export async function refuseLockout(
  run: Reconciliation,
  wanted: Wanted | undefined,
  held: Pick<AccessChange, 'remote' | 'children'>,
): Promise<void> {
  const { context, cr, descriptor, session } = run
  const { apiAccess: access } = descriptor
  if (access?.type !== 'admits') return
  const siblings = (parentId: string) => session.cache.find(run.collection, childKey(parentId))
  const target = access.narrows({ ...held, siblings, desired: wanted?.desired })
  if (target === undefined) return
  const wholes = wholesOf(context, descriptor, cr).map(({ spec }) => spec)
  if ([cr.spec as Fields, ...wholes].some((spec) => access.acknowledged(spec))) return
  for (const { collections, descriptor: user, reference } of context.kinds.referrersOf(access.kind)) {
    if (user.apiAccess?.type !== 'restricts') continue
    for (const collection of collections) {
      await session.cache.ensureListed(collection, { since: run.begun })
      for (const object of session.cache.find(collection, referrerKey(reference.kind, target))) {
        if (!user.apiAccess.object(object)) continue
        const holder = context.resources.holderOf(session.key, object.id)
        const by = holder === undefined ? `${collection.path}/${object.id}` : shortName(nameOf(holder))
        throw refusal(by, access.field, wanted === undefined)
      }
    }
  }
}

/**
 * Called before an object begins to keep callers out of the API. Everything it refers to must match its spec first: an
 * address that is not admitted yet may be Culvert's. @throws WaitError naming what does not.
 */
export function waitBeforeRestricting(
  { context, cr, descriptor, session }: Reconciliation,
  remote: RemoteObject | undefined,
): void {
  const { apiAccess } = descriptor
  if (apiAccess?.type !== 'restricts' || !apiAccess.spec(cr.spec)) return
  if (remote !== undefined && apiAccess.object(remote)) return
  for (const { kind, path, ref } of descriptor.references.of(cr.spec)) {
    const name = ref.name === undefined ? undefined : { kind, namespace: cr.metadata.namespace, name: ref.name }
    const target =
      name === undefined ? context.resources.holderOf(session.key, ref.id ?? '') : context.resources.get(name)
    const lacking =
      target &&
      context.kinds.managedKind(target.kind)?.whole?.unusable(targetView(context, target, cr.metadata.namespace))
    if (target === undefined || lacking === undefined) continue
    throw new WaitError(reasons.ReferenceNotReady, `${path}: ${shortName(nameOf(target))} ${lacking}`, IN_USE_MS)
  }
}

/**
 * Called before a change to an adopted object that keeps callers out of the API, while its spec does not say whether it
 * should. Such a spec acknowledges nothing, and the change may shut Culvert out. @throws TerminalError naming the
 * field.
 */
export function refuseUnsaidRestriction(
  { cr, descriptor: { apiAccess } }: Reconciliation,
  operations: readonly Operation[],
  remote: RemoteObject,
): void {
  if (apiAccess?.type !== 'restricts' || apiAccess.spec(cr.spec)) return
  for (const operation of operations) {
    if (operation.type !== 'update' || 'target' in operation) continue
    const changed = operation.fields.filter((field) => !TEXTS.has(field))
    if (changed.length === 0 || !apiAccess.object({ ...remote, ...operation.body })) continue
    throw new TerminalError(
      reasons.InvalidSpec,
      `${remote.id} restricts access to the API, but spec.${apiAccess.field} is not set: set it before changing ${changed.join(', ')}`,
    )
  }
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'metadata'])

function refusal(by: string, field: string, isDeletion: boolean): Error {
  const message =
    `${by} enforces these rules on the API itself, and the change may admit fewer addresses: ` +
    `check that Culvert's address remains allowed and set spec.${field}: true here or in the policy, or stop enforcing ${by} first`
  return isDeletion
    ? new WaitError(reasons.Deleting, message, IN_USE_MS)
    : new TerminalError(reasons.InvalidSpec, message)
}

/** The state of an object before the change, for kinds without children. */
export function heldAlone(remote: RemoteObject | undefined): Pick<AccessChange, 'remote' | 'children'> {
  return { remote, children: [] }
}
