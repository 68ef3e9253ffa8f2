import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from '@prometheus-io/client'
import type { Logger } from '../util/logger.ts'

/** One thing that must be well. `isWell` answers from memory: probes come often and must not wait. */
interface HealthCheck {
  readonly name: string
  readonly isWell: () => boolean
}

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Fails: the process is beyond help and should be restarted. */
  readonly liveness: readonly HealthCheck[]
  /** Fails: the process does not do its work (yet). */
  readonly readiness: readonly HealthCheck[]
  readonly registry: Registry
  readonly logger: Logger
}

/** Answers `/healthz`, `/readyz` and `/metrics`. Names the checks that fail, and nothing else. */
export class HealthServer {
  readonly #options: HealthServerOptions
  readonly #server: Server

  constructor(options: HealthServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        options.logger.error({ err: error, path: request.url }, 'could not answer')
        if (response.headersSent) response.destroy()
        else send(response, 500, 'internal error\n')
      })
    })
  }

  /** Starts to listen; resolves to the port. Rejects when the address is taken or not ours. */
  async listen(): Promise<number> {
    this.#server.listen(this.#options.port, this.#options.host)
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Stops listening and cuts idle connections; resolves when the last answer was sent. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      send(response, 405, 'method not allowed\n')
      return
    }
    const { liveness, readiness, registry } = this.#options
    switch (request.url?.split('?', 1)[0]) {
      case '/healthz':
        sendChecks(response, liveness)
        break
      case '/readyz':
        sendChecks(response, readiness)
        break
      case '/metrics':
        send(response, 200, await registry.metrics(), registry.contentType)
        break
      default:
        send(response, 404, 'not found\n')
    }
  }
}

function sendChecks(response: ServerResponse, checks: readonly HealthCheck[]): void {
  const failing = checks.filter(({ isWell }) => !isWell()).map(({ name }) => name)
  if (failing.length === 0) send(response, 200, 'ok\n')
  else send(response, 503, `failing: ${failing.join(', ')}\n`)
}

function send(response: ServerResponse, status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
