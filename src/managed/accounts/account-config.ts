import { checkBaseURL } from '../../api/base-url.ts'
import type { AccountKey, AccountResource } from '../account-resource.ts'
import { isDeleting } from '../cr.ts'
import { accountDefaults } from '../descriptor/account.ts'
import { reasons } from '../descriptor/reasons.ts'
import { singleLine, singleLineProblem } from '../inputs/single-line.ts'
import { keepKeyCommand } from '../kubectl.ts'
import type { AccountContext } from './account-context.ts'
import { accountApiKey, type KeySource, secretOf } from './account-key.ts'
import { type AccountProblem, problem } from './finding.ts'
import type { SessionConfig } from './session.ts'

/** Reads address and key of an account, or returns what is wrong with them. */
export async function accountConfig(
  context: KeySource & Pick<AccountContext, 'baseURLPolicy'>,
  key: AccountKey,
  resource: AccountResource,
): Promise<SessionConfig | AccountProblem> {
  const { spec } = resource
  const checked = checkBaseURL(spec.baseURL, context.baseURLPolicy)
  if (!checked.ok) return problem(reasons.BaseURLNotAllowed, `spec.${checked.message}`, true)
  const apiKey = await accountApiKey(context, key, resource)
  const { namespace, name, dataKey } = secretOf(context, key, resource)
  if (apiKey === undefined) {
    const message = `spec.apiKeySecretRef: Secret ${name} with key ${dataKey} does not exist in namespace ${namespace}`
    return problem(reasons.SecretMissing, `${message}${remedy(context, key, resource)}`, false)
  }
  const wrong = singleLineProblem(apiKey, 'Secret', { name, key: dataKey })
  if (wrong !== undefined) return problem(reasons.InvalidInput, `spec.apiKeySecretRef: ${wrong}`, true)
  return {
    baseURL: checked.url,
    // Spaces around it were never sent either.
    apiKey: singleLine(apiKey).trim(),
    versionHeader: spec.versionHeader ?? accountDefaults.versionHeader,
    caBundle: spec.caBundle,
    requestsPerMinute: spec.rateLimit?.requestsPerMinute,
    burst: spec.rateLimit?.burst,
  }
}

/** A namespace that is being deleted takes no Secret any more: the copy of the key in the operator's serves as well. */
function remedy({ operatorNamespace }: KeySource, key: AccountKey, resource: AccountResource): string {
  if (!isDeleting(resource) || key.namespace === undefined) return ': create it'
  const command = keepKeyCommand(resource.metadata.uid, operatorNamespace)
  return `. For the deletion, run this and enter a key of the account: ${command}`
}

export function sameConfig(left: SessionConfig, right: SessionConfig): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
