import type { Collection, RemoteObject } from '../../api/types.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import { isDeleting } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { isAccountWide, isOfThisCall } from '../run/account-wide.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Memory } from '../run/memory.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { Denial } from './identity-memory.ts'
import { IdentityMemory } from './identity-memory.ts'

/**
 * Whether an object is gone. No single answer proves it: reads may lag behind a write, and a proxy may answer 404 with
 * any body. Lists of the collection that do not show the object do.
 */
export type Existence =
  | { readonly type: 'there'; readonly object: RemoteObject }
  | { readonly type: 'gone' }
  /** Ask again after `ms` milliseconds. */
  | { readonly type: 'unsettled'; readonly ms: number }

/**
 * Decides by lists whether an object exists that a list did not show, or for which a request was answered with 404. A
 * list is made only when one is due, and is shared by everything that needs one.
 * @throws ApiError if the list fails; during a deletion, a WaitError that names the way out.
 */
export async function checkExistence(run: Reconciliation, collection: Collection, id: string): Promise<Existence> {
  const { clock, times } = run.context
  const { cache } = run.session
  if (cache.isDeleted(collection, id)) return { type: 'gone' }
  const known = cache.get(collection, id)
  if (known?.object !== undefined && known.suspect !== 'missed') return { type: 'there', object: known.object }
  const next = (): ListsNeeded => {
    const misses = cache.missesOf(collection, id)
    return nextList({ misses, notBefore: countsFrom(run, id), pauseMs: times.scanPauseMs, now: clock.monotonic() })
  }
  const due = next()
  if (due.type === 'none') return { type: 'gone' }
  const early = due.at - clock.monotonic()
  if (early > 0) return { type: 'unsettled', ms: early }
  await listFor(run, collection, id, due.at)
  const shown = cache.get(collection, id)
  if (shown?.object !== undefined && shown.suspect !== 'missed') return { type: 'there', object: shown.object }
  const left = next()
  if (left.type === 'none') return { type: 'gone' }
  const wait = left.at - clock.monotonic()
  return { type: 'unsettled', ms: wait > 0 ? wait : times.scanPauseMs }
}

/**
 * Monotonic time from which lists count: reads may not yet show what this process, or the one before it, has just
 * created.
 */
function countsFrom({ context: { leadership, times }, cr, memory }: Reconciliation, id: string): number {
  const made = memory.of(IdentityMemory).made.find((each) => each.id === id)
  return made === undefined ? leadership.leadingSince(cr) + times.requestTimeoutMs : made.at + times.readLagMs
}

async function listFor(run: Reconciliation, collection: Collection, id: string, since: number): Promise<void> {
  try {
    await run.session.cache.ensureListed(collection, { since })
  } catch (error) {
    if (!isDeleting(run.cr) || !isOfThisCall(error)) throw error
    if (isAccountWide(error)) run.session.reportFailure(error)
    const message =
      `${error.message}: only that list shows whether ${id} still exists. Allow the API key to list ${collection.path}, or set ` +
      'spec.deletionPolicy: Retain to finish the deletion and keep the remote object'
    throw new WaitError(reasons.Deleting, message, LIST_AGAIN_MS)
  }
}

const LIST_AGAIN_MS = 10_000

/** Notes that a create was just answered with this id: reads may lag behind it. */
export function recordCreated(run: Reconciliation, { path }: Collection, id: string): void {
  const { clock, times } = run.context
  const identity = run.memory.of(IdentityMemory)
  const now = clock.monotonic()
  const recent = identity.made.filter((each) => each.id !== id && each.at + times.readLagMs >= now)
  identity.made = recent.concat({ id, path, at: now })
}

/**
 * Ids of objects in the CR's collection that this process recently created and did not delete, and that no list shows:
 * lists may lag behind, so these must be searched for.
 */
export function unlisted({ collection, memory, session: { cache } }: Reconciliation): readonly string[] {
  return memory
    .of(IdentityMemory)
    .made.filter(({ path }) => path === collection.path)
    .map(({ id }) => id)
    .filter((id) => !cache.isDeleted(collection, id) && cache.get(collection, id)?.object === undefined)
}

export type Deletion =
  /** By a request of this process. */
  | 'deleted'
  /** By another client, or by a request whose answer was lost. */
  | 'absent'
  /** Not deleted yet, or not certainly; ask again after `ms` milliseconds. */
  | { readonly ms: number; readonly why: string }

const FIRST_TRY_MS = 500
const LONGEST_TRY_MS = 30_000

/**
 * Deletes an object. A 404 answer to a DELETE proves nothing: lists decide, and while they show the object, another
 * DELETE is sent.
 */
export async function deleteObject(
  run: Reconciliation,
  collection: Collection,
  id: string,
  reason: WriteReason,
): Promise<Deletion> {
  const { memory, session } = run
  if (session.cache.isDeleted(collection, id)) return 'deleted'
  if (denialOf(memory, id)?.isOpen) {
    const existence = await checkExistence(run, collection, id)
    if (existence.type !== 'there') return concluded(run, id, existence)
  }
  if ((await session.cache.delete(collection, id, run.originFor(reason))) === 'deleted') {
    recordDenial(memory, id, undefined)
    return 'deleted'
  }
  const tries = (denialOf(memory, id)?.tries ?? 0) + 1
  recordDenial(memory, id, { tries, isOpen: true })
  const existence = await checkExistence(run, collection, id)
  if (existence.type !== 'there') return concluded(run, id, existence)
  recordDenial(memory, id, { tries, isOpen: false })
  return {
    ms: Math.min(LONGEST_TRY_MS, FIRST_TRY_MS * 2 ** (tries - 1)),
    why: `the API returns 404 for the deletion of ${id}, but still lists it: retrying`,
  }
}

function concluded({ memory }: Reconciliation, id: string, existence: Exclude<Existence, { type: 'there' }>): Deletion {
  if (existence.type === 'unsettled')
    return { ms: existence.ms, why: `confirming with lists that ${id} no longer exists` }
  recordDenial(memory, id, undefined)
  return 'absent'
}

function denialOf(memory: Memory, id: string): Denial | undefined {
  return memory.of(IdentityMemory).denied.find((each) => each.id === id)
}

function recordDenial(memory: Memory, id: string, denial: Omit<Denial, 'id'> | undefined): void {
  const identity = memory.of(IdentityMemory)
  const others = identity.denied.filter((each) => each.id !== id)
  identity.denied = denial === undefined ? others : others.concat({ id, ...denial })
}

/** `deleteObject` for callers that cannot go on until it is done. @throws WaitError until then. */
export async function deleteForSure(
  run: Reconciliation,
  collection: Collection,
  id: string,
  reason: WriteReason,
): Promise<'deleted' | 'absent'> {
  const deletion = await deleteObject(run, collection, id, reason)
  if (typeof deletion === 'string') return deletion
  const code = isDeleting(run.cr) ? reasons.Deleting : reasons.Progressing
  throw new WaitError(code, deletion.why, Math.ceil(deletion.ms))
}

/** The evidence of lists about an object so far. Times are monotonic, in milliseconds. */
export interface Misses {
  /** Start times of the complete lists that have not shown the object, in an unbroken row since the suspicion. */
  readonly misses: readonly number[]
  /** Lists that began before this time do not count. */
  readonly notBefore: number
  /** Minimum time between the starts of the two lists that decide. */
  readonly pauseMs: number
  readonly now: number
}

export type ListsNeeded =
  /** The object is gone: two lists that count agree. */
  | { readonly type: 'none' }
  /** A list that begins at that time or later is needed. */
  | { readonly type: 'next'; readonly at: number }

/**
 * The next list needed to know whether an object is gone. The first is made at once, since it may show the object;
 * while none counts yet, each wait is twice the one before.
 */
export function nextList({ misses, notBefore, pauseMs, now }: Misses): ListsNeeded {
  const [first] = misses
  const last = misses.at(-1)
  if (first === undefined || last === undefined) return { type: 'next', at: now }
  const counting = misses.find((at) => at >= notBefore)
  if (counting === undefined) return { type: 'next', at: Math.min(notBefore, last + Math.max(pauseMs, last - first)) }
  return last - counting >= pauseMs ? { type: 'none' } : { type: 'next', at: counting + pauseMs }
}
