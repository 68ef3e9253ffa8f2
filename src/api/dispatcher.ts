import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici'

export interface DispatcherOptions {
  /**
   * PEM of the only authorities that are trusted. Default: those that Node ships with and those of
   * `NODE_EXTRA_CA_CERTS`.
   */
  readonly caBundle?: string | undefined
  /** URL of the proxy through which the API is reached. Default: none. */
  readonly proxy?: string | undefined
  readonly connectTimeoutMs: number
}

/** Opens the dispatcher through which a client sends its requests. */
export type OpenDispatcher = (options: DispatcherOptions) => Dispatcher

/** The connection was not established, so no part of a request was sent. */
export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed'
  readonly code = 'CULVERT_CONNECT_FAILED'

  constructor(cause: Error) {
    super('the connection was not established', { cause })
  }
}

/**
 * Connections to one API: HTTP/1.1, kept alive, without redirects (undici follows none by default). The connector is
 * wrapped because only there is a failure known to precede the first byte of a request.
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
  if (options.proxy === undefined) return new Agent(shared)
  return new ProxyAgent({ ...shared, requestTls: { ...tls }, uri: options.proxy })
}
