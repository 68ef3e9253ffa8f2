import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent } from 'undici'

/** Proxies as the environment names them; read in `src/config.ts`, not here. */
export interface ProxyOptions {
  /** URL of the proxy for http URLs (`HTTP_PROXY`). */
  readonly httpProxy?: string | undefined
  /** URL of the proxy for https URLs (`HTTPS_PROXY`). */
  readonly httpsProxy?: string | undefined
  /** Hosts reached without a proxy (`NO_PROXY`), comma-separated. */
  readonly noProxy?: string | undefined
}

export interface DispatcherOptions {
  /** PEM of the only authorities that are trusted; default: those Node ships with, and those of `NODE_EXTRA_CA_CERTS`. */
  readonly caBundle?: string | undefined
  readonly proxies?: ProxyOptions | undefined
  readonly connectTimeoutMs: number
}

/** Opens what a client sends its requests through. */
export type OpenDispatcher = (options: DispatcherOptions) => Dispatcher

/** The connection was not established, so nothing of a request was sent. */
export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed'
  readonly code = 'CULVERT_CONNECT_FAILED'

  constructor(cause: Error) {
    super('the connection was not established', { cause })
  }
}

/**
 * Connections to one API: HTTP/1.1, kept alive, redirects off (undici follows none unless told to). The connector is
 * wrapped, since only there a failure is known to have come before the first byte of a request.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const tls = options.caBundle === undefined ? {} : { ca: options.caBundle }
  const establish = buildConnector({ ...tls, allowH2: false, timeout: options.connectTimeoutMs })
  const connect: buildConnector.connector = (target, callback) =>
    establish(target, (error, socket) => {
      if (error !== null) callback(new ConnectFailed(error), null)
      else callback(null, socket)
    })
  const shared = { connect, allowH2: false, connectTimeout: options.connectTimeoutMs }
  const { httpProxy, httpsProxy, noProxy } = options.proxies ?? {}
  if (!httpProxy && !httpsProxy) return new Agent(shared)
  return new EnvHttpProxyAgent({
    ...shared,
    requestTls: { ...tls },
    // An empty string, unlike undefined, keeps the agent from reading the environment.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? httpProxy ?? '',
    noProxy: noProxy ?? '',
  })
}
