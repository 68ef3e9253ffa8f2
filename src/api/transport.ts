import { type Dispatcher, errors } from 'undici'
import { exchange, type HttpAnswer, type HttpClientOptions, type Method, TooLarge } from '../http-client/send.ts'
import type { WriteReport } from '../telemetry/write-origin.ts'
import { sleep } from '../util/clock.ts'
import { jitter } from '../util/random.ts'
import type { Ending } from './adaptive-limit.ts'
import { readBody } from './answer-body.ts'
import { traced } from './api-span.ts'
import { ApiError, invalid, saysAbsent } from './errors.ts'
import { answerError, type CallContext, networkError, operationIdFor, parseRetryAfter, secretsIn } from './failure.ts'
import type { RateBudget } from './rate-budget.ts'
import type { ApiAnswer, OutgoingRequest } from './types.ts'
import { writeReport } from './write-report.ts'

/** One finished exchange, for metrics. */
export interface RequestReport {
  readonly collection: string
  readonly method: Method
  /** HTTP status, or the error's code when no whole answer came. */
  readonly status: string
  readonly seconds: number
}

export interface TransportOptions extends HttpClientOptions {
  readonly dispatcher: Dispatcher
  /** Called for each request, so that a changed Secret takes effect at once. */
  readonly apiKey: () => string
  readonly versionHeader: string
  readonly versionValue: string
  readonly requestTimeoutMs: number
  readonly maxResponseBytes: number
  /** The budget of the account's key, shared by all its clients and workers. */
  readonly budget: Pick<RateBudget, 'acquire' | 'heldForMs' | 'hold' | 'refuseWaiting'>
  /** Called just before any request: throws (`Suspended`) while the account's calls are stopped. */
  readonly beforeCall?: (() => void) | undefined
  /** Called after each exchange, however it ended. */
  readonly onRequest?: ((report: RequestReport) => void) | undefined
  /** Called after each request that changes something and was, or may have been, sent. */
  readonly onWrite?: ((report: WriteReport) => void) | undefined
}

const GET_ATTEMPTS = 3
const RETRY_BASE_MS = 250
/** The caller schedules a longer pause than this: it must not block a worker. */
const LONGEST_RETRY_WAIT_MS = 30_000

/**
 * Sends requests within the account's budget and turns every failure into an `ApiError`. GETs are tried up to three
 * times (5xx but 501, network, time-outs, 429), writes once.
 */
export class Transport {
  readonly #options: TransportOptions

  constructor(options: TransportOptions) {
    this.#options = options
  }

  async send(outgoing: OutgoingRequest): Promise<ApiAnswer> {
    const { clock, random } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(outgoing, attempt - 1)
      } catch (error) {
        const wait = retryWait(error, outgoing.method, attempt)
        if (wait === undefined) throw error
        await sleep(clock, jitter(random, wait, 0.5), outgoing.options.signal).catch(() => {
          throw error
        })
      }
    }
  }

  /** Reports a 429 to the budget before it releases its turn, so that no waiter slips through in between. */
  async #attempt(outgoing: OutgoingRequest, resends: number): Promise<ApiAnswer> {
    const { budget, beforeCall, beforeWrite, clock, tracer } = this.#options
    const since = clock.monotonic()
    const { priority = 'edit', signal } = outgoing.options
    this.#refuseWhileHeld(outgoing)
    const release = await budget.acquire(priority, signal).catch((cause: unknown) => {
      // Another request's 429 ended the wait.
      this.#refuseWhileHeld(outgoing)
      throw aborted(label(outgoing), true, cause)
    })
    let how: Ending | undefined
    try {
      beforeCall?.()
      // Checked again once the connection is open; this check saves opening it.
      if (outgoing.method !== 'GET') beforeWrite?.()
      const key = this.#key(outgoing)
      const waitedSeconds = (clock.monotonic() - since) / 1000
      const answer = await traced(tracer, outgoing, { resends, waitedSeconds }, () => this.#exchange(outgoing, key))
      how = 'answered'
      return answer
    } catch (error) {
      how = endingOf(error)
      if (error instanceof ApiError && error.code === 'RateLimited') {
        budget.hold(error.retryAfterMs)
        if (budget.heldForMs > LONGEST_RETRY_WAIT_MS) budget.refuseWaiting(error)
      }
      throw error
    } finally {
      release(how === undefined ? undefined : { how, sort: sortOf(outgoing) })
    }
  }

  #refuseWhileHeld(outgoing: OutgoingRequest): void {
    const retryAfterMs = this.#options.budget.heldForMs
    if (retryAfterMs <= LONGEST_RETRY_WAIT_MS) return
    const message = `${label(outgoing)}: the API asked for a pause (429)`
    throw new ApiError('RateLimited', message, { definite: true, retryAfterMs })
  }

  async #exchange(outgoing: OutgoingRequest, key: string): Promise<ApiAnswer> {
    const { clock, onRequest, onWrite } = this.#options
    const sentAt = clock.monotonic()
    let status = 'unknown'
    let ended: Omit<ApiAnswer, 'sentAt'> | Error | undefined
    try {
      const answer = await this.#roundTrip(outgoing, key)
      ended = answer
      status = String(answer.status)
      return { ...answer, sentAt }
    } catch (error) {
      if (error instanceof Error) ended = error
      if (error instanceof ApiError) status = String(error.status ?? error.code)
      throw error
    } finally {
      const seconds = (clock.monotonic() - sentAt) / 1000
      onRequest?.({ collection: outgoing.collection, method: outgoing.method, status, seconds })
      const report = writeReport(outgoing, ended, seconds)
      if (report !== undefined) onWrite?.(report)
    }
  }

  async #roundTrip(outgoing: OutgoingRequest, key: string): Promise<Omit<ApiAnswer, 'sentAt'>> {
    const inBody = outgoing.body === undefined ? [] : secretsIn(outgoing.body)
    const call: CallContext = { label: label(outgoing), secrets: [key, ...inBody] }
    const { versionHeader, versionValue, clock, requestTimeoutMs, maxResponseBytes } = this.#options
    const timeout = new AbortController()
    const cancelTimer = clock.setTimer(requestTimeoutMs, () => timeout.abort())
    const caller = outgoing.options.signal
    try {
      const signals = caller === undefined ? [timeout.signal] : [timeout.signal, caller]
      const headers = { authorization: `Bearer ${key}`, [versionHeader.toLowerCase()]: versionValue }
      const { method, url, body } = outgoing
      const request = { method, path: `${url.pathname}${url.search}`, body }
      const options = { ...this.#options, origin: url.origin, headers, signals, maxBytes: maxResponseBytes }
      return this.#judge(call, await exchange(request, options), outgoing.mayBeAbsent ?? false)
    } catch (error) {
      if (error instanceof ApiError) throw error
      if (error instanceof TooLarge) throw invalid(call.label, `the answer is larger than ${maxResponseBytes} bytes`)
      if (timeout.signal.aborted) {
        throw new ApiError('Timeout', `${call.label}: no complete answer in ${requestTimeoutMs / 1000} s`, {
          definite: false,
          cause: error,
        })
      }
      if (caller?.aborted) throw aborted(call.label, false, error)
      // A client that was closed meanwhile refuses before it sends anything.
      if (error instanceof errors.ClientClosedError) throw aborted(call.label, true, error)
      throw networkError(call, error)
    } finally {
      cancelTimer()
    }
  }

  #judge(call: CallContext, answer: HttpAnswer, mayBeAbsent: boolean): Omit<ApiAnswer, 'sentAt'> {
    const { status } = answer
    const { value: body, problem, text, ...size } = readBody(answer.body)
    const operationId = operationIdFor(call, header(answer, 'operation-id'))
    if (status >= 200 && status < 300) {
      if (problem !== undefined) throw invalid(call.label, `the API answered ${status} with a body that is ${problem}`)
      return { status, body, operationId, size }
    }
    if (mayBeAbsent && saysAbsent(status)) return { status, body, operationId, size }
    throw answerError(call, {
      status,
      body,
      ...(isPlainText(answer) ? { sentence: text } : {}),
      operationId,
      retryAfterMs: parseRetryAfter(header(answer, 'retry-after'), this.#options.clock.now()),
    })
  }

  /** Keys come from files and Secrets, often with a line break at the end. */
  #key(outgoing: OutgoingRequest): string {
    const key = this.#options.apiKey().trim()
    if (/^[\x21-\x7e]+$/.test(key)) return key
    throw new ApiError(
      'Unauthorized',
      `${label(outgoing)}: the API key is ${key === '' ? 'empty' : 'not one word of ASCII characters'}`,
      { definite: true },
    )
  }
}

/**
 * How long to wait before a failed call is retried; undefined when it is not. The budget keeps the pause after a 429.
 */
function retryWait(error: unknown, method: Method, attempt: number): number | undefined {
  if (method !== 'GET' || attempt >= GET_ATTEMPTS || !(error instanceof ApiError)) return undefined
  const asked = error.retryAfterMs ?? 0
  // 501 is an answer, unlike other 5xx: the server does not have what was asked for.
  if (asked > LONGEST_RETRY_WAIT_MS || error.status === 501) return undefined
  switch (error.code) {
    case 'RateLimited':
      return 0
    case 'ServerError':
    case 'Network':
    case 'Timeout':
      return Math.max(RETRY_BASE_MS * 2 ** (attempt - 1), asked)
    default:
      return undefined
  }
}

/** What a failed call says of the API; undefined if the request was not sent, or not waited for. */
function endingOf(error: unknown): Ending | undefined {
  if (!(error instanceof ApiError)) return undefined
  switch (error.code) {
    case 'RateLimited':
      return 'refused'
    case 'ServerError':
      return error.status === 501 ? 'answered' : 'failed'
    case 'Network':
    case 'Timeout':
      return 'failed'
    default:
      return error.status === undefined ? undefined : 'answered'
  }
}

/** Lists take longer than single objects, and writes longer than reads. */
function sortOf({ method, collection, id }: OutgoingRequest): string {
  return `${method} ${collection}${id === undefined ? '' : '/…'}`
}

function header({ headers }: HttpAnswer, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

function label(outgoing: OutgoingRequest): string {
  return `${outgoing.method} ${outgoing.collection}`
}

function aborted(call: string, definite: boolean, cause: unknown): ApiError {
  return new ApiError('Aborted', `${call}: cancelled by the caller`, { definite, cause })
}

/** HTML and the like would not be read by people. */
function isPlainText(answer: HttpAnswer): boolean {
  return /^text\/plain\b/i.test(header(answer, 'content-type') ?? '')
}
