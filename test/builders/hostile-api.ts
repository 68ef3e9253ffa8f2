import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTLSServer, type Server as TLSServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ServerCertificate } from './certificate.ts'

/** A request to a hostile API, its path without the prefix of the account. */
export interface HostileRequest {
  readonly method: string
  /** `/backends/tunnel_group?limit=100` */
  readonly path: string
  /** Number of requests that met a fault before. */
  readonly harmed: number
  /** The authorization header. */
  readonly authorization: string
  /** The real API's answer to the request. */
  readonly honest: () => Promise<HonestAnswer>
}

export interface HonestAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Applies a fault to one request. */
export type Harm = (request: HostileRequest, response: ServerResponse) => void | Promise<void>

export interface FrontOptions {
  /** Base URL of the real API. */
  readonly target: string
  /** Which requests meet the fault. */
  readonly affects: (request: { readonly method: string; readonly path: string }) => boolean
  readonly harm: Harm
}

/** One account's view of the hostile API. */
export class Front {
  readonly baseURL: string
  readonly options: FrontOptions
  /** Arrival time of each request, on the clock of `performance`. */
  readonly requestTimes: number[] = []
  /** Number of requests that met the fault. */
  harmed = 0
  /** Whether faults are enabled. */
  hostile: boolean

  constructor(baseURL: string, options: FrontOptions) {
    this.baseURL = baseURL
    this.options = options
    this.hostile = true
  }

  /** The highest number of requests within one minute. */
  get busiestMinute(): number {
    return this.requestTimes.reduce((most, start) => {
      const within = this.requestTimes.filter((time) => time >= start && time < start + 60_000)
      return Math.max(most, within.length)
    }, 0)
  }
}

/** A server in front of real APIs, one below each path prefix, that forwards requests or applies faults. */
export class HostileAPI implements AsyncDisposable {
  readonly host: string
  readonly #server: Server | TLSServer
  readonly #fronts = new Map<string, Front>()

  private constructor(server: Server | TLSServer) {
    this.#server = server
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** With a certificate it speaks TLS. */
  static async start(certificate?: ServerCertificate): Promise<HostileAPI> {
    let listen = (_: IncomingMessage, response: ServerResponse): Promise<void> => {
      response.destroy()
      return Promise.resolve()
    }
    const listener: RequestListener = (incoming, response) => {
      // A deliberate fault may end in any way.
      void listen(incoming, response).catch(() => response.destroy())
    }
    const server = certificate === undefined ? createServer(listener) : createTLSServer({ ...certificate }, listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const api = new HostileAPI(server)
    listen = (incoming, response) => api.#serve(incoming, response)
    return api
  }

  /** Adds a path prefix. */
  front(name: string, options: FrontOptions): Front {
    const scheme = 'setSecureContext' in this.#server ? 'https' : 'http'
    const front = new Front(`${scheme}://${this.host}/${name}`, options)
    this.#fronts.set(name, front)
    return front
  }

  /** Presents another certificate from the next connection on. */
  show(certificate: ServerCertificate): void {
    if (!('setSecureContext' in this.#server)) throw new Error('the server speaks no TLS')
    this.#server.setSecureContext({ ...certificate })
    this.#server.closeAllConnections()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined)
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const [, name = '', path = '/'] = /^\/([^/?]+)(.*)$/.exec(url) ?? []
    const front = this.#fronts.get(name)
    if (front === undefined) {
      response.writeHead(404).end()
      return
    }
    front.requestTimes.push(performance.now())
    const honest = (): Promise<HonestAnswer> => pass(front, { method, path, headers }, Buffer.concat(chunks))
    if (front.hostile && front.options.affects({ method, path })) {
      const { authorization = '' } = headers
      await front.options.harm({ method, path, harmed: front.harmed++, authorization, honest }, response)
      return
    }
    const { status, headers: own, body } = await honest()
    response.writeHead(status, own).end(body)
  }
}

async function pass(
  front: Front,
  { method, path, headers }: { method: string; path: string; headers: IncomingMessage['headers'] },
  body: Buffer,
): Promise<HonestAnswer> {
  const kept = ['authorization', 'content-type', 'service-version'].flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const answer = await fetch(`${front.options.target}${path}`, {
    method,
    headers: kept,
    body: body.length === 0 ? null : body.toString(),
  })
  const own = ['content-type', 'operation-id', 'retry-after'].flatMap((name): [string, string][] => {
    const value = answer.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return { status: answer.status, headers: Object.fromEntries(own), body: await answer.text() }
}
