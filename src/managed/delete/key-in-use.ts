import { accountOf } from '../accounts/account-choice.ts'
import { type CustomResource, heldIds, internalOf, isDeleting, nameOf, shortName, statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Operation } from '../plan/plan.ts'
import type { KeyUse } from '../reconcile/context.ts'
import { TerminalError, WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { IN_USE_MS } from '../references/dependents.ts'
import { reasons } from '../status/reasons.ts'

/** For so long the API has to refuse a key before a process that did not delete it itself takes it for deleted. Milliseconds. */
const REFUSED_MS = 120_000

/** Objects that go with a CR: those that any call can delete, and the key that the calls themselves are made with. */
export interface ReleaseRun {
  readonly others: readonly string[]
  /** Deleted by the last call that its account can make. */
  readonly last: string | undefined
}

/**
 * The order in which objects of a CR that is being deleted may go.
 * @throws WaitError as long as an account works with the token of one of them and is needed by other resources: they would be left
 * `Deleting` for ever, and their objects at the API.
 */
export async function deletionOrder(run: Reconciliation, ids: readonly string[]): Promise<ReleaseRun> {
  const others: string[] = []
  let last: string | undefined
  for (const id of ids) {
    const use = await keyUseOf(run.context.keyDependents, run.descriptor, run.cr, id)
    if (use?.neededBy !== undefined) throw inUse(use, use.neededBy)
    if (use === undefined || !isOwnAccount(run, use)) others.push(id)
    else last = id
  }
  return { others, last }
}

/** Who works with the token of the object `id` of a CR; undefined where that opens no account, or none works with it. */
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

function inUse({ account }: KeyUse, other: string): WaitError {
  const remedy = 'put another key into the Secret of the account, or delete its other resources first'
  return new WaitError(
    reasons.Deleting,
    `in use by ${shortName(account)}, which works with this key and is needed by ${other}: ${remedy}`,
    IN_USE_MS,
  )
}

/**
 * Whether the API refuses the very key that this CR, which is being deleted, stands for: its own deletion was the last call of the
 * account, and nothing can be asked any more.
 */
export async function isGoneWithItsCalls(run: Reconciliation): Promise<boolean> {
  const { context, cr, descriptor, memory } = run
  if (descriptor.output?.type !== 'one-time' || !descriptor.output.opensAccounts) return false
  const account = accountOf(context, cr)
  const session = account === undefined ? undefined : context.accounts.session(account, cr)
  const refusedFor = session !== undefined && 'cache' in session ? session.refusedForMs() : undefined
  if (refusedFor === undefined || (!memory.lastCallSent && refusedFor < REFUSED_MS)) return false
  for (const held of heldIds(statusOf(cr))) {
    const use = await keyUseOf(context.keyDependents, descriptor, cr, held)
    if (use !== undefined && use.neededBy === undefined && isOwnAccount(run, use)) return true
  }
  return false
}

/**
 * Before an update that makes the API refuse the keys of what belongs to the object.
 * @throws TerminalError naming the account that works with one of these.
 */
export async function refuseSilencing(run: Reconciliation, operations: readonly Operation[]): Promise<void> {
  const { context, descriptor, session, status } = run
  const silencing = operations.some((operation) => {
    return operation.type === 'update' && !('target' in operation) && descriptor.silencesKeys?.(operation.body) === true
  })
  if (!silencing) return
  for (const { descriptor: owned, reference } of context.kinds.referrersOf(run.cr.kind)) {
    if (owned.output?.type !== 'one-time' || !owned.output.opensAccounts) continue
    for (const collection of owned.collections) {
      await session.cache.ensureListed(collection, { since: run.begun })
      for (const object of session.cache.all(collection)) {
        if (status.id === undefined || !reference.idsIn(object).includes(status.id)) continue
        const holder = context.resources.holderOf(session.key, object.id)
        const use = holder && (await keyUseOf(context.keyDependents, owned, holder, object.id))
        if (holder === undefined || use === undefined || isDeleting(holder)) continue
        throw new TerminalError(
          reasons.InvalidSpec,
          `spec: the API would refuse the key of ${shortName(nameOf(holder))}, which ${shortName(use.account)} works with: ` +
            'put another key into the Secret of the account first',
        )
      }
    }
  }
}
