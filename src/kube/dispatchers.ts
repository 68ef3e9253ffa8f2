import { type ConnectionOptions, createSecureContext, TLSSocket } from 'node:tls'
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici'
import type { ConnectionMaterial, KubeConnection, TlsMaterial } from './load-config.ts'

/** How long credentials are used before their files are read again. Bound tokens rotate minutes before they expire. */
const REFRESH_MS = 30_000
/** Keeps load balancers and NAT from dropping idle watches, and detects a peer that is gone. */
const KEEP_ALIVE_DELAY_MS = 30_000
const CONNECT_TIMEOUT_MS = 5_000

/** What one request is sent with. */
export interface Channel {
  readonly dispatcher: Dispatcher
  readonly headers: Readonly<Record<string, string>>
}

interface Connections {
  /** With which they were last used. */
  readonly material: ConnectionMaterial
  readonly fingerprint: string
  readonly calls: Dispatcher
  readonly watches: Dispatcher
}

/**
 * Connections to one API server: one pool for calls and one for watches, so that open watches never delay a call. New
 * TLS material means new pools; the old ones close after their last request.
 */
export class Dispatchers {
  readonly #connection: KubeConnection
  readonly #monotonic: () => number
  #material: ConnectionMaterial | undefined
  #loading: { readonly material: Promise<ConnectionMaterial>; readonly since: number } | undefined
  #loadedAt = 0
  #connections: Connections | undefined
  #closed: boolean = false

  constructor(connection: KubeConnection, monotonic: () => number) {
    this.#connection = connection
    this.#monotonic = monotonic
  }

  /** The channel for a call or a watch, with credentials no older than half a minute. */
  async channel(purpose: 'calls' | 'watches'): Promise<Channel> {
    const material = await this.#current()
    const connections = this.#connectionsFor(material)
    return { dispatcher: connections[purpose], headers: material.headers }
  }

  /** The channel for a call or a watch if it is open already, and its credentials are fresh. */
  ready(purpose: 'calls' | 'watches'): Channel | undefined {
    const material = this.#fresh()
    if (material === undefined || this.#connections?.material !== material) return undefined
    return { dispatcher: this.#connections[purpose], headers: material.headers }
  }

  /** The server refused the credentials: fetch them again for the next request. */
  forgetCredentials(): void {
    this.#material = undefined
    this.#loading = undefined
    this.#connection.reload()
  }

  /** Closes all connections and aborts open requests. */
  async close(): Promise<void> {
    this.#closed = true
    const connections = this.#connections
    this.#connections = undefined
    if (connections === undefined) return
    await Promise.all([connections.calls.destroy(), connections.watches.destroy()])
  }

  #fresh(): ConnectionMaterial | undefined {
    return this.#monotonic() - this.#loadedAt < REFRESH_MS ? this.#material : undefined
  }

  async #current(): Promise<ConnectionMaterial> {
    const fresh = this.#fresh()
    if (fresh !== undefined) return fresh
    const now = this.#monotonic()
    // A credential plugin that hangs is abandoned, so that it cannot block all calls forever.
    if (this.#loading === undefined || now - this.#loading.since >= REFRESH_MS) {
      this.#loading = { material: this.#connection.material(), since: now }
    }
    const loading = this.#loading
    try {
      const material = await loading.material
      if (this.#loading === loading) {
        this.#material = material
        this.#loadedAt = loading.since
      }
      return material
    } finally {
      if (this.#loading === loading) this.#loading = undefined
    }
  }

  #connectionsFor(material: ConnectionMaterial): Connections {
    if (this.#closed) throw new Error('the client is closed')
    const { tls } = material
    const fingerprint = JSON.stringify(tls)
    if (this.#connections?.fingerprint === fingerprint) {
      this.#connections = { ...this.#connections, material }
      return this.#connections
    }
    const [calls, watches] = this.#open(tls)
    if (this.#connections !== undefined) retire(this.#connections)
    this.#connections = { material, fingerprint, calls, watches }
    return this.#connections
  }

  #open(tls: TlsMaterial): readonly [calls: Dispatcher, watches: Dispatcher] {
    const { openDispatcher, proxyUrl } = this.#connection
    if (openDispatcher !== undefined) return [openDispatcher(tls), openDispatcher(tls)]
    const connect = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS, timeout: CONNECT_TIMEOUT_MS }
    // Otherwise, each connection would parse and keep the certificates for itself.
    const shared = { ...tls, secureContext: createSecureContext(tls) }
    if (proxyUrl === undefined) {
      const resuming = connectorThatResumes({ allowH2: false, ...connect, ...shared })
      const options = { allowH2: false, connect: resuming }
      return [new Agent(options), new Agent(options)]
    }
    const open = (): Dispatcher => new ProxyAgent({ uri: proxyUrl, allowH2: false, connect, requestTls: shared })
    return [open(), open()]
  }
}

/**
 * Resumes the newest TLS session in each new connection. A start opens one for each kind that is watched, and a full
 * handshake costs both sides more than the first request. undici keeps sessions only as long as a pool has
 * connections, and lets V8 collect them even then.
 */
function connectorThatResumes(options: buildConnector.BuildOptions & ConnectionOptions): buildConnector.connector {
  let establish = buildConnector(options)
  return (target, callback) =>
    establish(target, (...result) => {
      const [error, socket] = result
      // The session may be what the server, or a proxy before it, fails on.
      if (error !== null) establish = buildConnector(options)
      if (socket instanceof TLSSocket) {
        socket.once('session', (session: Buffer) => {
          establish = buildConnector({ ...options, session })
        })
      }
      callback(...result)
    })
}

function retire(connections: Connections): void {
  // `close` waits for the requests in flight. It only fails on a dispatcher that is already closed.
  for (const dispatcher of [connections.calls, connections.watches]) {
    dispatcher.close().catch(() => dispatcher.destroy())
  }
}
