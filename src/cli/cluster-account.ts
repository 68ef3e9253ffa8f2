import { checkBaseURL } from '../api/base-url.ts'
import { type ClosableApiClient, createApiClient } from '../api/client.ts'
import { createDispatcher, type OpenDispatcher, type ProxyOptions } from '../api/dispatcher.ts'
import { RateBudget } from '../api/rate-budget.ts'
import { sessionConfig } from '../managed/accounts/account-config.ts'
import { secretOf } from '../managed/accounts/account-key.ts'
import { type AccountResource, keyOfAccount } from '../managed/accounts/account-resource.ts'
import type { SessionConfig } from '../managed/accounts/session.ts'
import { secretType } from '../managed/inputs/inputs.ts'
import { heldToken } from '../managed/outputs/held-token.ts'
import type { DataObject } from '../managed/outputs/place.ts'
import { reasons } from '../managed/status/reasons.ts'
import { USER_AGENT } from '../operator/sessions.ts'
import type { Clock } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'
import type { ExplainedClient } from './cluster/explained-client.ts'

/** The address and key of an account, from its resource and its Secret; or why there are none. */
export type AccountAccess =
  | { readonly type: 'open'; readonly config: SessionConfig }
  | { readonly type: 'closed'; readonly why: 'host' | 'secret'; readonly message: string; readonly command: string }

/**
 * Reads address and key of an account as the operator does. Which hosts an administrator allows is known only to the
 * operator, which checks the immutable address of each account: one that it has not accepted is not asked either, since
 * whoever writes an Account would choose where this machine sends requests.
 *
 * @throws CommandError if the Secret may not be read
 */
export async function clusterAccount(
  kube: Pick<ExplainedClient, 'get'>,
  account: AccountResource,
  operatorNamespace: string,
): Promise<AccountAccess> {
  const { spec, status } = account
  const { kind, metadata } = account
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready === undefined || ready.reason === reasons.BaseURLNotAllowed) {
    const message = `the operator has not accepted the host of spec.baseURL (${spec.baseURL})`
    return { type: 'closed', why: 'host', message, command: `culvert why ${kind.toLowerCase()}/${metadata.name}` }
  }
  const checked = checkBaseURL(spec.baseURL, { allowedHosts: [new URL(spec.baseURL).host], allowHTTP: true })
  if (!checked.ok) return { type: 'closed', why: 'host', message: checked.message, command: 'culvert --help' }
  const { namespace, name, dataKey } = secretOf({ operatorNamespace }, keyOfAccount(account), account)
  const secret = await kube.get<DataObject>(secretType, { namespace, name })
  const { token } = heldToken(secret, dataKey)
  if (token !== undefined) return { type: 'open', config: sessionConfig(spec, checked.url, token) }
  const message = `Secret ${name} in namespace ${namespace} has no key ${dataKey}`
  return { type: 'closed', why: 'secret', message, command: `kubectl get secret ${name} -n ${namespace}` }
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
