import { type CustomResource, isDeleting } from '../cr.ts'
import { compareFingerprints } from '../inputs/fingerprints.ts'
import { openRequest } from '../reconcile/requests.ts'
import { reasons } from '../status/reasons.ts'
import type { AccountContext } from './account-context.ts'
import type { AccountResource } from './account-resource.ts'
import { identityDoubt, identityFingerprint } from './identity-doubt.ts'
import { countMissing } from './resync.ts'
import type { LiveSession } from './session.ts'

/** The result of checking whether the session's key opens our account. */
export interface IdentityCheck {
  /** Fingerprint of address and key in use, for the status of a verified account. */
  readonly fingerprint: string
  /** Why the account is not proven to be ours. */
  readonly doubt: string | undefined
}

/**
 * Checks the identity of an account, from which of its members' objects the lists showed. An open circuit breaker
 * blocks all use of the account until its identity is proven or confirmed.
 */
export function checkIdentity(
  context: AccountContext,
  session: LiveSession,
  resource: AccountResource,
  members: readonly CustomResource[],
): IdentityCheck {
  const { status } = resource
  // What a collection shows when it opens is compared with nothing: this session may never have seen its objects.
  const doubted = session.starting || session.blocked() !== undefined || session.hasOpened
  const isOpen = session.blocked()?.reason === reasons.IdentityUnproven || isDoubted(resource) || saysUnproven(resource)
  const held = countMissing(context, session, members)
  const staying = countMissing(
    context,
    session,
    members.filter((cr) => !isDeleting(cr)),
  )
  const fingerprint = identityFingerprint(session.config, context.fingerprints)
  const doubt = identityDoubt({
    // While the circuit breaker is open, members being deleted count too: deleting those whose objects are missing must
    // not close it.
    known: (isOpen ? held : staying).known,
    missing: (isOpen ? held : staying).missing,
    // A deletion ends when the API does not know the object: in another account it would end with the object left
    // behind.
    changed: compareFingerprints(status?.internal?.keyFingerprint, fingerprint) !== 'same',
    // An object in a closed collection proves nothing: what the other collections do not show may be in another
    // account.
    noneFound: held.known + held.unknown > 0 && held.missing === held.known,
    unknown: held.unknown,
    // While a session is in use, only a few objects can be missing at a time: the circuit breaker opens as soon as
    // there are too many.
    // A request counts only if it was made after the doubt was reported: an Account that lost its status still has the
    // annotation by which it was confirmed long ago.
    confirmed: !doubted || (isDoubted(resource) && openRequest(resource, 'confirmIdentity') !== undefined),
  })
  return { fingerprint, doubt }
}

/** An earlier version notes an open circuit breaker in the condition only. */
function saysUnproven({ status }: AccountResource): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason === reasons.IdentityUnproven
}

/**
 * Whether the circuit breaker was reported as open, possibly before a restart, and has not closed since. Another
 * trouble may have taken its place in the conditions; a status from under another UID says nothing.
 */
export function isDoubted({ metadata, status }: AccountResource): boolean {
  return status?.internal?.doubtedUID === metadata.uid
}
