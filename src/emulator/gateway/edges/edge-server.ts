import { once } from 'node:events'
import { createServer, isIP, type Server, type Socket } from 'node:net'
import { plainAddress } from '../../fields/cidr.ts'
import { isJsonObject, type JsonObject } from '../../values/json.ts'
import { Room } from '../room.ts'
import { EdgeConnection, type EdgeParts } from './edge-connection.ts'
import { type EdgeTable, hostOf, type Protocol } from './edge-table.ts'
import { TcpListeners, type TcpListenersOptions } from './tcp-listeners.ts'

/** Where a hostport can be reached, as the admin surface shows it. */
export interface ListenerView extends JsonObject {
  hostport: string
  protocol: Protocol
  /** Null for a name that an agent binds itself. */
  edge: string | null
  address: string
  port: number
  /** Why it cannot be reached; null if it can. */
  error: string | null
}

const LOOPBACK = '127.0.0.1'
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** The edges' side of the data plane: listens where edges do, and has their connections. */
export class EdgeServer {
  readonly #parts: EdgeParts
  readonly #edges: EdgeTable
  readonly #tcp: TcpListeners
  readonly #tls: Server
  readonly #open = new Set<EdgeConnection>()
  readonly #room: Room
  #tlsAddress: { readonly host: string; readonly port: number } | undefined

  constructor(
    parts: EdgeParts,
    edges: EdgeTable,
    options: Omit<TcpListenersOptions, 'onConnection' | 'clock' | 'most'>,
  ) {
    this.#parts = parts
    this.#edges = edges
    this.#room = new Room({ inAll: parts.limits.connections, each: parts.limits.sourceConnections })
    this.#tcp = new TcpListeners({
      ...options,
      clock: parts.clock,
      most: parts.limits.listeners,
      onConnection: (socket, hostport) => this.#accept(socket, hostport),
    })
    this.#tls = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket, undefined))
  }

  /** Begins to listen for TLS edges. Rejects when it cannot. */
  async listen(at: { readonly host: string; readonly port: number }): Promise<{ host: string; port: number }> {
    this.#tls.listen(at)
    await once(this.#tls, 'listening')
    const address = this.#tls.address()
    this.#tlsAddress = { host: at.host, port: isJsonObject(address) ? Number(address.port) : at.port }
    return this.#tlsAddress
  }

  /**
   * Listens where edges now do, and judges open connections again.
   *
   * @param accounts those in which something has changed; undefined: in any of them
   */
  follow(accounts: ReadonlySet<string> | undefined): void {
    this.#tcp.follow(new Set(this.#ownPorts()))
    for (const connection of this.#open) {
      const { account } = connection
      if (account !== undefined && accounts?.has(account) !== false) connection.check()
    }
  }

  /** Where each hostport can be reached; one that is about to listen is not there yet. */
  listeners(): readonly ListenerView[] {
    const { reader } = this.#parts
    const own = this.#ownPorts().flatMap((hostport): ListenerView[] => {
      const state = this.#tcp.state(hostport)
      const endpoint = reader.endpointAt(hostport)
      if (state === undefined || endpoint === undefined) return []
      return [{ hostport, protocol: endpoint.protocol, edge: endpoint.edge?.id ?? null, ...state }]
    })
    const { host, port } = this.#tlsAddress ?? { host: '', port: 0 }
    const named = this.#named().flatMap((hostport): ListenerView[] => {
      const endpoint = reader.endpointAt(hostport)
      if (endpoint === undefined || this.#tlsAddress === undefined) return []
      const chosen = reader.endpointNamed(hostOf(hostport))?.hostport
      const error = chosen === hostport ? null : `the name leads to ${chosen ?? 'no edge'}`
      return [{ hostport, protocol: 'tls', edge: endpoint.edge?.id ?? null, address: host, port, error }]
    })
    return [...own, ...named]
  }

  /** The address where the edges of a host can be reached; undefined for a host without any. */
  addressOf(host: string): string | undefined {
    const own = this.#tcp.addressOf(host)
    if (own !== undefined || this.#tlsAddress === undefined) return own
    if (this.#parts.reader.endpointNamed(host)?.protocol !== 'tls') return undefined
    // Who listens on every address is reached on loopback.
    return isIP(this.#tlsAddress.host) === 0 || UNSPECIFIED.has(this.#tlsAddress.host)
      ? LOOPBACK
      : this.#tlsAddress.host
  }

  async close(): Promise<void> {
    const isListening = this.#tls.listening
    this.#tls.close()
    this.#tcp.close()
    for (const connection of this.#open) connection.cutOff('the emulator is stopping')
    if (isListening) await once(this.#tls, 'close')
  }

  /** Hostports with a port of their own. */
  #ownPorts(): string[] {
    return [...new Set([...this.#edges.hostports(true), ...this.#bound('tcp')])]
  }

  /** Hostports that share the TLS port, and are told apart by the name in the handshake. */
  #named(): string[] {
    return [...new Set([...this.#edges.hostports(false), ...this.#bound('tls')])]
  }

  /** Hostports whose names agents bind, where no edge has them. */
  #bound(protocol: Protocol): string[] {
    const { reader, tunnels } = this.#parts
    return tunnels.hostports().filter((hostport) => {
      const endpoint = reader.endpointAt(hostport)
      return endpoint?.edge === undefined && endpoint?.protocol === protocol
    })
  }

  #accept(socket: Socket, hostport: string | undefined): void {
    const address = plainAddress(socket.remoteAddress ?? '')
    const isProxy = this.#parts.isProxy(address)
    // A proxy speaks for many.
    const giveBack = this.#room.take(isProxy ? `${address}:${socket.remotePort}` : address)
    if (giveBack === undefined) {
      socket.destroy()
      return
    }
    const protocol = hostport === undefined ? 'tls' : (this.#edges.at(hostport)?.protocol ?? 'tcp')
    const connection = new EdgeConnection({ socket, protocol, hostport }, this.#parts, () => {
      this.#open.delete(connection)
      giveBack()
    })
    this.#open.add(connection)
    connection.serve().catch((error: unknown) => {
      this.#parts.log(`a connection failed: ${error instanceof Error ? error.message : String(error)}`)
      connection.cutOff('the emulator failed')
    })
  }
}
