import type { Dispatcher } from 'undici'
import type { HttpClientOptions } from '../http-client/options.ts'
import { send } from '../http-client/send.ts'
import { sleep } from '../util/clock.ts'
import { jitter } from '../util/random.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { type Channel, Dispatchers } from './dispatchers.ts'
import { errorFromCause, errorFromResponse } from './error-mapping.ts'
import { isPassing, KubeError } from './errors.ts'
import type { KubeConnection } from './load-config.ts'
import type { KubeRequest, KubeVerb } from './request.ts'
import { type KubeAnswer, traced } from './tracing.ts'

const RETRY_BASE_MS = 250
/** Longest pause before a retry, whatever Retry-After says; a longer one is left to the caller's own backoff. */
const RETRY_MAX_MS = 10_000

/** Reported for each request that was sent, for metrics. */
export interface KubeRequestObservation {
  readonly verb: KubeVerb
  /** Plural of the resource. */
  readonly resource: string
  /** HTTP status, or the code of the `KubeError` when there was no response. */
  readonly code: string
  readonly seconds: number
}

export interface TransportOptions extends HttpClientOptions {
  readonly connection: KubeConnection
  /** Longest time one read attempt may take, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Longest time one write may take, in milliseconds, from the moment leadership was checked. Under leader election it
   * must be shorter than the lease duration less the renew deadline, so that a write has ended before another process
   * may lead.
   */
  readonly writeTimeoutMs: number
  /** Retries of a failed read (429, 5xx, network). */
  readonly maxRetries: number
  /** Calls in flight at a time, not counting watches. */
  readonly maxConcurrent: number
  /** Called for each request that ended; for a watch, when the headers of its response arrived. */
  readonly onRequest?: (observation: KubeRequestObservation) => void
}

/** Sends requests: time-outs, the cap on concurrent calls, retries of reads, credentials, and errors as `KubeError`. */
export class Transport {
  readonly #options: TransportOptions
  readonly #dispatchers: Dispatchers
  readonly #limit: ConcurrencyLimit
  readonly #closing = new AbortController()

  constructor(options: TransportOptions) {
    this.#options = options
    this.#dispatchers = new Dispatchers(options.connection, () => options.clock.monotonic())
    this.#limit = new ConcurrencyLimit(options.maxConcurrent)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#dispatchers.close()
  }

  /**
   * The parsed JSON body of a 2xx response. Reads are retried on 429, 5xx and network failures; a write is sent once,
   * unless the server refused the credentials, which is a definite answer.
   */
  async call(request: KubeRequest): Promise<unknown> {
    for (let attempt = 0, renewed = false; ; attempt++) {
      try {
        const { connection, tracer } = this.#options
        const exchange = () => this.#withPlace(request, () => this.#attempt(request, 'calls', readAnswer))
        return (await traced(tracer, request, connection.server, exchange)).body
      } catch (error) {
        const failure = errorFromCause(callName(request), error)
        if (failure.code === 'Unauthorized' && !renewed) {
          renewed = true
          this.#dispatchers.forgetCredentials()
          continue
        }
        const delay = this.#retryDelay(request, failure, attempt)
        if (delay === undefined) throw failure
        await this.#pause(request, delay)
      }
    }
  }

  /**
   * The open body of a watch. The time-out covers only the response headers; watches do not count against the limit.
   */
  async open(request: KubeRequest): Promise<AsyncIterable<Uint8Array>> {
    try {
      return await this.#attempt(request, 'watches', (response) => Promise.resolve(response.body))
    } catch (error) {
      const failure = errorFromCause(callName(request), error)
      if (failure.code === 'Unauthorized') this.#dispatchers.forgetCredentials()
      throw failure
    }
  }

  async #withPlace<T>(request: KubeRequest, send: () => Promise<T>): Promise<T> {
    const signal = this.#signals(request.signal)
    let release: () => void
    try {
      release = await this.#limit.acquire(signal)
    } catch (error) {
      throw aborted(request, error)
    }
    try {
      return await send()
    } finally {
      release()
    }
  }

  async #attempt<T>(
    request: KubeRequest,
    purpose: 'calls' | 'watches',
    read: (response: Dispatcher.ResponseData, request: KubeRequest) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options
    const timeout = new AbortController()
    const timeoutMs = request.method === 'GET' ? this.#options.timeoutMs : this.#options.writeTimeoutMs
    const cancelTimer = clock.setTimer(timeoutMs, () => timeout.abort())
    const outer = this.#signals(request.signal)
    const signal = AbortSignal.any([outer, timeout.signal])
    const started = clock.monotonic()
    let code: string | undefined
    try {
      const channel = await raceAbort(this.#dispatchers.channel(purpose), signal)
      // Checked again once the connection is open; this check saves opening it.
      if (request.method !== 'GET') this.#options.beforeWrite?.()
      const response = await this.#send(request, channel, signal)
      code = String(response.statusCode)
      if (response.statusCode < 200 || response.statusCode > 299) throw await this.#failure(request, response)
      return await read(response, request)
    } catch (error) {
      const failure = classify(request, error, outer, timeout.signal)
      code ??= failure.code
      throw failure
    } finally {
      cancelTimer()
      const seconds = (clock.monotonic() - started) / 1000
      this.#options.onRequest?.({ verb: request.verb, resource: request.resource, code: code ?? 'Unexpected', seconds })
    }
  }

  #send(request: KubeRequest, channel: Channel, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { origin, pathname } = new URL(this.#options.connection.server)
    // A server behind a proxy may have a path of its own (https://proxy/clusters/a).
    const path = `${pathname.replace(/\/$/, '')}${request.path}`
    return send({ ...request, path }, { ...this.#options, ...channel, origin, signal })
  }

  async #failure(request: KubeRequest, response: Dispatcher.ResponseData): Promise<KubeError> {
    const body = await response.body.text()
    const header = response.headers['retry-after']
    const retryAfter = typeof header === 'string' ? header : undefined
    return errorFromResponse(
      callName(request),
      { status: response.statusCode, retryAfter, body },
      this.#options.clock.now(),
    )
  }

  #retryDelay(request: KubeRequest, failure: KubeError, attempt: number): number | undefined {
    if (request.method !== 'GET' || attempt >= this.#options.maxRetries || !isPassing(failure)) return undefined
    const backoff = jitter(this.#options.random, RETRY_BASE_MS * 2 ** attempt, 0.5)
    const wait = Math.max(backoff, failure.retryAfterMs ?? 0)
    return wait > RETRY_MAX_MS ? undefined : wait
  }

  async #pause(request: KubeRequest, ms: number): Promise<void> {
    try {
      await sleep(this.#options.clock, ms, this.#signals(request.signal))
    } catch (error) {
      throw aborted(request, error)
    }
  }

  #signals(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }
}

/** Method and path without the query, for error messages. */
export function callName(request: KubeRequest): string {
  return `${request.method} ${request.path.split('?', 1)[0]}`
}

function classify(request: KubeRequest, error: unknown, outer: AbortSignal, timeout: AbortSignal): KubeError {
  if (error instanceof KubeError) return error
  if (outer.aborted) return aborted(request, error)
  if (timeout.aborted) return new KubeError('Timeout', `${callName(request)}: timed out`, { cause: error })
  return errorFromCause(callName(request), error)
}

function aborted(request: KubeRequest, cause: unknown): KubeError {
  return new KubeError('Aborted', `${callName(request)}: aborted`, { cause })
}

async function readAnswer(response: Dispatcher.ResponseData, request: KubeRequest): Promise<KubeAnswer> {
  return { status: response.statusCode, body: await readJson(response, request) }
}

async function readJson(response: Dispatcher.ResponseData, request: KubeRequest): Promise<unknown> {
  const text = await response.body.text()
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause: a syntax error quotes the body, which may be a Secret.
    throw new KubeError('Unexpected', `${callName(request)}: the response is not JSON`, { status: response.statusCode })
  }
}

/** Settles as `promise` does, or rejects when `signal` is aborted first: a credential plugin may hang. */
function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
