import { type CustomResource, heldIds, internalOf, isDeleting, nameOf, shortName, statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { referrerKey } from '../markers/object-keys.ts'
import type { Operation } from '../plan/plan.ts'
import { accountOf } from '../references/account-choice.ts'
import { IN_USE_MS, messageName } from '../references/dependents.ts'
import { targetOf } from '../references/targets.ts'
import type { KeyUse } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { DeleteMemory } from './delete-memory.ts'

/**
 * How long the API must refuse a key before a process that did not delete it itself takes it for deleted. Milliseconds.
 */
const REFUSED_MS = 120_000

/** Objects to delete with a CR: those that any call can delete, and the key that the calls themselves use. */
export interface DeletionOrder {
  readonly others: readonly string[]
  /** Deleted by the last call that its account can make. */
  readonly last: string | undefined
}

/**
 * The order in which the objects of a CR that is being deleted may be deleted.
 * @throws WaitError while an account uses the token of one of them and other resources need that account: they would
 *   stay `Deleting` forever, and their objects would stay at the API.
 */
export async function deletionOrder(run: Reconciliation, ids: readonly string[]): Promise<DeletionOrder> {
  const others: string[] = []
  let last: string | undefined
  for (const id of ids) {
    const use = await keyUseOf(run.context.keyDependents, run.descriptor, run.cr, id)
    if (use !== undefined && use.neededBy.length > 0) throw inUse(run, use)
    if (use === undefined || !isOwnAccount(run, use)) others.push(id)
    else last = id
  }
  return { others, last }
}

/** The account that uses the token of object `id` of a CR; undefined if the token opens no account, or none uses it. */
async function keyUseOf(
  keyDependents: Reconciliation['context']['keyDependents'],
  descriptor: ManagedDescriptor,
  cr: CustomResource,
  id: string,
): Promise<KeyUse | undefined> {
  if (descriptor.output?.type !== 'one-time' || !descriptor.output.opensAccounts) return undefined
  const { id: own, adopted } = statusOf(cr)
  const { superseded = [], tokenDigest } = internalOf(cr)
  const held = id === own ? { digest: tokenDigest, adopted } : superseded.find((former) => former.id === id)
  if (held?.digest === undefined && !held?.adopted) return undefined
  return await keyDependents.useOf(cr, id, held.digest)
}

function isOwnAccount({ context, cr }: Reconciliation, { account }: KeyUse): boolean {
  const own = accountOf(context, cr)
  if (own?.kind !== account.kind || own.name !== account.name) return false
  return account.namespace === undefined || account.namespace === cr.metadata.namespace
}

/**
 * Names a resource that can be deleted first, if there is one. The bot that owns the key cannot: the API keeps it as
 * long as it has the key.
 */
function inUse({ context, cr, descriptor }: Reconciliation, { account, neededBy }: KeyUse): WaitError {
  const owners = descriptor.references.of(cr.spec).map((reference) => targetOf(context, cr, reference)?.metadata.uid)
  const others = neededBy.filter(({ metadata }) => !owners.includes(metadata.uid))
  const named = (others.length > 0 ? others : neededBy)
    .map((each) => messageName(each, cr.metadata.namespace))
    .sort((left, right) => (left < right ? -1 : 1))
  const [other = 'none'] = named
  const remedy =
    others.length > 0
      ? 'delete its other resources first'
      : `set spec.deletionPolicy: Retain on ${other}, which then keeps its remote object; it cannot be deleted before its key`
  return new WaitError(
    reasons.Deleting,
    `in use by ${shortName(account)}, which uses this key and is needed by ${other}: store another key in the Secret of the account, or ${remedy}`,
    IN_USE_MS,
  )
}

/**
 * Whether the API refuses the very key of this CR, which is being deleted: its own deletion was the account's last
 * call, and no further call is possible.
 */
export async function isGoneWithItsCalls(run: Reconciliation): Promise<boolean> {
  const { context, cr, descriptor, memory } = run
  if (descriptor.output?.type !== 'one-time' || !descriptor.output.opensAccounts) return false
  const account = accountOf(context, cr)
  const session = account === undefined ? undefined : context.accounts.session(account, cr)
  const refusedFor = session !== undefined && 'cache' in session ? session.refusedForMs() : undefined
  if (refusedFor === undefined || (!memory.of(DeleteMemory).lastCallSent && refusedFor < REFUSED_MS)) return false
  for (const held of heldIds(statusOf(cr))) {
    const use = await keyUseOf(context.keyDependents, descriptor, cr, held)
    if (use !== undefined && use.neededBy.length === 0 && isOwnAccount(run, use)) return true
  }
  return false
}

/**
 * Called before an update after which the API refuses the keys that belong to the object.
 * @throws TerminalError naming the account that uses one of them.
 */
export async function refuseSilencing(run: Reconciliation, operations: readonly Operation[]): Promise<void> {
  const {
    context,
    descriptor: { apiAccess },
    session,
    status,
  } = run
  if (apiAccess?.type !== 'owns-keys') return
  const silencing = operations.some((operation) => {
    return operation.type === 'update' && !('target' in operation) && apiAccess.silences(operation.body)
  })
  if (!silencing || status.id === undefined) return
  for (const { collections, descriptor: owned, reference } of context.kinds.referrersOf(run.cr.kind)) {
    if (owned.output?.type !== 'one-time' || !owned.output.opensAccounts) continue
    for (const collection of collections) {
      await session.cache.ensureListed(collection, { since: run.begun })
      for (const object of session.cache.find(collection, referrerKey(reference.kind, status.id))) {
        const holder = context.resources.holderOf(session.key, object.id)
        const use = holder && (await keyUseOf(context.keyDependents, owned, holder, object.id))
        if (holder === undefined || use === undefined || isDeleting(holder)) continue
        throw new TerminalError(
          reasons.InvalidSpec,
          `spec: the API would refuse the key of ${shortName(nameOf(holder))}, which ${shortName(use.account)} uses: ` +
            'store another key in the Secret of the account first',
        )
      }
    }
  }
}
