import type { RateBudget } from '../api/rate-budget.ts'
import type { KubeObject } from '../kube/types.ts'
import { type AccountResource, accountText, keyOfAccount } from '../managed/accounts/account-resource.ts'
import { reasons } from '../managed/status/reasons.ts'
import type { Watches } from '../managed/store/resource-store.ts'
import type { ResourceState, StateSources } from '../runtime/state-metrics.ts'

/** State for the metrics; `budgets` holds those of the accounts, by `Kind/namespace/name`. Accounts that are not ours are left out. */
export function stateSources(
  watches: Watches,
  budgets: ReadonlyMap<string, RateBudget>,
  isOurs: (account: AccountResource) => boolean,
): StateSources {
  const { managed, accounts, commands, composed } = watches
  const allAccounts = () => [...accounts.values()].flatMap(({ store }) => store.list().filter(isOurs))
  return {
    resources: () => {
      const kinds = [...managed.values(), ...accounts.values(), ...commands.values(), ...composed.values()]
      return kinds.flatMap<KubeObject>(({ store }) => store.list()).map(resourceState)
    },
    accounts: () => {
      return allAccounts().map((account) => ({ account: accountText(keyOfAccount(account)), ...state(account) }))
    },
    budgets: () => {
      return allAccounts().flatMap((resource) => {
        const account = accountText(keyOfAccount(resource))
        const budget = budgets.get(account)
        return budget === undefined ? [] : [{ account, waitSeconds: budget.estimatedWaitMs() / 1000 }]
      })
    },
  }
}

/**
 * The condition Ready, or Complete for a command, which also gives the reason of a failure; undefined before the first
 * reconcile. A reason that is not one of Culvert's, and so was written by someone else, becomes `Other`.
 */
export function readyOf(object: WithStatus): Shown | undefined {
  return shownOf(object, READY)
}

type WithStatus = KubeObject & { readonly status?: unknown }

/** A condition, restricted to a small set of values. */
interface Shown {
  readonly status: string
  readonly reason: string
}

const READY: readonly string[] = ['Ready', 'Complete']
const SYNCED: readonly string[] = ['Synced']
const STATUSES: ReadonlySet<string> = new Set(['True', 'False', 'Unknown'])
const REASONS: ReadonlySet<string> = new Set(Object.values(reasons))

function shownOf({ status }: WithStatus, types: readonly string[]): Shown | undefined {
  const conditions = typeof status === 'object' && status !== null && 'conditions' in status ? status.conditions : []
  if (!Array.isArray(conditions)) return undefined
  const found = conditions.find((condition) => types.includes(condition.type))
  if (found === undefined) return undefined
  return {
    status: STATUSES.has(found.status) ? found.status : 'Unknown',
    reason: REASONS.has(found.reason) ? found.reason : 'Other',
  }
}

function state(object: KubeObject): { readonly ready: string; readonly reason: string } {
  const { status = 'Unknown', reason = '' } = readyOf(object) ?? {}
  return { ready: status, reason }
}

/**
 * A resource whose edit was refused stays Ready, and a paused one stays as it was; the reason is then that of Synced.
 */
function resourceState(object: KubeObject): ResourceState {
  const { kind } = object
  const { ready, reason } = state(object)
  const synced = shownOf(object, SYNCED)
  if (synced === undefined) return { kind, ready, synced: '', reason }
  const isSyncedCause = (ready === 'True' && synced.status !== 'True') || synced.reason === reasons.Paused
  return { kind, ready, synced: synced.status, reason: isSyncedCause ? synced.reason : reason }
}
