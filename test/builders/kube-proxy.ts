import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stringify } from 'yaml'
import { type ConnectionMaterial, loadKubeConnection } from '../../src/kube/load-config.ts'
import { OpenWatch } from './open-watch.ts'

/** A request to the apiserver on its way. */
export interface PassingRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: string
}

/**
 * What happens to a request.
 * - `hold`: it waits until released, `before` it is forwarded or `after` the apiserver has answered. If its caller
 *   disconnects while it waits `before`, it is never forwarded.
 * - `drop`: the connection is reset, without forwarding the request, or once the apiserver has answered.
 * - `answer`: this Status is answered, without forwarding, or `after` the apiserver has carried the request out.
 */
export type ProxyAct = { readonly type: 'hold' | 'drop'; readonly when: 'before' | 'after' } | StatusAnswer

/** A Status as from an apiserver. */
export interface StatusAnswer {
  readonly type: 'answer'
  readonly when?: 'after'
  readonly status: number
  readonly reason: string
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Seconds. */
  readonly retryAfter?: number
}

/** An active decision. */
export interface Interception {
  /** The requests affected so far; one dropped or held `after` is included once the apiserver has answered. */
  readonly requests: readonly PassingRequest[]
  /** Those of them that are held and whose callers are still connected. */
  readonly waiting: readonly PassingRequest[]
  /** Resolves once there are that many. */
  hits(count: number): Promise<void>
  /** Ends it: held requests continue, and further ones pass. */
  remove(): void
}

/** Chooses what happens to a request; undefined lets it pass. */
export type Decision = (request: PassingRequest) => ProxyAct | undefined

interface Rule extends Interception {
  readonly decide: Decision
  hit(request: PassingRequest): void
  /** Resolves when the rule is removed. */
  hold(request: PassingRequest, response: ServerResponse): Promise<void>
}

interface Meeting {
  readonly rule: Rule
  readonly act: ProxyAct
}

/**
 * A plain HTTP proxy in front of an apiserver. It forwards the caller's credentials, or an administrator's for a caller
 * without a token. Everything passes, including streaming watches, except what a test holds, drops or answers.
 *
 * @example
 * await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
 * await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath] })
 * const held = proxy.intercept(({ method }) => (method === 'PATCH' ? { type: 'hold', when: 'before' } : undefined))
 * await held.hits(1)
 */
export class KubeProxy implements AsyncDisposable {
  /** For clients of the proxy. */
  readonly kubeconfigPath: string
  /** Called with each answer of the server behind it, except streams. */
  onAnswer: (request: PassingRequest, status: number, body: string) => void = () => undefined
  /** What callers get instead of an answer, except of streams. */
  rewrite: (request: PassingRequest, body: string) => string = (_request, body) => body
  /** Called for each watch that opens, before any frame passes. */
  onWatch: (watch: OpenWatch) => void = () => undefined
  readonly #folder: string
  readonly #upstream: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent
  readonly #server: Server
  readonly #rules = new Set<Rule>()
  readonly #watches = new Set<OpenWatch>()
  readonly #statuses = new WeakMap<PassingRequest, number>()
  readonly #abandoned = new WeakSet<PassingRequest>()

  private constructor(folder: string, upstream: string, { headers, tls }: ConnectionMaterial) {
    this.#folder = folder
    this.kubeconfigPath = join(folder, 'kubeconfig')
    this.#upstream = new URL(upstream)
    this.#headers = headers
    this.#agent = new Agent({ keepAlive: true, ...tls })
    this.#server = createServer((request, response) => {
      // A disconnected caller sees a reset; there is nobody else to notify.
      this.#serve(request, response).catch(() => response.destroy())
    })
    // A connection closed for idleness might meet a request in flight.
    this.#server.keepAliveTimeout = 0
  }

  static async start(kubeconfig: string): Promise<KubeProxy> {
    const connection = loadKubeConnection({ kubeconfig })
    return KubeProxy.#open(connection.server, await connection.material())
  }

  /** In front of another plain HTTP server, such as an emulator of the API: callers use their own credentials. */
  static inFrontOf(url: string): Promise<KubeProxy> {
    return KubeProxy.#open(url, { headers: {}, tls: {} })
  }

  static async #open(upstream: string, material: ConnectionMaterial): Promise<KubeProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-proxy-'))
    const proxy = new KubeProxy(folder, upstream, material)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    await writeFile(proxy.kubeconfigPath, kubeconfigOf(proxy.url))
    return proxy
  }

  /** Its address. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  /** Applies to each request from now on, until removed. Of several, the first that affects a request wins. */
  intercept(decide: Decision): Interception {
    const requests: PassingRequest[] = []
    const removal = Promise.withResolvers<void>()
    const waiting = new Set<() => void>()
    const held = new Map<PassingRequest, ServerResponse>()
    const rule: Rule = {
      decide,
      requests,
      get waiting() {
        return [...held].filter(([, response]) => !isClosed(response)).map(([request]) => request)
      },
      hit: (request) => {
        requests.push(request)
        for (const look of waiting) look()
      },
      hold: (request, response) => {
        held.set(request, response)
        return removal.promise
      },
      hits: (count) =>
        new Promise((resolve) => {
          const look = (): void => {
            if (requests.length < count) return
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
          look()
        }),
      remove: () => {
        this.#rules.delete(rule)
        held.clear()
        removal.resolve()
      },
    }
    this.#rules.add(rule)
    return rule
  }

  /** The watches currently open. */
  watches(): readonly OpenWatch[] {
    return [...this.#watches]
  }

  /** HTTP status of the server's answer, whether or not it was forwarded; undefined before. */
  statusOf(request: PassingRequest): number | undefined {
    return this.#statuses.get(request)
  }

  /** Whether the caller disconnected before the server answered: the outcome of the request will never pass here. */
  isAbandoned(request: PassingRequest): boolean {
    return this.#abandoned.has(request)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rule of [...this.#rules]) rule.remove()
    this.#server.closeAllConnections()
    this.#server.close()
    this.#agent.destroy()
    await rm(this.#folder, { recursive: true })
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { request, body } = await read(incoming)
    const meeting = this.#meet(request)
    if (meeting !== undefined && !(await actAt('before', meeting, request, response))) return
    response.once('close', () => {
      if (!this.#statuses.has(request)) this.#abandoned.add(request)
    })
    const upstream = await this.#forward(incoming, response, body)
    if (isWatch(request) && upstream.statusCode === 200) return this.#stream(request, upstream, response)
    const content = await buffer(upstream)
    this.#statuses.set(request, upstream.statusCode ?? 502)
    this.onAnswer(request, upstream.statusCode ?? 0, content.toString())
    if (meeting !== undefined && !(await actAt('after', meeting, request, response))) return
    const { 'content-length': _length, ...headers } = endToEnd(upstream.headers)
    response.writeHead(upstream.statusCode ?? 502, headers)
    response.end(headers['content-encoding'] === undefined ? this.rewrite(request, content.toString()) : content)
  }

  #meet(request: PassingRequest): Meeting | undefined {
    for (const rule of this.#rules) {
      const act = rule.decide(request)
      if (act !== undefined) return { rule, act }
    }
    return undefined
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse, body: Buffer): Promise<IncomingMessage> {
    const { protocol, hostname, port } = this.#upstream
    const { method, url: path } = incoming
    const headers = { ...this.#headers, ...endToEnd(incoming.headers), 'content-length': body.length }
    const to = { hostname, port, method, path, headers }
    const outgoing =
      protocol === 'http:' ? httpRequest({ ...to, agent: false }) : httpsRequest({ ...to, agent: this.#agent })
    response.once('close', () => outgoing.destroy())
    outgoing.on('error', () => response.destroy())
    outgoing.end(body)
    const [answered] = (await once(outgoing, 'response')) as [IncomingMessage]
    return answered
  }

  async #stream(request: PassingRequest, upstream: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(200, endToEnd(upstream.headers))
    response.flushHeaders()
    const watch = new OpenWatch(request.path, response)
    this.#watches.add(watch)
    this.onWatch(watch)
    try {
      for await (const chunk of upstream as AsyncIterable<Buffer>) watch.take(chunk)
      watch.end()
    } finally {
      this.#watches.delete(watch)
    }
  }
}

/** Applies the act at this point of the request. Returns whether the request continues. */
async function actAt(
  point: 'before' | 'after',
  { rule, act }: Meeting,
  request: PassingRequest,
  response: ServerResponse,
): Promise<boolean> {
  if ((act.when ?? 'before') !== point) return true
  rule.hit(request)
  switch (act.type) {
    case 'answer':
      answer(response, act)
      return false
    case 'drop':
      response.destroy()
      return false
    case 'hold':
      await rule.hold(request, response)
      return point === 'after' || !(await hasGone(response))
  }
}

/** Whether the request opens a watch. */
export function isWatch({ query }: PassingRequest): boolean {
  return query.get('watch') !== null
}

/**
 * Whether the client has closed its connection. The event loop turns first, so that a close that has just arrived is
 * noticed.
 */
async function hasGone(response: ServerResponse): Promise<boolean> {
  await nextTurn()
  await nextTurn()
  return isClosed(response)
}

function isClosed(response: ServerResponse): boolean {
  return response.destroyed || response.closed
}

async function read(incoming: IncomingMessage): Promise<{ request: PassingRequest; body: Buffer }> {
  const body = await buffer(incoming)
  const { pathname: path, searchParams: query } = new URL(incoming.url ?? '', 'http://proxy')
  return { request: { method: incoming.method ?? '', path, query, body: body.toString() }, body }
}

function answer(response: ServerResponse, { status, reason, message, details, retryAfter }: StatusAnswer): void {
  const wait = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  response.writeHead(status, { 'content-type': 'application/json', ...wait })
  const words = { reason, message, details }
  response.end(JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code: status, ...words }))
}

/** Headers without the hop-by-hop ones. */
function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection, host, 'keep-alive': keepAlive, 'transfer-encoding': encoding, ...rest } = headers
  return rest
}

function kubeconfigOf(server: string): string {
  const name = 'proxy'
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
}
