import type { RemoteObject } from '../../api/types.ts'
import { isDeleting } from '../cr.ts'
import type { Reconciliation } from '../reconciliation.ts'
import { noteToken, readToken, tokenPlace } from './token.ts'

/**
 * The object whose token the CR's Secret holds under `nonce`: a former process got the answer, and stored it there. Undefined
 * for kinds without a token, and for a CR that is being deleted: it needs none.
 */
export async function objectInSecret(run: Reconciliation, nonce: string): Promise<RemoteObject | undefined> {
  const held = await readOwn(run)
  if (held?.nonce !== nonce) return undefined
  noteToken(run, held.place, held)
  const { collection, session } = run
  const known = session.cache.get(collection, held.id)?.object ?? (await session.cache.fetch(collection, held.id))
  // One that has vanished since is looked at, and made again, like any other.
  return known ?? { id: held.id }
}

/** Which of the objects is the CR's: the one whose token its Secret holds, or for kinds without a token the first. */
export async function withItsToken(
  run: Reconciliation,
  objects: readonly RemoteObject[],
): Promise<RemoteObject | undefined> {
  if (tokenPlace(run) === undefined || isDeleting(run.cr) || objects.length === 0) return objects[0]
  const held = await readOwn(run)
  const own = objects.find(({ id }) => id === held?.id)
  if (own !== undefined && held !== undefined) noteToken(run, held.place, held)
  return own
}

async function readOwn(run: Reconciliation) {
  const place = tokenPlace(run)
  if (place === undefined || isDeleting(run.cr)) return undefined
  const held = await readToken(run)
  if (held?.id === undefined || held.token === undefined || !held.intact) return undefined
  return { id: held.id, nonce: held.nonce, token: held.token, place }
}
