import type { Collection, RemoteObject } from '../api/types.ts'
import { openRequest } from './cr.ts'
import { WaitError } from './errors.ts'
import { reasons } from './reasons.ts'
import type { Reconciliation } from './reconciliation.ts'

/**
 * The remote object: from the cache, unless something asks for a live look (a suspicion raised by a list, a poll that is due, or
 * `reconcile-requested-at`). Undefined when two looks a pause apart agree that it is gone.
 */
export async function look(run: Reconciliation, id: string): Promise<RemoteObject | undefined> {
  const { collection, memory, session } = run
  const cached = session.cache.get(collection, id)
  const due = memory.lookAt !== undefined && run.context.clock.monotonic() >= memory.lookAt
  const asked = openRequest(run.cr) !== undefined
  if (cached?.object !== undefined && cached.suspect === undefined && !due && !asked) return cached.object
  return confirm(run, collection, id)
}

/** A live look at an object; it counts as gone, undefined, when two looks a pause apart do not find it. */
export async function confirm(
  run: Reconciliation,
  collection: Collection,
  id: string,
): Promise<RemoteObject | undefined> {
  const { clock, times } = run.context
  const { gone } = run.memory
  const missedAt = gone.get(id)
  const pause = missedAt === undefined ? 0 : missedAt + times.scanPauseMs - clock.monotonic()
  if (pause > 0) throw vanished(id, pause)
  const object = await run.session.cache.fetch(collection, id)
  if (object === undefined && missedAt === undefined) {
    gone.set(id, clock.monotonic())
    throw vanished(id, times.scanPauseMs)
  }
  gone.delete(id)
  return object
}

function vanished(id: string, ms: number): WaitError {
  // Only a suspicion so far: the status says nothing of it, and what the second look finds is still drift, not an edit.
  return new WaitError(reasons.Progressing, `${id} was not found at the API: looking again`, Math.ceil(ms), true)
}
