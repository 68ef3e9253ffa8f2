import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import ssh2, { type Algorithms, type ClientInfo, type Connection, type Server as SshLibrary } from 'ssh2'
import { type KeyPair, newKeyPair, publicKeyOf } from '../../../ssh/new-key.ts'
import { plainAddress } from '../../fields/cidr.ts'
import type { Store } from '../../store/emulator-store.ts'
import { WaitingRoom } from '../room.ts'
import { AgentConnection, type GatewayParts } from './agent-connection.ts'

/** Key in `meta` of the host key, so that clients find the same one after a restart with the same data file. */
const HOST_KEY = 'gateway_host_key'
/** Unanswered signs of life after which a client is dead. */
const SILENCES = 2
/** What an identification may hold (RFC 4253 § 4.2); it is shown, and stored with the session. */
const LONGEST_VERSION = 100

/**
 * Without what lets a stranger cause much work with few bytes: compression, and exchanges of keys in large groups. Of
 * the ciphers only those that Node computes fast: which one is used is the client's choice among these.
 */
const ALGORITHMS: Algorithms = {
  compress: ['none'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'],
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256', 'ecdh-sha2-nistp384'],
}

/** The SSH gateway: accepts clients, and bounds how many may be unauthenticated, and for how long. */
export class SshServer {
  readonly #parts: GatewayParts
  readonly #listener: Server
  readonly #library: SshLibrary
  /** Sockets whose client has not sent its identification, by source. */
  readonly #unnamed = new Map<string, Socket>()
  readonly #waiting: WaitingRoom
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Set<AgentConnection>()
  /** In authorized-keys format. */
  readonly hostKey: string

  constructor(store: Store, parts: GatewayParts) {
    const { limits } = parts
    this.#parts = parts
    const { privateKey, publicKey } = hostKeyIn(store)
    this.hostKey = publicKey
    this.#waiting = new WaitingRoom({ inAll: limits.handshakes, each: limits.sourceHandshakes })
    this.#listener = createServer((socket) => this.#accept(socket))
    this.#library = new ssh2.Server({
      hostKeys: [privateKey],
      ident: 'culvert-emulator',
      algorithms: ALGORITHMS,
      keepaliveInterval: limits.keepaliveMs,
      keepaliveCountMax: SILENCES,
    })
    this.#library.on('connection', (connection: Connection, info: ClientInfo) => this.#greet(connection, info))
  }

  /** Resolves once it listens; rejects when it cannot. */
  async listen(at: { readonly host: string; readonly port: number }): Promise<{ host: string; port: number }> {
    this.#listener.listen(at)
    await once(this.#listener, 'listening')
    const address = this.#listener.address()
    return { host: at.host, port: typeof address === 'object' && address !== null ? address.port : at.port }
  }

  /** Ends the connections whose sessions no longer exist. */
  checkSessions(): void {
    for (const connection of this.#connections) connection.checkSession()
  }

  /** Ids of the stored agents of all connected clients. */
  agents(): ReadonlySet<string> {
    return new Set([...this.#connections].map(({ agent }) => agent).filter((agent) => agent !== undefined))
  }

  async close(): Promise<void> {
    const isListening = this.#listener.listening
    this.#listener.close()
    for (const connection of this.#connections) connection.end('the emulator is stopping')
    for (const socket of this.#sockets) socket.destroy()
    if (isListening) await once(this.#listener, 'close')
  }

  #accept(socket: Socket): void {
    const { clock, limits } = this.#parts
    const address = plainAddress(socket.remoteAddress ?? '')
    const source = sourceOf(socket.remoteAddress, socket.remotePort)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    this.#sockets.add(socket)
    this.#unnamed.set(source, socket)
    const cancel = clock.setTimer(limits.handshakeMs, () => {
      if (this.#waiting.has(address, socket)) socket.destroy()
    })
    socket.once('close', () => {
      cancel()
      this.#sockets.delete(socket)
      this.#waiting.leave(address, socket)
      if (this.#unnamed.get(source) === socket) this.#unnamed.delete(source)
    })
    this.#waiting.enter(address, socket)
    this.#library.injectSocket(socket)
  }

  /** The client has sent its identification. */
  #greet(connection: Connection, { ip, port, header }: ClientInfo): void {
    const source = sourceOf(ip, port)
    const socket = this.#unnamed.get(source)
    this.#unnamed.delete(source)
    if (socket === undefined) {
      connection.on('error', () => undefined)
      connection.end()
      return
    }
    const version = header.versions.software.slice(0, LONGEST_VERSION)
    const client = { connection, socket, ip: plainAddress(ip), version }
    const agent = new AgentConnection(client, this.#parts, () => this.#waiting.leave(client.ip, socket))
    this.#connections.add(agent)
    socket.once('close', () => this.#connections.delete(agent))
  }
}

function sourceOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`
}

function hostKeyIn(store: Store): KeyPair {
  const stored = store.getMeta(HOST_KEY)
  if (stored === undefined) {
    const made = newKeyPair()
    store.setMeta(HOST_KEY, made.privateKey)
    return made
  }
  const parsed = ssh2.utils.parseKey(stored)
  if (parsed instanceof Error) throw new Error('the stored host key cannot be read', { cause: parsed })
  return { privateKey: stored, publicKey: publicKeyOf(parsed) }
}
