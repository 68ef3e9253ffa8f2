import { type ClosableApiClient, createApiClient } from '../api/client.ts'
import { createDispatcher, type OpenDispatcher, type ProxyOptions } from '../api/dispatcher.ts'
import { RateBudget } from '../api/rate-budget.ts'
import type { KubeClient } from '../kube/types.ts'
import { accountConfig } from '../managed/accounts/account-config.ts'
import { type AccountResource, keyOfAccount } from '../managed/accounts/account-resource.ts'
import { KeptKeys } from '../managed/accounts/kept-key.ts'
import type { SessionConfig } from '../managed/accounts/session.ts'
import { USER_AGENT } from '../operator/sessions.ts'
import type { Clock } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'
import { hostOf } from './account-flags.ts'

/** The address and key of an account, from its resource and its Secret; or why there are none. */
export type AccountAccess =
  | { readonly type: 'open'; readonly config: SessionConfig }
  /** `unverified`: the operator does not use the account, so nobody else does either. */
  | { readonly type: 'closed'; readonly why: 'unverified' | 'incomplete'; readonly message: string }

/** Where accounts and their Secrets are read. */
export interface AccountPlace {
  readonly kube: KubeClient
  /** The operator's own namespace, where the Secrets of ClusterAccounts are. */
  readonly operatorNamespace: string
}

/**
 * Reads address and key of an account as the operator does. Which hosts an administrator allows is known only to the
 * operator, which checks the immutable address of each account: one that it has not verified is not called, since
 * whoever may write an Account must not choose whom this machine calls.
 *
 * @throws KubeError if the Secret cannot be read
 */
export async function clusterAccount(
  { kube, operatorNamespace }: AccountPlace,
  account: AccountResource,
): Promise<AccountAccess> {
  const ready = account.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') {
    const why = ready === undefined ? 'the operator has not looked at it yet' : ready.message
    return { type: 'closed', why: 'unverified', message: `it is not Ready (${why})` }
  }
  const config = await accountConfig(
    {
      kube,
      operatorNamespace,
      keptKeys: new KeptKeys(kube, operatorNamespace),
      resources: { keyIssuersOf: () => [] },
      baseURLPolicy: { allowedHosts: [hostOf(account.spec.baseURL)], allowHTTP: true },
    },
    keyOfAccount(account),
    account,
  )
  if ('baseURL' in config) return { type: 'open', config }
  return { type: 'closed', why: 'incomplete', message: config.message }
}

/** How a command calls the API of an account. */
export interface AccountCalls {
  readonly clock: Clock
  readonly proxies: ProxyOptions
  /** Receives the time that an answer states, in milliseconds since the epoch. */
  readonly onDate?: (ms: number) => void
}

const TIMEOUT_MS = 10_000

/** A client for an account, with a rate budget of its own: the operator's is not known here. */
export function openAccount(config: SessionConfig, { clock, proxies, onDate }: AccountCalls): ClosableApiClient {
  const { apiKey, requestsPerMinute, burst, ...rest } = config
  const budget = new RateBudget({ clock, random: systemRandom, requestsPerMinute, burst })
  return createApiClient({
    ...rest,
    apiKey: () => apiKey,
    budget,
    clock,
    proxies,
    openDispatcher: onDate === undefined ? createDispatcher : notingDates(onDate),
    random: systemRandom,
    requestTimeoutMs: TIMEOUT_MS,
    userAgent: USER_AGENT,
  })
}

/** Connections that tell the `Date` of each answer. */
function notingDates(onDate: (ms: number) => void): OpenDispatcher {
  return (options) =>
    createDispatcher(options).compose((dispatch) => (request, handler) => {
      return dispatch(request, {
        ...bound(handler),
        onResponseStart: (controller, status, headers, message) => {
          const date = Date.parse(String(headers.date ?? ''))
          if (!Number.isNaN(date)) onDate(date)
          return handler.onResponseStart?.(controller, status, headers, message)
        },
      })
    })
}

type Handler = Parameters<ReturnType<typeof createDispatcher>['dispatch']>[1]

/** The callbacks of a handler, each called on the handler itself. */
function bound(handler: Handler): Handler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) => {
      return handler.onRequestUpgrade?.(controller, status, headers, socket)
    },
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}
