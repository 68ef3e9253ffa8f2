import { type CustomResource, isDeleting } from '../cr.ts'
import { compareFingerprints } from '../inputs/fingerprints.ts'
import { openRequest } from '../reconcile/requests.ts'
import { reasons } from '../status/reasons.ts'
import type { AccountContext } from './account-context.ts'
import type { AccountResource } from './account-resource.ts'
import { identityDoubt, identityFingerprint } from './identity.ts'
import { countMissing } from './resync.ts'
import type { LiveSession } from './session.ts'

/** Whose account the session's key opens. */
export interface IdentityCheck {
  /** Of address and key in use, for the status of a proven account. */
  readonly fingerprint: string
  /** Why the account is not proven to be ours. */
  readonly doubt: string | undefined
}

/** Judges the identity of an account, from what its lists showed of the objects that `members` hold. */
export function checkIdentity(
  context: AccountContext,
  session: LiveSession,
  resource: AccountResource,
  members: readonly CustomResource[],
): IdentityCheck {
  const { status } = resource
  const doubted = session.starting || session.blocked() !== undefined
  const isOpen = session.blocked()?.reason === reasons.IdentityUnproven || isUnproven(resource)
  const held = countMissing(context, session, members)
  const staying = countMissing(
    context,
    session,
    members.filter((cr) => !isDeleting(cr)),
  )
  const fingerprint = identityFingerprint(session.config, context.fingerprints)
  const doubt = identityDoubt({
    // What is deleted while the brake holds stays until it is released: to delete what is missing must not release it.
    ...(isOpen ? held : staying),
    // A deletion ends when the API does not know the object: in another account it would end with the object left
    // behind.
    changed: compareFingerprints(status?.internal?.keyFingerprint, fingerprint) !== 'same',
    noneFound: held.known > 0 && held.missing === held.known,
    // While a session is in use, few objects can be missing at a time: the brake works as soon as they are too many.
    confirmed: !doubted || openRequest(resource, 'confirmIdentity') !== undefined,
  })
  return { fingerprint, doubt }
}

/** Whether the brake was on when the account was last judged, before a restart it may be. */
function isUnproven({ status }: AccountResource): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.reason === reasons.IdentityUnproven
}
