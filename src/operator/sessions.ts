import type { Tracer } from '@opentelemetry/api'
import { createApiClient } from '../api/client.ts'
import type { OpenDispatcher } from '../api/dispatcher.ts'
import type { ObjectKeys } from '../api/object-index.ts'
import { noPause, type Pause, RateBudget } from '../api/rate-budget.ts'
import type { Collection } from '../api/types.ts'
import type { ProxyOptions } from '../http-client/proxies.ts'
import { type AccountKey, accountText } from '../managed/accounts/account-resource.ts'
import { countHeld, isHolding } from '../managed/accounts/resync.ts'
import { LiveSession, type SessionConfig } from '../managed/accounts/session.ts'
import type { Fingerprints } from '../managed/inputs/fingerprints.ts'
import type { KindsRegistry } from '../managed/kinds-registry.ts'
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
  /** Requests in flight to one account, at most. Default as of `RateBudget`. */
  readonly apiRequests: number | undefined
  readonly clock: Clock
  readonly random: Random
  readonly fingerprints: Fingerprints
  /** Throws an `ApiError` `NotLeader` when this process may not write, or not for that account. */
  readonly beforeWrite: (key: AccountKey) => void
  /** Receives the budget of each session, by the account's `Kind/namespace/name`. */
  readonly budgets: Map<string, RateBudget>
  /** Called with each key of `keysOf` that an object of the session's account had and has no longer. */
  readonly onLostKey: (session: LiveSession, key: string) => void
  /** Enqueues the account. */
  readonly recheck: (key: AccountKey) => void
}

/** Opens sessions, each with its own client and rate budget: the only place where an API client is built. */
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
  const callers = new Map<string, { readonly caller: string; readonly pause: Pause }>()
  return (key, config) => {
    const { baseURL, apiKey, versionHeader, caBundle, requestsPerMinute, burst } = config
    const name = accountText(key)
    // A pause that the API asked for stays in force while the caller is the same: another key or address is another
    // caller, changed limits are not. The key itself is not kept: the account may be gone by then.
    const caller = fingerprints.of('account', baseURL, apiKey)
    const former = callers.get(name)
    const pause = former?.caller === caller ? former.pause : noPause()
    const budget = new RateBudget({
      clock,
      random,
      requestsPerMinute,
      burst,
      maxInFlight,
      pause,
      onWait: metrics.rateLimitWait,
    })
    budgets.set(name, budget)
    callers.set(name, { caller, pause })
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
      endWaiting: () => budget.refuseWaiting(new Error('the account has changed')),
      recheck: () => recheck(key),
    })
    session.cache.subscribeLostKeys((lost) => onLostKey(session, lost))
    return session
  }
}
