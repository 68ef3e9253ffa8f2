import { type CustomResource, isDeleting, nameOf, shortName } from '../cr.ts'
import { CONFIRM_IDENTITY, RECONCILE_REQUESTED_AT } from '../names.ts'
import { ORPHANS_SHOWN } from '../types/account.ts'
import type { AccountResource } from './account-resource.ts'
import type { AccountFacts } from './account-status.ts'
import type { Finding } from './finding.ts'

/** What the status of an account should say after a look at it. `users` are the CRs that keep it from being deleted. */
export function accountFacts(
  resource: AccountResource,
  finding: Finding,
  users: readonly CustomResource[],
): AccountFacts {
  const requested = requestOf(resource)
  const answered = requested === undefined ? {} : { lastHandledReconcileAt: requested }
  const standing = isDeleting(resource) ? deleting(finding, users) : finding
  if (finding.type === 'problem') return { standing, fields: answered }
  const confirmation = resource.metadata.annotations?.[CONFIRM_IDENTITY]
  const { orphans } = finding
  return {
    standing,
    fields: {
      ...answered,
      internal: { keyFingerprint: finding.fingerprint },
      ...(confirmation === undefined ? {} : { confirmedIdentity: confirmation }),
      orphanCount: orphans.length,
      orphans: orphans.slice(0, ORPHANS_SHOWN).map((orphan) => ({ ...orphan })),
    },
  }
}

/** Whether `reconcile-requested-at` asks for a look that was not made yet. */
export function isLookRequested(resource: AccountResource): boolean {
  const requested = requestOf(resource)
  return requested !== undefined && requested !== resource.status?.lastHandledReconcileAt
}

function requestOf(resource: AccountResource): string | undefined {
  return resource.metadata.annotations?.[RECONCILE_REQUESTED_AT]
}

function deleting(finding: Finding, users: readonly CustomResource[]): AccountFacts['standing'] {
  const [first = 'none'] = users.map((user) => shortName(nameOf(user))).sort((left, right) => (left < right ? -1 : 1))
  const message = `${users.length} resources still need the account, among them ${first}`
  return { type: 'deleting', message: finding.type === 'problem' ? `${message}; ${finding.message}` : message }
}
