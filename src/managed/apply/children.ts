import { isDefinite } from '../../api/errors.ts'
import type { Collection, RemoteObject, WriteOptions } from '../../api/types.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import { statusOf } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import type { ChildOperation } from '../descriptor/desired.ts'
import { reasons } from '../descriptor/reasons.ts'
import { deleteForSure, recordCreated } from '../identity/gone.ts'
import { IdentityMemory } from '../identity/identity-memory.ts'
import { readLive } from '../identity/read-object.ts'
import { recordUnanswered, UnansweredMemory } from '../identity/unanswered.ts'
import { childrenIn } from '../markers/children-in.ts'
import type { Observed } from '../plan/plan.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { openRequest } from '../run/requests.ts'

/**
 * The object with its children; each child that a list showed as changed or missing is read live.
 * `reconcile-requested-at` asks for a new list.
 * @param isLive asks for a new list, too
 */
export async function observeChildren(run: Reconciliation, remote: RemoteObject, isLive = false): Promise<Observed> {
  const { children } = run.descriptor
  if (children === undefined) return { remote, children: [] }
  const { cache } = run.session
  const isAsked = isLive || openRequest(run.cr, 'reconcile') !== undefined
  await cache.ensureListed(children.collection, isAsked ? { since: run.begun } : {})
  // Until the object that was created or found is stored, the status describes the previous one.
  const told = statusOf(run.cr).id === remote.id ? children.idsIn(run.status) : []
  const seen = new Set([...childrenOf(run, remote.id).map(({ id }) => id), ...told])
  for (const id of seen) {
    const known = cache.get(children.collection, id)
    if (known?.object !== undefined && known.suspect === undefined) continue
    await readLive(run, children.collection, id)
  }
  return { remote, children: childrenOf(run, remote.id) }
}

/**
 * Called before a child is created or deleted; `about` describes the plan. A child's POST has no attempt of its own:
 * what leads to the parent, its id in the status or its own attempt, is the child's durable attempt. So the list that
 * does not show the child must have begun after every earlier POST for this parent had ended. The same holds for a
 * DELETE: a plan that keeps a child, and deletes others, must know that it stays.
 */
export async function quarantineChildren(run: Reconciliation, remote: RemoteObject, about: string): Promise<void> {
  const { leadership, times } = run.context
  const { memory } = run
  const former = memory.of(IdentityMemory).createdHere ? 0 : leadership.leadingSince(run.cr) + times.requestTimeoutMs
  await listAfter(run, remote, about, Math.max(former, memory.of(UnansweredMemory).childUnknownUntil ?? 0))
}

/**
 * A POST or DELETE of a child that got no answer may have taken effect, and a spec that changed meanwhile may want the
 * opposite.
 */
export async function awaitChildPosts(run: Reconciliation, remote: RemoteObject): Promise<void> {
  const about = 'the response to a write was lost: finding out whether it took effect'
  await listAfter(run, remote, about, run.memory.of(UnansweredMemory).childUnknownUntil ?? 0)
}

/**
 * @throws WaitError until a list of the children has begun after this time, and if that list shows others: the plan
 *   must be computed again.
 */
async function listAfter(run: Reconciliation, remote: RemoteObject, about: string, since: number): Promise<void> {
  const { children } = run.descriptor
  if (children === undefined || since === 0) return
  const wait = since - run.context.clock.monotonic()
  if (wait > 0) throw new WaitError(reasons.Progressing, about, Math.ceil(wait))
  const known = new Set(childrenOf(run, remote.id).map(({ id }) => id))
  await run.session.cache.ensureListed(children.collection, { since })
  const listed = childrenOf(run, remote.id)
  const isNew = listed.some(({ id }) => !known.has(id))
  if (isNew) run.memory.of(UnansweredMemory).createsOf('child').succeeded()
  const isMissed = ({ id }: RemoteObject): boolean =>
    run.session.cache.get(children.collection, id)?.suspect === 'missed'
  if (isNew || listed.length < known.size || listed.some(isMissed)) throw new WaitError(reasons.Progressing, about, 0)
}

/** Why a plan is executed. */
export interface ChildWrite {
  readonly reason: WriteReason
  /** This run created the object: its children, like itself, wait behind edits of others. */
  readonly isNew: boolean
}

/** A create of a child. */
export type ChildCreate = ChildOperation & { readonly type: 'create' }

/**
 * Creates children of one object, all at the same time. @returns their ids, in order.
 * @throws once all have ended, if any failed: the failure of one that may have taken effect, if there is one
 */
export async function createChildren(
  run: Reconciliation,
  creates: readonly ChildCreate[],
  { reason, isNew }: ChildWrite,
): Promise<readonly string[]> {
  const collection = collectionOfChildren(run)
  const options = { ...run.originFor(reason), priority: isNew ? ('create' as const) : ('edit' as const) }
  return recordUnanswered(run, 'child', async () => {
    const ended = await Promise.allSettled(creates.map(({ body }) => createChild(run, collection, body, options)))
    const failures = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
    if (failures.length > 0) throw failures.find((each) => !isDefinite(each)) ?? failures[0]
    return ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  })
}

/** Updates or deletes a child. */
export async function changeChild(
  run: Reconciliation,
  operation: Exclude<ChildOperation, ChildCreate>,
  { reason }: ChildWrite,
): Promise<void> {
  const collection = collectionOfChildren(run)
  if (operation.type === 'update') {
    await run.session.cache.update(collection, operation.id, operation.body, run.originFor(reason))
    return
  }
  await assertSiblingExists(run, collection, operation)
  await recordUnanswered(run, 'deletion', () => deleteForSure(run, collection, operation.id, reason))
}

function collectionOfChildren({ descriptor }: Reconciliation): Collection {
  const collection = descriptor.children?.collection
  if (collection === undefined) throw new Error('a kind without children planned a write to one')
  return collection
}

/** @throws WaitError if the child that must outlive a deleted one no longer exists, or may not. */
async function assertSiblingExists(
  run: Reconciliation,
  collection: Collection,
  { about, beside }: ChildOperation & { readonly type: 'delete' },
): Promise<void> {
  if (beside === undefined || (await readLive(run, collection, beside)) !== undefined) return
  throw new WaitError(reasons.Progressing, `delete ${about}`, 0)
}

async function createChild(
  run: Reconciliation,
  collection: Collection,
  body: Fields,
  options: WriteOptions,
): Promise<string> {
  const { id } = await run.session.cache.create(collection, body, options)
  recordCreated(run, collection, id)
  return id
}

function childrenOf(run: Reconciliation, parentId: string): readonly RemoteObject[] {
  const { children } = run.descriptor
  return children === undefined ? [] : childrenIn(run.session.cache, children, parentId)
}
