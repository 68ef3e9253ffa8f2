import type { ResourceType } from '../../kube/types.ts'
import type { AccountResource } from '../account-resource.ts'
import { type CustomResource, isDeleting, nameOf, shortName } from '../cr.ts'
import { ORPHANS_SHOWN } from '../descriptor/account.ts'
import { reasons } from '../descriptor/reasons.ts'
import { kubectlName, releaseCommand } from '../kubectl.ts'
import { requestOf } from '../run/requests.ts'
import type { AccountFacts } from './account-status.ts'
import { isDoubted } from './check-identity.ts'
import type { AccountProblem, Finding } from './finding.ts'

/** What a check of an account found. */
interface Check {
  readonly type: ResourceType
  readonly resource: AccountResource
  readonly finding: Finding
  /** The CRs that block its deletion. */
  readonly dependents: readonly CustomResource[]
}

/** The intended status of an account after a check. */
export function accountFacts(check: Check): AccountFacts {
  const { resource, finding } = check
  const requested = requestOf(resource, 'reconcile')
  const answered = requested === undefined ? {} : { lastHandledReconcileAt: requested }
  const state = isDeleting(resource) ? deleting(check) : finding
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
function doubtOf(resource: AccountResource, { reason }: AccountProblem): AccountFacts['fields'] {
  if (reason !== reasons.IdentityUnproven || isDoubted(resource)) return {}
  const { metadata, status } = resource
  return { internal: { ...status?.internal, doubtedUID: metadata.uid }, ...confirmationOf(resource) }
}

function confirmationOf(resource: AccountResource): AccountFacts['fields'] {
  const confirmation = requestOf(resource, 'confirmIdentity')
  return confirmation === undefined ? {} : { lastHandledConfirmIdentityAt: confirmation }
}

function deleting({ type, resource, finding, dependents }: Check): AccountFacts['state'] {
  const [first = 'none'] = dependents
    .map((dependent) => shortName(nameOf(dependent)))
    .sort((left, right) => (left < right ? -1 : 1))
  const needed = `${dependents.length} resources still need the account, including ${first}`
  const message = finding.type === 'problem' ? `${needed}; ${finding.message}` : needed
  // What is being deleted needs the account to the end.
  if (dependents.some(isDeleting)) return { type: 'deleting', message }
  const command = releaseCommand(kubectlName(type, resource.metadata), resource.metadata.finalizers ?? [])
  return {
    type: 'deleting',
    message: `${message}. To restore the account, run this and apply its manifest again: ${command}`,
  }
}
