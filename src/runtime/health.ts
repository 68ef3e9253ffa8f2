import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from '@prometheus-io/client'
import type { Logger } from '../util/logger.ts'

/** Path of the metrics, and the non-resource URL that their readers must be allowed to `get`. */
export const METRICS_PATH = '/metrics'

/**
 * Result for a request for metrics: `unauthenticated` without a token that the cluster knows, `forbidden` without the
 * right, `unknown` when the API server could not be asked, or too many requests are waiting.
 */
export type AccessDecision = 'allowed' | 'unauthenticated' | 'forbidden' | 'unknown'

/** One health check. `isWell` answers from memory: probes are frequent and must not wait. */
interface HealthCheck {
  readonly name: string
  readonly isWell: () => boolean
}

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** If one fails, the process cannot recover and should be restarted. */
  readonly liveness: readonly HealthCheck[]
  /** If one fails, the process does not do its work, or not yet. */
  readonly readiness: readonly HealthCheck[]
  readonly registry: Registry
  /**
   * Decides who may read metrics. Undefined: everybody who can connect. Health is always public: probes send no token.
   */
  readonly metricsAccess?: { of(authorization: string | undefined): Promise<AccessDecision> } | undefined
  readonly logger: Logger
}

/** Serves `/healthz`, `/readyz` and `/metrics`. Names the checks that fail, and nothing else. */
export class HealthServer {
  readonly #options: HealthServerOptions
  readonly #server: Server

  constructor(options: HealthServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        options.logger.error({ err: error, path: request.url }, 'could not answer a request')
        if (response.headersSent) response.destroy()
        else send(response, 500, 'internal error\n')
      })
    })
  }

  /** Starts to listen and resolves to the port. Rejects when the address is in use or not one of this machine's. */
  async listen(): Promise<number> {
    this.#server.listen(this.#options.port, this.#options.host)
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Stops listening and closes idle connections; resolves when the last response was sent. */
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
    const { liveness, readiness } = this.#options
    switch (request.url?.split('?', 1)[0]) {
      case '/healthz':
        sendChecks(response, liveness)
        break
      case '/readyz':
        sendChecks(response, readiness)
        break
      case METRICS_PATH:
        await this.#answerMetrics(request, response)
        break
      default:
        send(response, 404, 'not found\n')
    }
  }

  async #answerMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { registry, metricsAccess } = this.#options
    const access = (await metricsAccess?.of(request.headers.authorization)) ?? 'allowed'
    if (access === 'allowed') send(response, 200, await registry.metrics(), registry.contentType)
    else refuse(response, access)
  }
}

const REFUSALS: Readonly<Record<Exclude<AccessDecision, 'allowed'>, readonly [status: number, text: string]>> = {
  unauthenticated: [401, 'metrics need a bearer token that the cluster knows\n'],
  forbidden: [403, 'the owner of this token may not get the non-resource URL /metrics\n'],
  unknown: [503, 'cannot check now whether this token may read metrics\n'],
}

function refuse(response: ServerResponse, access: Exclude<AccessDecision, 'allowed'>): void {
  const [status, text] = REFUSALS[access]
  if (access === 'unauthenticated') response.setHeader('www-authenticate', 'Bearer')
  send(response, status, text)
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
