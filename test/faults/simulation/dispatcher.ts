import { Dispatcher, errors } from 'undici'
import type { ServerName, WireAnswer } from './faults.ts'
import type { Caller, Network } from './network.ts'
import type { SimulatedProcess } from './process.ts'

/** Connections of one process to a server of the simulation, instead of sockets. */
export class SimulatedDispatcher extends Dispatcher {
  readonly #process: SimulatedProcess
  readonly #network: Network
  readonly #server: ServerName
  readonly #open = new Set<Exchange>()
  #isClosed: boolean = false
  #isDestroyed: boolean = false

  constructor(process: SimulatedProcess, network: Network, server: ServerName) {
    super()
    this.#process = process
    this.#network = network
    this.#server = server
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const exchange = new Exchange(handler, () => this.#open.delete(exchange))
    this.#open.add(exchange)
    handler.onRequestStart?.(exchange, {})
    if (this.#isDestroyed) exchange.failed(new errors.ClientDestroyedError())
    else if (this.#isClosed) exchange.failed(new errors.ClientClosedError())
    if (exchange.hasGone) return true
    const { method, path, body } = options
    const query = options.query === undefined ? '' : `?${new URLSearchParams(options.query as Record<string, string>)}`
    const named = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)])
    const headers = { host: new URL(String(options.origin)).host, ...Object.fromEntries(named) }
    const request = { method, path: `${path}${query}`, headers, body: typeof body === 'string' ? body : '' }
    this.#network.send(this.#process, this.#server, request, exchange)
    return true
  }

  /** Requests in flight may finish. */
  override async close(): Promise<void> {
    this.#isClosed = true
  }

  override async destroy(): Promise<void> {
    this.#isDestroyed = true
    for (const exchange of this.#open) exchange.failed(new errors.ClientDestroyedError())
  }
}

/** One request as undici's handlers see it. */
class Exchange implements Caller, Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler
  readonly #onOver: () => void
  #isOver: boolean = false
  #reason: Error | null = null

  constructor(handler: Dispatcher.DispatchHandler, onOver: () => void) {
    this.#handler = handler
    this.#onOver = onOver
  }

  get hasGone(): boolean {
    return this.#isOver
  }

  get aborted(): boolean {
    return this.#reason !== null
  }

  get reason(): Error | null {
    return this.#reason
  }

  get paused(): boolean {
    return false
  }

  get rawHeaders(): null {
    return null
  }

  get rawTrailers(): null {
    return null
  }

  pause(): void {
    // Lines are buffered in the stream: a simulation sends little.
  }

  resume(): void {
    // Nothing was paused.
  }

  abort(reason: Error): void {
    this.#reason = reason
    this.failed(reason)
  }

  answered({ status, headers = {}, body }: WireAnswer, isCut: boolean): void {
    if (this.#isOver) return
    this.#handler.onResponseStart?.(this, status, { ...headers }, '')
    const bytes = Buffer.from(body)
    if (bytes.length > 0) this.#handler.onResponseData?.(this, isCut ? bytes.subarray(0, bytes.length >> 1) : bytes)
    if (isCut) this.failed(new errors.SocketError('other side closed'))
    else this.ended()
  }

  began(): void {
    if (!this.#isOver) this.#handler.onResponseStart?.(this, 200, { 'content-type': 'application/json' }, '')
  }

  line(text: string): void {
    this.part(`${text}\n`)
  }

  part(text: string): void {
    if (!this.#isOver) this.#handler.onResponseData?.(this, Buffer.from(text))
  }

  ended(): void {
    if (this.#isOver) return
    this.#end()
    this.#handler.onResponseEnd?.(this, {})
  }

  failed(error: Error): void {
    if (this.#isOver) return
    this.#end()
    this.#handler.onResponseError?.(this, error)
  }

  #end(): void {
    this.#isOver = true
    this.#onOver()
  }
}
