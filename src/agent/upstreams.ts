import { connect, type Socket } from 'node:net'
import type { Channel } from 'ssh2'
import type { Link } from '../ssh/link.ts'
import { WindowBudget } from '../ssh/receive-window.ts'
import { relay } from '../ssh/relay.ts'
import { TunnelStream } from '../ssh/tunnel-stream.ts'
import { takesPackets } from '../ssh/wire-gaps.ts'
import type { Clock } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { type Forward, hostPort } from './forward.ts'
import type { AgentMetrics } from './metrics.ts'

/** For a target to accept a connection, in milliseconds: less than a gateway waits before it tries another tunnel. */
const CONNECT_MS = 4000
/** Idle time, in milliseconds, before the kernel sends a keepalive to a target. */
const KEEPALIVE_MS = 60_000

/**
 * By how much the windows of all connections may exceed the least: what a gateway may send that no target has taken.
 */
const WINDOW_BYTES = 64 * 1024 * 1024

/** A connection that the gateway asks the agent to take. */
export interface Arrival {
  readonly forward: Forward
  /** Address and port of the client. */
  readonly source: string
  readonly link: Link
  /** The channel; undefined if the gateway is gone. */
  readonly accept: () => Channel | undefined
  readonly reject: () => void
}

export interface UpstreamOptions {
  /** Connections at one time; further ones are refused, and the gateway tries another tunnel. */
  readonly most: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: AgentMetrics
}

/**
 * The connections that an agent carries: each to its own target, whose name is resolved again. A connection is
 * accepted only when its target has accepted one.
 */
export class Upstreams {
  readonly #options: UpstreamOptions
  /** What the gateway may send at once. */
  readonly budget = new WindowBudget(WINDOW_BYTES)
  readonly #sockets = new Map<Socket, Forward>()
  #whenIdle: PromiseWithResolvers<void> | undefined

  constructor(options: UpstreamOptions) {
    this.#options = options
    options.metrics.watchSockets(() => this.#sockets)
  }

  /** Connections that are open, or being opened. */
  get open(): number {
    return this.#sockets.size
  }

  serve(arrival: Arrival): void {
    const { most, metrics, logger } = this.#options
    const { forward, reject } = arrival
    if (this.#sockets.size >= most) {
      metrics.refused(forward, 'limit')
      logger.warn({ forward: forward.name, most }, 'refused a connection: too many are open')
      reject()
      return
    }
    const socket = connect({ ...forward.target, allowHalfOpen: true, noDelay: true })
    this.#sockets.set(socket, forward)
    socket.once('close', () => this.#remove(socket))
    this.#dial(socket, arrival)
  }

  /** Resolves when no connection is open. */
  idle(): Promise<void> {
    if (this.#sockets.size === 0) return Promise.resolve()
    this.#whenIdle ??= Promise.withResolvers()
    return this.#whenIdle.promise
  }

  #dial(socket: Socket, { forward, source, link, accept, reject }: Arrival): void {
    const { clock, metrics, logger } = this.#options
    let why = ''
    const cancel = clock.setTimer(CONNECT_MS, () => {
      why = `no response within ${CONNECT_MS} ms`
      socket.destroy()
    })
    const failed = (): void => {
      cancel()
      metrics.refused(forward, 'unreachable')
      const target = hostPort(forward.target)
      logger.warn({ forward: forward.name, source, target }, `the target ${target} cannot be reached: ${why}`)
      reject()
    }
    const onError = (error: NodeJS.ErrnoException): void => {
      why = error.code ?? error.message
    }
    socket.on('error', onError)
    socket.once('close', failed)
    socket.once('connect', () => {
      cancel()
      socket.off('close', failed)
      socket.off('error', onError)
      socket.setKeepAlive(true, KEEPALIVE_MS)
      const channel = accept()
      if (channel === undefined || !takesPackets(channel)) {
        channel?.resume()
        channel?.close()
        socket.on('error', () => undefined).destroy()
        return
      }
      metrics.served(forward)
      relay(socket, new TunnelStream(channel, link), (failure) => {
        if (failure !== undefined) logger.debug({ forward: forward.name, source, ...failure }, 'a connection failed')
      })
    })
  }

  #remove(socket: Socket): void {
    const forward = this.#sockets.get(socket)
    if (forward !== undefined) this.#options.metrics.ended(forward, socket)
    this.#sockets.delete(socket)
    if (this.#sockets.size > 0) return
    this.#whenIdle?.resolve()
    this.#whenIdle = undefined
  }
}
