import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer {
  readonly url: string
  readonly requests: SeenRequest[]
  close(): Promise<void>
}

export type Handler = (request: SeenRequest, response: ServerResponse) => void

/** A real HTTP server on a free loopback port that records requests and answers them with `handler`. */
export async function startServer(handler: Handler): Promise<TestServer> {
  const requests: SeenRequest[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming
      const seen = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
      requests.push(seen)
      handler(seen, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** An error body as in `api-decisions.md § Errors`. */
export function apiError(
  response: ServerResponse,
  status: number,
  msg: string,
  headers: Record<string, string> = {},
): void {
  const body = { error_code: 'ERR_1', status_code: status, msg, details: { operation_id: 'op_1' } }
  json(response, status, body, { 'operation-id': 'op_1', ...headers })
}
