import { checkBaseURL } from '../../api/base-url.ts'
import { isDeleting } from '../cr.ts'
import { readSecretKey } from '../inputs.ts'
import { reasons } from '../reasons.ts'
import { accountDefaults } from '../types/account.ts'
import type { AccountContext } from './account-context.ts'
import type { AccountKey, AccountResource } from './account-resource.ts'
import { type Problem, problem } from './finding.ts'
import type { SessionConfig } from './session.ts'

/** Address and key of an account, or what is wrong with them. */
export async function accountConfig(
  context: AccountContext,
  key: AccountKey,
  resource: AccountResource,
): Promise<SessionConfig | Problem> {
  const { spec, metadata } = resource
  const checked = checkBaseURL(spec.baseURL, context.baseURLPolicy)
  if (!checked.ok) return problem(reasons.BaseURLNotAllowed, `spec.${checked.message}`, true)
  const { name, key: dataKey = accountDefaults.apiKeySecretKey } = spec.apiKeySecretRef
  const namespace = key.namespace ?? context.operatorNamespace
  const apiKey =
    (await readSecretKey(context.kube, namespace, { name, key: dataKey })) ??
    // Deleting a namespace takes its Secrets first; what is left there must still be deleted at the API.
    (isDeleting(resource) ? await context.keptKeys.read(metadata.uid) : undefined)
  if (apiKey === undefined) {
    const message = `spec.apiKeySecretRef: Secret ${name} with key ${dataKey} does not exist in namespace ${namespace}: create it`
    return problem(reasons.SecretMissing, message, false)
  }
  return {
    baseURL: checked.url,
    apiKey: apiKey.trim(),
    versionHeader: spec.versionHeader ?? accountDefaults.versionHeader,
    caBundle: spec.caBundle,
    requestsPerMinute: spec.rateLimit?.requestsPerMinute,
    burst: spec.rateLimit?.burst,
  }
}

export function sameConfig(left: SessionConfig, right: SessionConfig): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
