import { collections } from '../../../api/collections.ts'
import { ApiError } from '../../../api/errors.ts'
import { readEnvironment } from '../../../config.ts'
import { type AccountResource, keyOfAccount } from '../../../managed/account-resource.ts'
import { secretOf } from '../../../managed/accounts/account-key.ts'
import { accountDefaults } from '../../../managed/descriptor/account.ts'
import { reasons } from '../../../managed/descriptor/reasons.ts'
import { storeCommand } from '../../../managed/kubectl.ts'
import { counted } from '../../../util/printable.ts'
import { durationMs } from '../../../util/time.ts'
import { openAccount } from '../../account-client.ts'
import { readAccess } from '../../cluster/account-access.ts'
import { type StatedResource, stateOf } from '../../cluster/resource-state.ts'
import { namespaceFlag } from '../../flags.ts'
import type { Finding } from '../finding.ts'
import { objectText, type Patient, unlessForbidden } from '../patient.ts'
import { clockFinding } from './operator.ts'

/** An API that takes longer to answer one request is worth a finding. Milliseconds. */
const ANSWER_MS = 10_000

/** An id that no object has: its absence proves that address, key and version header are right. */
const NO_ID = 'culvert-doctor'

/** Asks the API of each account that the operator can use, with one request, and looks at budget and orphans. */
export async function checkAccounts(patient: Patient): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    patient.accounts.map(async (account): Promise<readonly Finding[]> => {
      const resource = account as StatedResource & AccountResource
      return [...(await checkAPI(patient, resource)), ...checkBudget(resource), ...checkOrphans(resource)]
    }),
  )
  return findings.flat()
}

async function checkAPI(patient: Patient, account: StatedResource & AccountResource): Promise<readonly Finding[]> {
  const { cluster, operatorNamespace } = patient
  // Whatever is wrong with an account that is not Ready, its conditions say it already.
  if (stateOf(account).phase !== 'current') return []
  const object = objectText(account)
  const findings: Finding[] = []
  const access = await unlessForbidden('api', object, findings, () => {
    return readAccess(cluster, account, operatorNamespace)
  })
  if (access === undefined) return findings
  if (access.type === 'closed') {
    const { message, why } = access
    const severity = why === 'incomplete' ? 'error' : 'unchecked'
    return [{ severity, check: 'api', object, cause: message }]
  }
  let skew: readonly Finding[] = []
  const { clock } = cluster
  const onDate = (theirs: number): void => {
    skew = clockFinding(`the API of ${object}`, theirs, clock.now())
  }
  const client = openAccount(access.config, {
    clock,
    proxies: readEnvironment().proxies,
    timeoutMs: ANSWER_MS,
    onDate,
  })
  try {
    await client.get(collections.ipPolicies, NO_ID)
    return skew
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [
      apiFinding(object, account, secretOf({ operatorNamespace }, keyOfAccount(account), account), error),
      ...skew,
    ]
  } finally {
    await client.close()
  }
}

function apiFinding(
  object: string,
  { spec }: AccountResource,
  secret: ReturnType<typeof secretOf>,
  error: ApiError,
): Finding {
  const about = { check: 'api', object, cause: error.message } as const
  switch (error.code) {
    case 'Unauthorized':
      return {
        ...about,
        severity: 'error',
        remedy: 'Store a valid key in the Secret of the account.',
        command: storeCommand('Secret', { ...secret, key: secret.dataKey }),
      }
    case 'Invalid':
      return {
        ...about,
        severity: 'error',
        remedy: `Check that the API expects the header ${spec.versionHeader ?? accountDefaults.versionHeader} (spec.versionHeader).`,
      }
    case 'RateLimited':
      return {
        ...about,
        check: 'budget',
        severity: 'warning',
        remedy: 'The request limit of this account is exhausted: find out who else uses it, or have the limit raised.',
      }
    case 'Network':
    case 'Timeout':
      return {
        ...about,
        severity: 'warning',
        remedy: 'The API does not respond to this machine; the operator may still reach it.',
      }
    default:
      return { ...about, severity: 'warning' }
  }
}

/** Lists of a resync, at the least: one page for each collection in use. */
const COLLECTIONS = Object.keys(collections).length

/** Whether the request limit leaves capacity for work in addition to the resync. */
function checkBudget(account: StatedResource & AccountResource): readonly Finding[] {
  const { rateLimit, resyncInterval = accountDefaults.resyncInterval } = account.spec
  if (rateLimit === undefined) return []
  const perMinute = (COLLECTIONS * 60_000) / durationMs(resyncInterval)
  if (perMinute <= rateLimit.requestsPerMinute / 2) return []
  return [
    {
      severity: 'warning',
      check: 'budget',
      object: objectText(account),
      cause: `spec.rateLimit allows ${rateLimit.requestsPerMinute} requests per minute, of which a resync every ${resyncInterval} may need ${Math.ceil(perMinute)}`,
      remedy: 'Raise spec.rateLimit.requestsPerMinute or spec.resyncInterval.',
    },
  ]
}

function checkOrphans(account: StatedResource & AccountResource): readonly Finding[] {
  const { orphanCount = 0 } = account.status ?? {}
  if (orphanCount === 0) return []
  return [
    {
      severity: 'warning',
      check: 'orphans',
      object: objectText(account),
      cause: `it has ${counted(orphanCount, 'object')} of resources that no longer exist`,
      remedy: 'Delete those that you do not need.',
      command: `culvert orphans${namespaceFlag(account.metadata.namespace)}`,
    },
  ]
}

/** Whether an account works as its spec says. */
export function isAccountWell(account: StatedResource): boolean {
  const { phase, reason } = stateOf(account)
  return phase === 'current' && reason === reasons.Available
}
