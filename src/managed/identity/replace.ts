import type { RemoteObject } from '../../api/types.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import { type CustomResource, generationOf, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { markerOf, PLACEHOLDER_NONCE } from '../markers/marker.ts'
import { copiesOf } from '../markers/own-objects.ts'
import { markerText, type Wanted } from '../plan/wanted.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { createObject } from './create.ts'
import { deleteForSure, recordCreated } from './gone.ts'
import { IdentityMemory } from './identity-memory.ts'
import { markedObjects } from './take-object.ts'
import { recordUnanswered, UnansweredMemory, waitBeforeCreate } from './unanswered.ts'

/**
 * Replaces an object by a new one. With `first: create`, the old one stays in `status.internal.superseded` until
 * nothing refers to it; with `first: delete`, it is deleted first, with a placeholder if one is needed.
 * @returns the new object's id, noted but not stored.
 */
export async function replaceObject(
  run: Reconciliation,
  wanted: Wanted,
  former: RemoteObject,
  reason: WriteReason,
): Promise<string> {
  const { collection, descriptor } = run
  if (descriptor.replacement?.first === 'delete') {
    await createPlaceholder(run, wanted, former, reason)
    await deleteForSure(run, collection, former.id, reason)
    run.note({ id: undefined, uri: undefined, createdAt: undefined })
  }
  return createObject(run, wanted, reason, former)
}

/**
 * Creates the object that exists while neither the old nor the new one does. It carries our marker and is later deleted
 * as a copy.
 */
async function createPlaceholder(
  run: Reconciliation,
  wanted: Wanted,
  remote: RemoteObject,
  reason: WriteReason,
): Promise<void> {
  const { collection, context, cr, descriptor, session } = run
  if (descriptor.replacement?.placeholder === undefined) return
  const settled = placeholdersSettle(run)
  const wait = settled - context.clock.monotonic()
  if (wait > 0) {
    const message = 'a placeholder may already exist: waiting before another is created'
    throw new WaitError(reasons.Progressing, message, Math.ceil(wait))
  }
  await session.cache.ensureListed(collection, { since: Math.max(run.begun, settled) })
  const all = [...session.cache.all(collection)]
  const marker = markerText(context, cr, PLACEHOLDER_NONCE)
  const body = descriptor.replacement.placeholder({ desired: wanted.desired, remote, all, marker })
  run.memory.of(IdentityMemory).expectCopies([remote.id])
  const own = copiesOf(markedObjects(run), cr.metadata.uid, run.status, context.installation)
  if (body === undefined || own.some((object) => markerOf(object)?.nonce === PLACEHOLDER_NONCE)) return
  waitBeforeCreate(run, 'placeholder')
  const create = () => session.cache.create(collection, body, run.originFor(reason))
  recordCreated(run, collection, (await recordUnanswered(run, 'placeholder', create)).id)
}

/**
 * Monotonic time when every POST of a placeholder sent by this process, or the one before it, has ended: a list that
 * begins then shows the result.
 */
function placeholdersSettle({ context: { leadership, times }, cr, memory }: Reconciliation): number {
  return Math.max(
    leadership.leadingSince(cr) + times.requestTimeoutMs,
    memory.of(UnansweredMemory).placeholderUnknownUntil ?? 0,
  )
}

/**
 * Ensures that the lists show every placeholder of this CR. One whose POST got no answer, or was sent by this process
 * before a restart, would otherwise be left behind when the CR is deleted. @throws WaitError while such a POST may
 * still take effect.
 */
export async function revealPlaceholders(run: Reconciliation): Promise<void> {
  const { collection, cr, descriptor, memory, session } = run
  const { clock } = run.context
  if (descriptor.replacement?.placeholder === undefined) return
  if (wasAtRest(cr) && memory.of(UnansweredMemory).placeholderUnknownUntil === undefined) return
  const since = placeholdersSettle(run)
  const wait = since - clock.monotonic()
  if (wait > 0) {
    const message = 'a placeholder may still be created: waiting to delete it too'
    throw new WaitError(reasons.Deleting, message, Math.ceil(wait))
  }
  await session.cache.ensureListed(collection, { since })
}

/** Whether the spec was fully applied before the CR was deleted; the deletion itself counts as a generation. */
function wasAtRest(cr: CustomResource): boolean {
  const synced = statusOf(cr).conditions?.find(({ type }) => type === 'Synced')
  return synced?.status === 'True' && (synced.observedGeneration ?? 0) >= generationOf(cr) - 1
}
