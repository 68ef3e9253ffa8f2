import { createHash } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '../../../util/clock.ts'
import type { GatewayLog } from '../gateway-options.ts'

export interface TcpListenersOptions {
  /** The address of all; undefined: one of loopback for each host. */
  readonly address: string | undefined
  /** The most ports. */
  readonly most: number
  readonly onConnection: (socket: Socket, hostport: string) => void
  readonly clock: Clock
  readonly log: GatewayLog
}

/** Where a hostport is served. */
export interface ListenerState {
  readonly address: string
  readonly port: number
  /** Why it does not listen; null if it does. */
  readonly error: string | null
}

interface Listener {
  readonly server: Server
  readonly address: string
  readonly port: number
  /** Undefined until it listens or has failed. */
  state: ListenerState | undefined
}

/** A port that is taken is tried again after this time. */
const RETRY_MS = 1000

/** The ports on which TCP edges listen. */
export class TcpListeners {
  readonly #options: TcpListenersOptions
  readonly #byHostport = new Map<string, Listener>()
  readonly #addresses = new Map<string, string>()
  #wanted: ReadonlySet<string> = new Set()
  #cancelRetry: (() => void) | undefined

  constructor(options: TcpListenersOptions) {
    this.#options = options
  }

  /** Listens for these hostports and no others. Connections that are open stay. */
  follow(wanted: ReadonlySet<string>): void {
    this.#wanted = wanted
    for (const [hostport, listener] of this.#byHostport) {
      const isFailed = listener.state !== undefined && listener.state.error !== null
      if (!wanted.has(hostport) || isFailed) this.#stop(hostport, listener)
    }
    for (const hostport of wanted) {
      if (!this.#byHostport.has(hostport)) this.#listen(hostport)
    }
  }

  /** Undefined while it is about to listen. */
  state(hostport: string): ListenerState | undefined {
    return this.#byHostport.get(hostport)?.state
  }

  /** Where the edges of a host listen; undefined for a host without any. */
  addressOf(host: string): string | undefined {
    return this.#addresses.get(host)
  }

  close(): void {
    this.#cancelRetry?.()
    this.follow(new Set())
  }

  #listen(hostport: string): void {
    const { onConnection, most } = this.#options
    const [host = '', port] = hostport.split(':')
    const server = createServer({ allowHalfOpen: true }, (socket) => onConnection(socket, hostport))
    const listener: Listener = { server, address: this.#giveAddress(host), port: Number(port), state: undefined }
    this.#byHostport.set(hostport, listener)
    const settle = (error: string | null): void => {
      listener.state = { address: listener.address, port: listener.port, error }
      if (error === null || this.#byHostport.get(hostport) !== listener) return
      this.#options.log(`${hostport} does not listen on ${listener.address}:${listener.port}: ${error}`)
      this.#retryLater()
    }
    if (this.#byHostport.size > most) {
      settle(`at most ${most} ports are opened`)
      return
    }
    server.once('listening', () => settle(null))
    server.on('error', (error) => settle(error.message))
    server.listen({ host: listener.address, port: listener.port })
  }

  #stop(hostport: string, { server }: Listener): void {
    this.#byHostport.delete(hostport)
    server.close()
    const [host = ''] = hostport.split(':')
    const isUsed = [...this.#byHostport.keys()].some((other) => other.startsWith(`${host}:`))
    if (!isUsed) this.#addresses.delete(host)
  }

  #giveAddress(host: string): string {
    const known = this.#addresses.get(host)
    if (known !== undefined) return known
    const taken = new Set(this.#addresses.values())
    const chosen = this.#options.address ?? loopbackAddressOf(host, (candidate) => taken.has(candidate))
    this.#addresses.set(host, chosen)
    return chosen
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#options.clock.setTimer(RETRY_MS, () => {
      this.#cancelRetry = undefined
      this.follow(this.#wanted)
    })
  }
}

/** Addresses below 127.64.0.0 stay free for what else listens on loopback. */
const FIRST = 0x7f_40_00_00
const COUNT = 0xbf_ff_00

/**
 * The address of 127.64.0.0 to 127.255.254.255 on which a host's edges listen: the same for a name every time, unless
 * another host in use has it. Linux needs no set-up for these addresses. Pure.
 */
export function loopbackAddressOf(host: string, isTaken: (address: string) => boolean): string {
  const start = createHash('sha256').update(host).digest().readUInt32BE(0)
  for (let step = 0; step < COUNT; step += 1) {
    const number = FIRST + ((start + step) % COUNT)
    const address = [number >>> 24, (number >>> 16) & 0xff, (number >>> 8) & 0xff, number & 0xff].join('.')
    if (!isTaken(address)) return address
  }
  throw new Error('every loopback address is taken')
}
