import { type ClosableApiClient, createApiClient } from '../api/client.ts'
import { createDispatcher, type OpenDispatcher } from '../api/dispatcher.ts'
import { ApiError } from '../api/errors.ts'
import { RateBudget } from '../api/rate-budget.ts'
import type { ApiClient } from '../api/types.ts'
import type { ProxyOptions } from '../http-client/proxies.ts'
import type { SessionConfig } from '../managed/accounts/session.ts'
import { USER_AGENT } from '../operator/sessions.ts'
import { type Clock, sleep } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'

/** How a command calls the API of an account. */
export interface AccountCalls {
  readonly clock: Clock
  readonly proxies: ProxyOptions
  /** How long a request may take, in milliseconds. */
  readonly timeoutMs: number
  /** Receives the time that an answer states, in milliseconds since the epoch. */
  readonly onDate?: (ms: number) => void
  /** Default false: every write is refused, whatever a defect asks for. */
  readonly mayWrite?: boolean
}

/** A client for an account, with a rate budget of its own: the operator's is not known here. */
export function openAccount(
  config: SessionConfig,
  { clock, proxies, timeoutMs, onDate, mayWrite = false }: AccountCalls,
): ClosableApiClient {
  const { apiKey, requestsPerMinute, burst, ...rest } = config
  const random = systemRandom
  return createApiClient({
    ...rest,
    apiKey: () => apiKey,
    budget: new RateBudget({ clock, random, requestsPerMinute, burst }),
    clock,
    proxies,
    openDispatcher: onDate === undefined ? createDispatcher : notingDates(onDate),
    random,
    requestTimeoutMs: timeoutMs,
    userAgent: USER_AGENT,
    ...(mayWrite ? {} : { beforeWrite: refuseWrite }),
  })
}

function refuseWrite(): never {
  throw new ApiError('NotLeader', 'this command only reads', { definite: true })
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

type Reader = Pick<ApiClient, 'list'>

/** Pause where the API does not say how long it wants, in milliseconds. */
const PAUSE_MS = 10_000
/** An API that refuses so often in a row is not read at all. */
const MOST_PAUSES = 20

/**
 * A reader that waits as long as an API asks for after too many requests, and says so: no one else tries again for a
 * person who runs a command.
 */
export function patientReader(reader: Reader, clock: Clock, report: (text: string) => void): Reader {
  return {
    list: async (collection, options) => {
      for (let pauses = 0; ; pauses += 1) {
        try {
          return await reader.list(collection, options)
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 'RateLimited' || pauses === MOST_PAUSES) throw error
          const ms = error.retryAfterMs ?? PAUSE_MS
          report(`the API requests a pause: reading ${collection.path} again in ${Math.ceil(ms / 1000)} s`)
          await sleep(clock, ms)
        }
      }
    },
  }
}
