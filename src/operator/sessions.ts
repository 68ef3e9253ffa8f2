import type { Tracer } from '@opentelemetry/api'
import { createApiClient } from '../api/client.ts'
import type { OpenDispatcher } from '../api/dispatcher.ts'
import type { ObjectKeys } from '../api/object-index.ts'
import { type BudgetShare, SharedBudgets } from '../api/shared-budgets.ts'
import type { Collection } from '../api/types.ts'
import type { ProxyOptions } from '../http-client/proxies.ts'
import { type AccountKey, accountText } from '../managed/account-resource.ts'
import { countHeld, isHolding } from '../managed/accounts/resync.ts'
import { LiveSession, type SessionConfig } from '../managed/accounts/session.ts'
import type { KindsRegistry } from '../managed/kinds-registry.ts'
import type { Fingerprints } from '../managed/run/fingerprints.ts'
import type { ResourceStore } from '../managed/store/resource-store.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { AuditLog } from '../telemetry/audit.ts'
import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'

/** Name by which Culvert identifies itself to servers. */
export const USER_AGENT = 'culvert'

export interface SessionFactoryOptions {
  readonly kinds: KindsRegistry
  readonly store: ResourceStore
  /** Keys by which the objects of a collection are found. */
  readonly keysOf: (collection: Collection) => ObjectKeys
  readonly metrics: Metrics
  readonly audit: AuditLog
  readonly tracer: Tracer | undefined
  readonly proxies: ProxyOptions
  /** Opens the connections to APIs. Undefined: real sockets. */
  readonly openDispatcher: OpenDispatcher | undefined
  readonly requestTimeoutMs: number
  /** Requests in flight with one key to one address, at most. Default as of `RateBudget`. */
  readonly apiRequests: number | undefined
  readonly clock: Clock
  readonly random: Random
  readonly fingerprints: Fingerprints
  /** Throws an `ApiError` `NotLeader` when this process may not write, or not for that account. */
  readonly beforeWrite: (key: AccountKey) => void
  /** Receives each session's share in a budget, by the account's `Kind/namespace/name`. */
  readonly budgets: Map<string, BudgetShare>
  /** Called with each key of `keysOf` that an object of the session's account had and has no longer. */
  readonly onLostKey: (session: LiveSession, key: string) => void
  /** Enqueues the account. */
  readonly recheck: (key: AccountKey) => void
}

/**
 * Opens sessions, each with its own client; those with the same address and key share a rate budget. The only place
 * where an API client is built.
 */
export function sessionFactory(
  options: SessionFactoryOptions,
): (key: AccountKey, config: SessionConfig) => LiveSession {
  const { kinds, store, metrics, audit, tracer, budgets, clock, random, recheck, beforeWrite } = options
  const {
    proxies,
    openDispatcher,
    requestTimeoutMs,
    apiRequests: maxInFlight,
    fingerprints,
    keysOf,
    onLostKey,
  } = options
  const shared = new SharedBudgets({ clock, random, maxInFlight, onWait: metrics.rateLimitWait })
  return (key, config) => {
    const { baseURL, apiKey, versionHeader, caBundle, requestsPerMinute, burst } = config
    // The key itself is not kept: the account may be gone before its budget is.
    const budget = shared.join(fingerprints.of('account', baseURL, apiKey), { requestsPerMinute, burst })
    budgets.set(accountText(key), budget)
    const client = createApiClient({
      baseURL,
      apiKey: () => apiKey,
      versionHeader,
      caBundle,
      proxies,
      openDispatcher,
      requestTimeoutMs,
      budget,
      clock,
      random,
      beforeWrite: () => beforeWrite(key),
      onRequest: metrics.apiRequest,
      onWrite: (report) => audit.record(accountText(key), report),
      tracer,
      userAgent: USER_AGENT,
    })
    const session = new LiveSession({
      key,
      config,
      client,
      clock,
      fingerprints,
      keysOf,
      knownObjects: (counts) => countHeld(kinds, store.membersOf(key), counts),
      isHeld: (id) => {
        const holder = store.holderOf(key, id)
        return holder !== undefined && isHolding(holder)
      },
      endWaiting: () => budget.endWaiting(new Error('the account has changed')),
      onClose: () => budget.leave(),
      recheck: () => recheck(key),
    })
    session.cache.subscribeLostKeys((lost) => onLostKey(session, lost))
    return session
  }
}
