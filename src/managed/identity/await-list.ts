import type { UnlistableError } from '../../api/list-refusals.ts'
import { isDeleting, nameOf } from '../cr.ts'
import { ownCollections } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { dropVoidAttempt, resolveIdentity } from './create.ts'
import { stepOf } from './create-step.ts'

/** A collection that opens wakes whatever waits for it; this is only the fallback. */
const FALLBACK_MS = 60_000

/** The account's check should have begun sooner. */
const UNCHECKED_MS = 5_000

/**
 * Refuses to go on while the collection of the CR, or of its inline children, is closed: without lists, nothing there
 * can be shown to exist or to be gone. @throws UnlistableError, or WaitError when it has just opened
 */
export async function awaitOwnLists(run: Reconciliation): Promise<void> {
  const closed = closedAmongOwn(run)
  if (closed === undefined) {
    awaitCheck(run)
    return
  }
  const { type } = stepOf(run)
  // The answer to a POST may hold a token, and this process alone knows it.
  if (type === 'store') await resolveIdentity(run)
  // What the attempt refers to need not wait for a collection that may never open.
  if (type === 'attempt' && !isDeleting(run.cr)) await dropVoidAttempt(run)
  throw closed
}

/** @throws WaitError while the account has not been checked since a collection opened: it may show another account */
function awaitCheck({ cr, descriptor, session }: Reconciliation): void {
  const opened = ownCollections(descriptor, cr.spec).find(({ path }) => session.isClosed(path))
  if (opened === undefined) return
  session.awaitList(opened.path, nameOf(cr))
  const message = `${opened.path} can be listed again: checking its contents`
  throw new WaitError(reasons.CollectionNotListable, message, UNCHECKED_MS, true)
}

function closedAmongOwn({ cr, descriptor, session }: Reconciliation): UnlistableError | undefined {
  const refusals = ownCollections(descriptor, cr.spec).map((collection) => session.cache.refusalOf(collection))
  return refusals.find((refusal) => refusal !== undefined)
}

/**
 * The wait for a collection that cannot be listed. It is silent until the account's check has found that others can be:
 * if none can, the account is in trouble, and says so.
 */
export function waitForList(run: Reconciliation, refusal: UnlistableError): WaitError {
  const { collection, message, status } = refusal
  const isKnown = run.session.awaitList(collection.path, nameOf(run.cr))
  const wayOut = isDeleting(run.cr)
    ? ', or set spec.deletionPolicy: Retain to finish the deletion and keep the remote object'
    : ''
  const text = `${message} (${status}): waits until ${collection.path} can be listed. To end the wait, ${closedRemedy(refusal)}${wayOut}`
  return new WaitError(reasons.CollectionNotListable, text, isKnown ? FALLBACK_MS : UNCHECKED_MS, !isKnown)
}

/** What to do about a collection that cannot be listed: the key may lack a permission, or the server the collection. */
export function closedRemedy({ collection: { path }, status }: UnlistableError): string {
  return status === 403
    ? `allow the API key to list ${path}`
    : `check that the API at spec.baseURL of the account has ${path}`
}
