import type { IncomingHttpHeaders } from 'node:http'
import type { Tracer } from '@opentelemetry/api'
import type { Dispatcher } from 'undici'
import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'

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
}

/** A whole answer. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** An answer whose body is still to come. */
export interface OpenAnswer extends Omit<HttpAnswer, 'body'> {
  readonly body: AsyncIterable<Uint8Array>
}

/** The body of an answer is longer than the caller allows. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/**
 * Sends one request and reads its whole answer, of at most `maxBytes`; what is announced as longer is not read at all.
 * `beforeWrite` is called once a write's connection is open. Only `signals` limit how long it takes.
 *
 * undici's own `request` makes a stream and an asynchronous resource for each answer, which most answers are too small
 * for.
 *
 * @throws what the dispatcher, `beforeWrite` or an aborted signal gives; TooLarge
 */
export function exchange(
  request: HttpRequest,
  options: SendOptions & { readonly signals: readonly AbortSignal[]; readonly maxBytes?: number | undefined },
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { dispatcher, signals, maxBytes = Number.POSITIVE_INFINITY } = options
    const aborted = signals.find((signal) => signal.aborted)
    if (aborted !== undefined) {
      reject(aborted.reason)
      return
    }
    dispatcher.dispatch(
      dispatched(request, options),
      new WholeAnswer({ resolve, reject, signals, maxBytes, check: checkOf(request, options) }),
    )
  })
}

/**
 * Sends a GET; resolves when the headers of its answer have arrived. `signal` ends its body too.
 */
export async function open(
  request: HttpRequest,
  { signal, ...options }: SendOptions & { readonly signal: AbortSignal },
): Promise<OpenAnswer> {
  const { statusCode, headers, body } = await options.dispatcher.request({ ...dispatched(request, options), signal })
  return { status: statusCode, headers, body }
}

function dispatched(
  { method, path, accept = JSON_TYPE, contentType = JSON_TYPE, body }: HttpRequest,
  { origin, headers, userAgent }: SendOptions,
): Dispatcher.DispatchOptions {
  const common = { ...headers, accept, 'user-agent': userAgent }
  return {
    origin,
    path,
    method,
    headers: body === undefined ? common : { ...common, 'content-type': contentType },
    body: body === undefined ? null : JSON.stringify(body),
    // undici's own time-outs would cut idle watches.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
}

/**
 * Called once a write's connection is open, just before its first byte is written: opening a connection can take any
 * time, and a machine may sleep meanwhile. A request that it throws for is not sent and fails with what it threw.
 */
function checkOf({ method }: HttpRequest, { beforeWrite }: SendOptions): (() => void) | undefined {
  return method === 'GET' ? undefined : beforeWrite
}

interface WholeAnswerOptions {
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (error: unknown) => void
  readonly signals: readonly AbortSignal[]
  readonly maxBytes: number
  readonly check: (() => void) | undefined
}

/** Collects an answer as undici delivers it. */
class WholeAnswer implements Dispatcher.DispatchHandler {
  readonly #options: WholeAnswerOptions
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #bytes = 0
  #failure: { readonly reason: unknown } | undefined

  constructor(options: WholeAnswerOptions) {
    this.#options = options
    for (const signal of options.signals) signal.addEventListener('abort', this)
  }

  /** Of the signals: one was aborted. */
  handleEvent({ target }: Event): void {
    this.#fail((target as AbortSignal).reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It was given up while it waited for a connection.
    if (this.#failure !== undefined) controller.abort(asError(this.#failure.reason))
    else this.#options.check?.()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (Number(headers['content-length'] ?? 0) > this.#options.maxBytes) this.#fail(new TooLarge())
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.maxBytes) this.#fail(new TooLarge())
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#end()
    const [only] = this.#chunks
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks)
    this.#options.resolve({ status: this.#status, headers: this.#headers, body })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end()
    this.#options.reject(this.#failure === undefined ? error : this.#failure.reason)
  }

  /** Gives the request up, and ends its connection if it has one. */
  #fail(reason: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = { reason }
    this.#end()
    this.#options.reject(reason)
    this.#controller?.abort(asError(reason))
  }

  #end(): void {
    for (const signal of this.#options.signals) signal.removeEventListener('abort', this)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/** What every client is made with. */
export interface HttpClientOptions {
  readonly clock: Clock
  readonly random: Random
  readonly userAgent: string
  /**
   * Called before a write's connection is opened, and again before its first byte is sent: throws an error `NotLeader`
   * when this process may not write.
   */
  readonly beforeWrite?: (() => void) | undefined
  /** Makes a span of each request that belongs to a reconcile. Default: no spans. */
  readonly tracer?: Tracer | undefined
}
