import type { AccountResource } from '../account-resource.ts'
import { type CustomResource, isDeleting, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { compareFingerprints } from '../run/fingerprints.ts'
import { openRequest } from '../run/requests.ts'
import type { AccountContext } from './account-context.ts'
import { identityDoubt, identityFingerprint } from './identity-doubt.ts'
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
  const { staying, leaving, unknown } = countMissing(context, session, members)
  const held = { known: staying.known + leaving.known, missing: staying.missing + leaving.missing }
  const fingerprint = identityFingerprint(session.config, context.fingerprints)
  const doubt = identityDoubt({
    // While the circuit breaker is open, members being deleted count too: deleting those whose objects are missing must
    // not close it.
    ...(isOpen ? held : staying),
    // A deletion ends when the API does not know the object: in another account it would end with the object left
    // behind.
    changed: compareFingerprints(status?.internal?.keyFingerprint, fingerprint) !== 'same',
    // An object in a closed collection proves nothing: what the other collections do not show may be in another
    // account.
    noneFound: held.known + unknown > 0 && held.missing === held.known,
    unknown,
    // While a session is in use, only a few objects can be missing at a time: the circuit breaker opens as soon as
    // there are too many.
    // A request counts only if it was made after the doubt was reported: an Account that lost its status still has the
    // annotation by which it was confirmed long ago.
    confirmed: !doubted || (isDoubted(resource) && openRequest(resource, 'confirmIdentity') !== undefined),
  })
  return { fingerprint, doubt }
}

interface Count {
  /** Members whose object a complete list can show. */
  known: number
  /** Those of them whose object none shows. */
  missing: number
}

/** What the lists show of the objects that members hold. */
export interface MissingCounts {
  /** Of members that are not being deleted. */
  readonly staying: Readonly<Count>
  /** Of members that are being deleted. */
  readonly leaving: Readonly<Count>
  /** Members whose object is in a closed collection: nothing shows whether it exists. */
  readonly unknown: number
}

/** Counts the `members` that hold an object, by what the lists show of it. */
export function countMissing(
  context: AccountContext,
  session: LiveSession,
  members: readonly CustomResource[],
): MissingCounts {
  const staying: Count = { known: 0, missing: 0 }
  const leaving: Count = { known: 0, missing: 0 }
  let unknown = 0
  for (const cr of members) {
    const { id } = statusOf(cr)
    const collection = context.kinds.managedKind(cr.kind)?.identity.collectionOf(cr.spec)
    if (id === undefined || collection === undefined) continue
    if (session.cache.refusalOf(collection) !== undefined) {
      unknown++
      continue
    }
    const count = isDeleting(cr) ? leaving : staying
    count.known++
    if (session.cache.get(collection, id)?.object === undefined) count.missing++
  }
  return { staying, leaving, unknown }
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
