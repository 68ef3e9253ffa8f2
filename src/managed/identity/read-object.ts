import type { Collection, RemoteObject } from '../../api/types.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { openRequest } from '../run/requests.ts'
import { checkExistence } from './gone.ts'

/**
 * Reads the remote object: from the cache, unless something asks for a live read (a suspicion, a poll that is due, or
 * `reconcile-requested-at`). Undefined if it is gone.
 */
export async function readObject(run: Reconciliation, id: string): Promise<RemoteObject | undefined> {
  const { collection, session } = run
  const cached = session.cache.get(collection, id)
  const due = isReadDue(run)
  const asked = openRequest(run.cr, 'reconcile') !== undefined
  if (cached?.object !== undefined && cached.suspect === undefined && !due && !asked) return cached.object
  return readLive(run, collection, id)
}

/**
 * Reads an object live: by a GET if the cache has it, by listing the collection if it is missing there. Undefined if it
 * is gone.
 */
export async function readLive(
  run: Reconciliation,
  collection: Collection,
  id: string,
): Promise<RemoteObject | undefined> {
  const { cache } = run.session
  const known = cache.get(collection, id)
  // For missing objects, one list serves all instead of a GET for each.
  const isMissing = known?.object === undefined || known.suspect === 'missed'
  const object = isMissing ? undefined : await cache.fetch(collection, id)
  return object ?? (await searchFor(run, collection, id))
}

/**
 * A suspicion that is over in a moment is not worth a status write, and what is found then is still drift, not an edit.
 */
function notFound({ context: { times } }: Reconciliation, id: string, ms: number): WaitError {
  const message = `${id} was not found: checking again`
  return new WaitError(reasons.Progressing, message, Math.ceil(ms), ms <= times.scanPauseMs)
}

/** An object that a list or a GET did not show; undefined if it is gone. @throws WaitError until that is certain. */
export async function searchFor(
  run: Reconciliation,
  collection: Collection,
  id: string,
): Promise<RemoteObject | undefined> {
  const existence = await checkExistence(run, collection, id)
  switch (existence.type) {
    case 'there':
      return existence.object
    case 'gone':
      return undefined
    case 'unsettled':
      throw notFound(run, id, existence.ms)
  }
}

/** Whether a live read of the object is due, since the last one found something in progress. */
export function isReadDue({ context, memory }: Reconciliation): boolean {
  const { at } = memory.of(PollMemory)
  return at !== undefined && context.clock.monotonic() >= at
}

/** When one CR is to be read again, as its last reconcile concluded. */
export class PollMemory {
  /** Monotonic time of the next poll that readiness asked for. */
  at?: number | undefined
  /**
   * Wall time minus monotonic time when the next poll was scheduled, in milliseconds; undefined if it was not scheduled
   * by wall time.
   */
  clockOffset?: number | undefined

  /** What the last reconcile concluded. */
  scheduled({ at, clockOffset }: Pick<PollMemory, 'at' | 'clockOffset'>): void {
    this.at = at
    this.clockOffset = clockOffset
  }

  /** What the service reports of the object has changed: its next reconcile reads it. `now` is monotonic time. */
  readNow(now: number): void {
    this.at = now
  }

  /** The older state asks for polls of its own. A clock that was set meanwhile was set for it too. */
  rollBack(): void {
    this.at = undefined
  }
}
