import { type CustomResource, isDeleting, nameOf, shortName } from '../cr.ts'
import { ORPHANS_SHOWN } from '../descriptor/account.ts'
import { requestOf } from '../reconcile/requests.ts'
import { reasons } from '../status/reasons.ts'
import type { AccountResource } from './account-resource.ts'
import type { AccountFacts } from './account-status.ts'
import { isDoubted } from './check-identity.ts'
import type { Finding, Problem } from './finding.ts'

/** The intended status of an account after a check. `dependents` are the CRs that block its deletion. */
export function accountFacts(
  resource: AccountResource,
  finding: Finding,
  dependents: readonly CustomResource[],
): AccountFacts {
  const requested = requestOf(resource, 'reconcile')
  const answered = requested === undefined ? {} : { lastHandledReconcileAt: requested }
  const state = isDeleting(resource) ? deleting(finding, dependents) : finding
  if (finding.type === 'problem') return { state, fields: { ...answered, ...doubtOf(resource, finding) } }
  const { orphans } = finding
  const claim = resource.status?.internal?.claim
  return {
    state,
    fields: {
      ...answered,
      internal: { keyFingerprint: finding.fingerprint, ...(claim === undefined ? {} : { claim }) },
      ...confirmationOf(resource),
      orphanCount: orphans.length,
      orphans: orphans.slice(0, ORPHANS_SHOWN).map((orphan) => ({ ...orphan })),
    },
  }
}

/**
 * Notes that the identity came into doubt, together with a confirmation that was already there: only another value is
 * an answer to this doubt.
 */
function doubtOf(resource: AccountResource, { reason }: Problem): AccountFacts['fields'] {
  if (reason !== reasons.IdentityUnproven || isDoubted(resource)) return {}
  const { metadata, status } = resource
  return { internal: { ...status?.internal, doubtedUID: metadata.uid }, ...confirmationOf(resource) }
}

function confirmationOf(resource: AccountResource): AccountFacts['fields'] {
  const confirmation = requestOf(resource, 'confirmIdentity')
  return confirmation === undefined ? {} : { lastHandledConfirmIdentityAt: confirmation }
}

function deleting(finding: Finding, dependents: readonly CustomResource[]): AccountFacts['state'] {
  const [first = 'none'] = dependents
    .map((dependent) => shortName(nameOf(dependent)))
    .sort((left, right) => (left < right ? -1 : 1))
  const message = `${dependents.length} resources still need the account, among them ${first}`
  return { type: 'deleting', message: finding.type === 'problem' ? `${message}; ${finding.message}` : message }
}
