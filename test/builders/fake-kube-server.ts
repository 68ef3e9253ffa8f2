import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConnectionMaterial, KubeConnection } from '../../src/kube/load-config.ts'

/** One request as the server saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export type KubeHandler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>

/** An HTTP server instead of the API server: it answers as a test specifies, over real sockets. */
export interface FakeKubeServer extends AsyncDisposable {
  readonly url: string
  readonly requests: SeenRequest[]
  /** Sets the handler of all further requests. */
  handle(handler: KubeHandler): void
  readonly connection: KubeConnection
  /** TCP connections accepted so far. */
  readonly accepted: number
}

export async function startFakeKubeServer(handler?: KubeHandler): Promise<FakeKubeServer> {
  let current: KubeHandler = handler ?? ((_request, response) => sendStatus(response, 404, 'NotFound', 'no handler'))
  let accepted = 0
  const requests: SeenRequest[] = []
  const server = createServer((request, response) => {
    void readRequest(request).then((seen) => {
      requests.push(seen)
      return current(seen, response)
    })
  })
  server.on('connection', () => accepted++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    requests,
    connection: staticConnection(url),
    get accepted() {
      return accepted
    },
    handle(next) {
      current = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A connection with a constant bearer token. */
function staticConnection(server: string, token = 'fake-token'): KubeConnection {
  const material: ConnectionMaterial = { headers: { authorization: `Bearer ${token}` }, tls: {} }
  return {
    server,
    proxyUrl: undefined,
    namespace: undefined,
    material: () => Promise.resolve(material),
    reload: () => undefined,
  }
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const url = new URL(request.url ?? '/', 'http://server')
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Answers with a Status object, like the API server's failures. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  options: { readonly details?: unknown; readonly headers?: Record<string, string> } = {},
): void {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details: options.details }
  sendJson(response, code, body, options.headers)
}

export function sendList(
  response: ServerResponse,
  resourceVersion: string,
  items: readonly unknown[],
  next?: string,
): void {
  const metadata = { resourceVersion, ...(next === undefined ? {} : { continue: next }) }
  sendJson(response, 200, { apiVersion: 'v1', kind: 'List', metadata, items })
}

/** Opens the response of a watch; frames are written with `sendFrame`. */
export function openWatch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
}

export function sendFrame(
  response: ServerResponse,
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR',
  object: unknown,
): void {
  response.write(`${JSON.stringify({ type, object })}\n`)
}
