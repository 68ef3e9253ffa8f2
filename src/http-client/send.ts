import { Dispatcher } from 'undici'
import type { HttpClientOptions } from './options.ts'

/** Whatever is not a GET may change something. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export const JSON_TYPE = 'application/json'

/** A request whose body, if it has one, is JSON. */
export interface HttpRequest {
  readonly method: Method
  /** Including the query. */
  readonly path: string
  /** Default `application/json`. */
  readonly accept?: string | undefined
  /** Type of the body. Default `application/json`. */
  readonly contentType?: string | undefined
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

export interface SendOptions extends Pick<HttpClientOptions, 'userAgent' | 'beforeWrite'> {
  readonly dispatcher: Dispatcher
  readonly origin: string
  /** Headers that go before those of every request, such as credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Sends one request; resolves when the headers of its response have arrived. `beforeWrite` is called once a write's
 * connection is open. Only `signal` limits how long it takes.
 */
export function send(
  { method, path, accept = JSON_TYPE, contentType = JSON_TYPE, body }: HttpRequest,
  { dispatcher, origin, headers, userAgent, beforeWrite, signal }: SendOptions,
): Promise<Dispatcher.ResponseData> {
  const isChecked = method !== 'GET' && beforeWrite !== undefined
  return (isChecked ? new CheckedDispatcher(dispatcher, beforeWrite) : dispatcher).request({
    origin,
    path,
    method,
    headers: {
      ...headers,
      accept,
      'user-agent': userAgent,
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
    // undici's own time-outs would cut idle watches.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/**
 * Sends through `dispatcher`, and calls `check` for each request once its connection is open, just before its first
 * byte is written. A request that `check` throws for is not sent and fails with what it threw.
 *
 * Checking earlier is not enough: opening a connection can take any time, and a machine may sleep meanwhile.
 */
class CheckedDispatcher extends Dispatcher {
  readonly #dispatcher: Dispatcher
  readonly #check: () => void

  constructor(dispatcher: Dispatcher, check: () => void) {
    super()
    this.#dispatcher = dispatcher
    this.#check = check
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#dispatcher.dispatch(options, {
      onRequestStart: (controller, context) => {
        this.#check()
        handler.onRequestStart?.(controller, context)
      },
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    })
  }
}
