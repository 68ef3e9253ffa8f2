import { buffer } from 'node:stream/consumers'
import {
  exchange,
  type HttpAnswer,
  type HttpClientOptions,
  type HttpRequest,
  open,
  type SendOptions,
} from '../http-client/send.ts'
import { abortable, sleep } from '../util/clock.ts'
import { jitter } from '../util/random.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { Dispatchers } from './dispatchers.ts'
import { errorFromCause, errorFromResponse, isPassing, KubeError } from './kube-error.ts'
import { type KubeAnswer, traced } from './kube-span.ts'
import type { KubeConnection } from './load-config.ts'
import type { KubeRequest, KubeVerb } from './request.ts'

const RETRY_BASE_MS = 250
/** Longest pause before a retry, whatever Retry-After says; a longer one is left to the caller's own backoff. */
const RETRY_MAX_MS = 10_000

/** Reported for each request that was sent, for metrics. */
export interface KubeRequestObservation {
  readonly verb: KubeVerb
  /** Plural of the resource. */
  readonly resource: string
  /** HTTP status, or the code of the `KubeError` when no whole answer came. */
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

/** Makes what is wanted from the JSON text of an answer; `parse` parses it. */
type Read<T> = (text: string, parse: () => unknown) => T

/** Sends one attempt; what it returns was answered with `status`. */
type Send<T> = (
  request: HttpRequest,
  options: SendOptions & { readonly signals: readonly AbortSignal[] },
) => Promise<{ readonly status: number; readonly result: T }>

/** Sends requests: time-outs, the cap on concurrent calls, retries of reads, credentials, and errors as `KubeError`. */
export class Transport {
  readonly #options: TransportOptions
  readonly #dispatchers: Dispatchers
  readonly #limit: ConcurrencyLimit
  readonly #server: { readonly origin: string; readonly path: string }
  readonly #closing = new AbortController()

  constructor(options: TransportOptions) {
    this.#options = options
    this.#dispatchers = new Dispatchers(options.connection, () => options.clock.monotonic())
    this.#limit = new ConcurrencyLimit(options.maxConcurrent)
    const { origin, pathname } = new URL(options.connection.server)
    this.#server = { origin, path: pathname.replace(/\/$/, '') }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#dispatchers.close()
  }

  /**
   * The body of a 2xx response, as `read` makes it from its text. Reads are retried on 429, 5xx and network failures; a
   * write is sent once, unless the server refused the credentials, which is a definite answer.
   */
  async call<T = unknown>(request: KubeRequest, read: Read<T> = (_, parse) => parse() as T): Promise<T> {
    for (let attempt = 0, renewed = false; ; attempt++) {
      try {
        const { connection, tracer } = this.#options
        const send = () => this.#withPlace(request, () => this.#call(request, read))
        return (await traced(tracer, request, connection.server, send)).body
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
      return await this.#attempt(request, 'watches', async (sent, options) => {
        const { status, headers, body } = await open(sent, {
          ...options,
          signal: AbortSignal.any([...options.signals]),
        })
        if (isSuccess(status)) return { status, result: body }
        throw this.#failure(request, { status, headers, body: await buffer(body) })
      })
    } catch (error) {
      const failure = errorFromCause(callName(request), error)
      if (failure.code === 'Unauthorized') this.#dispatchers.forgetCredentials()
      throw failure
    }
  }

  async #call<T>(request: KubeRequest, read: Read<T>): Promise<KubeAnswer<T>> {
    return await this.#attempt(request, 'calls', async (sent, options) => {
      const answer = await exchange(sent, options)
      if (!isSuccess(answer.status)) throw this.#failure(request, answer)
      const { status } = answer
      const text = answer.body.toString()
      return { status, result: { status, body: read(text, () => parsed(text, status, request)) } }
    })
  }

  async #withPlace<T>(request: KubeRequest, send: () => Promise<T>): Promise<T> {
    let release: () => void
    try {
      release = await this.#limit.acquire(this.#signals(request))
    } catch (error) {
      throw aborted(request, error)
    }
    try {
      return await send()
    } finally {
      release()
    }
  }

  async #attempt<T>(request: KubeRequest, purpose: 'calls' | 'watches', send: Send<T>): Promise<T> {
    const { clock } = this.#options
    const timeout = new AbortController()
    const timeoutMs = request.method === 'GET' ? this.#options.timeoutMs : this.#options.writeTimeoutMs
    const cancelTimer = clock.setTimer(timeoutMs, () => timeout.abort())
    const outer = this.#signals(request)
    const signals = [...outer, timeout.signal]
    const started = clock.monotonic()
    let code: string | undefined
    try {
      const channel = this.#dispatchers.ready(purpose) ?? (await raceAbort(this.#dispatchers.channel(purpose), signals))
      // Checked again once the connection is open; this check saves opening it.
      if (request.method !== 'GET') this.#options.beforeWrite?.()
      // A server behind a proxy may have a path of its own (https://proxy/clusters/a).
      const path = `${this.#server.path}${request.path}`
      const options = { ...this.#options, ...channel, origin: this.#server.origin, signals }
      const { status, result } = await send({ ...request, path }, options)
      code = String(status)
      return result
    } catch (error) {
      const failure = classify(request, error, outer, timeout.signal)
      code = failure.status === undefined ? failure.code : String(failure.status)
      throw failure
    } finally {
      cancelTimer()
      const seconds = (clock.monotonic() - started) / 1000
      this.#options.onRequest?.({ verb: request.verb, resource: request.resource, code: code ?? 'Unexpected', seconds })
    }
  }

  #failure(request: KubeRequest, { status, headers, body }: HttpAnswer): KubeError {
    const retryAfter = headers['retry-after']
    const answer = { status, retryAfter, body: body.toString() }
    return errorFromResponse(callName(request), answer, this.#options.clock.now())
  }

  #retryDelay(request: KubeRequest, failure: KubeError, attempt: number): number | undefined {
    if (request.method !== 'GET' || attempt >= this.#options.maxRetries || !isPassing(failure)) return undefined
    const backoff = jitter(this.#options.random, RETRY_BASE_MS * 2 ** attempt, 0.5)
    const wait = Math.max(backoff, failure.retryAfterMs ?? 0)
    return wait > RETRY_MAX_MS ? undefined : wait
  }

  async #pause(request: KubeRequest, ms: number): Promise<void> {
    try {
      await sleep(this.#options.clock, ms, this.#signals(request))
    } catch (error) {
      throw aborted(request, error)
    }
  }

  /** What gives a request up, apart from its time-out. */
  #signals({ signal }: KubeRequest): readonly AbortSignal[] {
    return signal === undefined ? [this.#closing.signal] : [signal, this.#closing.signal]
  }
}

/** Method and path without the query, for error messages. */
export function callName(request: KubeRequest): string {
  return `${request.method} ${request.path.split('?', 1)[0]}`
}

function classify(
  request: KubeRequest,
  error: unknown,
  outer: readonly AbortSignal[],
  timeout: AbortSignal,
): KubeError {
  if (error instanceof KubeError) return error
  if (outer.some((signal) => signal.aborted)) return aborted(request, error)
  if (timeout.aborted) return new KubeError('Timeout', `${callName(request)}: timed out`, { cause: error })
  return errorFromCause(callName(request), error)
}

function aborted(request: KubeRequest, cause: unknown): KubeError {
  return new KubeError('Aborted', `${callName(request)}: aborted`, { cause })
}

function parsed(text: string, status: number, request: KubeRequest): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause: a syntax error quotes the body, which may be a Secret.
    throw new KubeError('Unexpected', `${callName(request)}: the response is not JSON`, { status })
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

/** Settles as `promise` does, or rejects when one of `signals` is aborted first: a credential plugin may hang. */
function raceAbort<T>(promise: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  return abortable(signals, (resolve, reject) => {
    promise.then(resolve, reject)
    return () => undefined
  })
}
