import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { AuthContext, Channel, Connection, PublicKeyAuthContext } from 'ssh2'
import { Link } from '../../../ssh/link.ts'
import type { WindowBudget } from '../../../ssh/receive-window.ts'
import { TunnelStream } from '../../../ssh/tunnel-stream.ts'
import { disconnect, takesPackets } from '../../../ssh/wire-gaps.ts'
import type { Clock } from '../../../util/clock.ts'
import type { KeyHolders } from '../../ssh/key-holders.ts'
import { StorageError } from '../../store/database.ts'
import { RequestError } from '../../values/request-error.ts'
import type { GatewayLimits, GatewayLog } from '../gateway-options.ts'
import type { Room } from '../room.ts'
import type { LiveTunnels, Origin } from '../tunnels.ts'
import { judgeKey, type KeyJudgement, signatureFault } from './authenticate.ts'
import { hostportOf, parseBind } from './bind.ts'
import type { GatewaySessions, SessionKey } from './gateway-sessions.ts'

/** What all connections of the gateway share. */
export interface GatewayParts {
  readonly sessions: GatewaySessions
  readonly keyHolders: KeyHolders
  readonly tunnels: LiveTunnels
  readonly clock: Clock
  readonly log: GatewayLog
  readonly limits: GatewayLimits
  /** For sessions, by account. */
  readonly room: Room
  /** For what agents may send. */
  readonly windows: WindowBudget
}

export interface Client {
  readonly connection: Connection
  readonly socket: Socket
  readonly ip: string
  /** Software and version from its identification, such as `OpenSSH_10.0p2`. */
  readonly version: string
}

interface Forward {
  readonly address: string
  readonly port: number
  readonly tunnel: string
}

/** Refused keys until the connection is ended. */
const MOST_ATTEMPTS = 6
/** Requests to authenticate, whatever became of them, until the connection is ended. */
const MOST_REQUESTS = 20
/** Packets that may wait for the end of an exchange of keys; a connection through a tunnel takes one or two. */
const MOST_PACKETS = 30_000

/**
 * One client of the SSH gateway: authenticates it, and keeps its session and tunnels for as long as it is connected. A
 * refused forward ends the connection, because only then does OpenSSH show the reason.
 */
export class AgentConnection {
  readonly #client: Client
  readonly #parts: GatewayParts
  readonly #link: Link
  readonly #forwards = new Map<string, Forward>()
  readonly #streams = new Set<Duplex>()
  readonly #onReady: () => void
  #judged: KeyJudgement | undefined
  #session: SessionKey | undefined
  #attempts = 0
  #requests = 0
  #nextPort = 1
  /** Connections that it has been asked to open and has not answered. */
  #unanswered = 0
  #isEnding: boolean = false
  #giveBackRoom: (() => void) | undefined
  #cancelExchange: (() => void) | undefined

  /** @param onReady called once it is authenticated and has its session */
  constructor(client: Client, parts: GatewayParts, onReady: () => void) {
    this.#client = client
    this.#parts = parts
    this.#onReady = onReady
    const { connection, socket } = client
    this.#link = new Link(connection, socket, parts.windows, () => this.#fail(new Error('sent more than its window')))
    socket.on('data', () => this.#watch())
    connection.on('handshake', () => this.#stopExchange())
    connection.on('authentication', (context) => this.#guarded(() => this.#authenticate(context)))
    connection.on('ready', () => this.#guarded(() => this.#open()))
    connection.on('error', (error: Error) => this.#fail(error))
    connection.on('close', () => this.#close())
    connection.on('request', (accept, reject, name, info) => {
      if (name === 'tcpip-forward') this.#guarded(() => this.#bind(info, accept))
      else if (name === 'cancel-tcpip-forward') this.#guarded(() => this.#unbind(info, accept, reject))
      else reject?.()
    })
  }

  /** Id of the stored agent; undefined until it is authenticated. */
  get agent(): string | undefined {
    return this.#session?.agent
  }

  /** Ends the connection if its session no longer exists, as after the stop command. */
  checkSession(): void {
    if (this.#session !== undefined && !this.#parts.sessions.isOnline(this.#session))
      this.end('the session was stopped')
  }

  /** Ends the connection with a reason that the client shows. */
  end(reason: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    disconnect(this.#client.connection, reason)
    // The peer may be dead, or ignore it.
    const destroy = (): void => {
      this.#client.socket.destroy()
    }
    const cancel = this.#parts.clock.setTimer(1000, destroy)
    this.#client.socket.once('close', cancel)
    // Its tunnels serve nobody from now on, whenever the socket is closed.
    this.#release()
  }

  #authenticate(context: AuthContext): void {
    this.#requests += 1
    if (this.#requests > MOST_REQUESTS) {
      this.end('too many requests to authenticate')
      return
    }
    if (context.method !== 'publickey') {
      context.reject(['publickey'])
      return
    }
    const { keyHolders, sessions } = this.#parts
    const judged = judgeKey(context.key.data, this.#client.ip, keyHolders, sessions)
    const fault = judged.login === undefined ? judged.reason : faultOf(context, judged)
    if (fault === undefined) {
      if (context.signature !== undefined) this.#judged = judged
      context.accept()
      return
    }
    this.#log(`refused: ${fault}`)
    this.#attempts += 1
    if (this.#attempts >= MOST_ATTEMPTS) {
      this.end('too many keys were refused')
      return
    }
    context.reject(['publickey'])
  }

  #open(): void {
    const judged = this.#judged
    if (judged?.login === undefined) {
      this.end('not authenticated')
      return
    }
    this.#giveBackRoom = this.#parts.room.take(judged.login.account)
    if (this.#giveBackRoom === undefined) {
      const { sessions, accountSessions } = this.#parts.limits
      const reason = `there are too many sessions: at most ${accountSessions} of an account, and ${sessions} in all`
      this.#log(`refused: ${reason}`)
      this.end(reason)
      return
    }
    this.#session = this.#parts.sessions.open(judged.login, this.#client.version)
    this.#log(`session ${this.#session.session} of ${judged.login.credential}`)
    this.#onReady()
  }

  #bind(info: BindInfo, accept: ((port?: number) => void) | undefined): void {
    const said = `forward ${JSON.stringify(info.bindAddr.slice(0, 200))}:${info.bindPort}`
    const forward = this.#session === undefined ? 'the session has ended' : this.#forward(this.#session, info)
    if (typeof forward === 'string') {
      this.#log(`${said} refused: ${forward}`)
      this.end(`${said} refused: ${forward}`)
      return
    }
    this.#log(`${said} is tunnel ${forward.tunnel}`)
    accept?.(forward.port)
  }

  /** Makes a forward a tunnel of the session; a string says why it is refused. */
  #forward(session: SessionKey, { bindAddr: address, bindPort }: BindInfo): Forward | string {
    const { sessions, tunnels, limits } = this.#parts
    const binding = parseBind(address, bindPort)
    if (typeof binding === 'string') return binding
    if (this.#forwards.size >= limits.binds) return `a connection has at most ${limits.binds} forwards`
    const port = bindPort === 0 ? this.#freePort(address) : bindPort
    if (this.#forwards.has(keyOf(address, port))) return 'it is bound already'
    try {
      const forward = { address, port, tunnel: sessions.bind(session, binding) }
      this.#forwards.set(keyOf(address, port), forward)
      tunnels.add({
        id: forward.tunnel,
        account: session.account,
        hostport: hostportOf(binding),
        open: (origin) => this.#openStream(forward, origin),
      })
      return forward
    } catch (error) {
      if (error instanceof RequestError) return error.message
      throw error
    }
  }

  #unbind({ bindAddr, bindPort }: BindInfo, accept?: () => void, reject?: () => void): void {
    const forward = this.#forwards.get(keyOf(bindAddr, bindPort))
    if (forward === undefined || this.#session === undefined) {
      reject?.()
      return
    }
    this.#forwards.delete(keyOf(bindAddr, bindPort))
    this.#parts.tunnels.remove(forward.tunnel)
    this.#parts.sessions.unbind(this.#session, forward.tunnel)
    accept?.()
  }

  /** A client that asks for any port is told one that none of its forwards of that address has. */
  #freePort(address: string): number {
    while (this.#forwards.has(keyOf(address, this.#nextPort))) this.#nextPort += 1
    return this.#nextPort
  }

  #openStream({ address, port, tunnel }: Forward, origin: Origin): Promise<Duplex> {
    const { clock, limits } = this.#parts
    if (this.#unanswered >= limits.unanswered) {
      return Promise.reject(new Error(`the agent of ${tunnel} leaves ${this.#unanswered} connections unanswered`))
    }
    this.#unanswered += 1
    return new Promise((resolve, reject) => {
      let isLate = false
      const cancel = clock.setTimer(limits.openMs, () => {
        isLate = true
        reject(new Error(`the agent of ${tunnel} did not answer within ${limits.openMs} ms`))
      })
      this.#client.connection.forwardOut(address, port, origin.address, origin.port, (error, channel: Channel) => {
        cancel()
        this.#unanswered -= 1
        if (error !== undefined) {
          reject(error)
          return
        }
        if (isLate || !takesPackets(channel)) {
          channel.resume()
          channel.close()
          reject(new Error(`the agent of ${tunnel} opened no usable channel`))
          return
        }
        resolve(this.#track(new TunnelStream(channel, this.#link)))
      })
    })
  }

  #track(stream: Duplex): Duplex {
    this.#streams.add(stream)
    return stream.once('close', () => this.#streams.delete(stream))
  }

  /** Ends a client that lets pile up what it does not read, or what waits for an exchange of keys. */
  #watch(): void {
    const { clock, limits } = this.#parts
    const { bytes, packets } = this.#link.pending
    if (bytes > limits.pendingBytes || packets > MOST_PACKETS) this.#fail(new Error('does not read what it is sent'))
    if (!this.#link.isExchangingKeys) return
    this.#cancelExchange ??= clock.setTimer(limits.handshakeMs, () => {
      this.#fail(new Error('did not complete an exchange of keys'))
    })
  }

  #stopExchange(): void {
    this.#cancelExchange?.()
    this.#cancelExchange = undefined
  }

  #fail(error: Error): void {
    if (this.#client.socket.destroyed) return
    this.#log(error.message)
    // The library only ends its half, which a dead peer never notices.
    this.#client.socket.destroy()
  }

  #close(): void {
    this.#stopExchange()
    this.#release()
    const lost = new Error('the agent disconnected')
    for (const stream of this.#streams) stream.destroy(lost)
  }

  /** Its session and tunnels end. */
  #release(): void {
    for (const { tunnel } of this.#forwards.values()) this.#parts.tunnels.remove(tunnel)
    this.#forwards.clear()
    this.#giveBackRoom?.()
    const session = this.#session
    if (session === undefined) return
    this.#session = undefined
    this.#safely(() => {
      this.#parts.sessions.close(session)
      this.#log(`session ${session.session} ended`)
    })
  }

  /** What a client still asks, after it was told why it is disconnected, is not carried out. */
  #guarded(work: () => void): void {
    if (!this.#isEnding) this.#safely(work)
  }

  /** A data file that cannot be used now refuses this client, and must not end the emulator. */
  #safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof StorageError)) throw error
      this.#log(error.message)
      disconnect(this.#client.connection, error.message)
    }
  }

  #log(message: string): void {
    this.#parts.log(`SSH client ${this.#client.ip} (${this.#client.version}): ${message}`)
  }
}

interface BindInfo {
  readonly bindAddr: string
  readonly bindPort: number
}

function faultOf(context: PublicKeyAuthContext, judged: KeyJudgement): string | undefined {
  // Without a signature, the client only asks whether this key would do.
  if (judged.login === undefined || context.signature === undefined) return undefined
  return signatureFault(context, judged.holder)
}

function keyOf(address: string, port: number): string {
  return `${port} ${address}`
}
