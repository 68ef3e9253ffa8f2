import { connect, type Socket } from 'node:net'
import ssh2, {
  type Channel,
  type Client,
  type ParsedKey,
  type PublicKeyAuthMethod,
  type TcpConnectionDetails,
} from 'ssh2'
import { Link } from '../ssh/link.ts'
import { onFarewell } from '../ssh/wire-gaps.ts'
import type { Clock } from '../util/clock.ts'
import { type AgentError, explain, type Phase } from './failure.ts'
import { bindKey, type Forward, hostPort, type Target } from './forward.ts'
import { fingerprint, type PinnedKeys } from './keys.ts'
import type { Upstreams } from './upstreams.ts'

/** From the first packet until all forwards are bound, in milliseconds. */
const OPEN_MS = 10_000
/** Unanswered signs of life after which the gateway is dead. */
const SILENCES = 2

export interface GatewayOptions {
  readonly gateway: Target
  readonly hostKeys: PinnedKeys
  /** Means nothing to the service's gateway. */
  readonly user: string
  /** What the agent calls itself: software and version, without spaces. */
  readonly ident: string
  readonly forwards: readonly Forward[]
  /** Idle time, in milliseconds, before a keepalive is sent to the gateway. */
  readonly keepaliveMs: number
}

/**
 * One connection to the SSH gateway, from dialling to its end: it checks the host key, authenticates by public key, and
 * binds all forwards (RFC 4254 § 7). Connections that arrive through them are served by `upstreams`.
 */
export class GatewayConnection {
  readonly #options: GatewayOptions
  readonly #upstreams: Upstreams
  readonly #clock: Clock
  readonly #key: ParsedKey
  readonly #client: Client = new ssh2.Client()
  readonly #socket: Socket
  readonly #unbound = new Map<string, Forward>()
  readonly #bound = new Map<string, Forward>()
  readonly #whenBound = Promise.withResolvers<void>()
  readonly #whenClosed = Promise.withResolvers<AgentError>()
  #phase: Phase = 'dial'
  #isClosed: boolean = false
  #timedOut = false
  #error: unknown
  #farewell: string | undefined
  #strangeHostKey: string | undefined

  /** Begins to connect. */
  constructor(key: ParsedKey, options: GatewayOptions, upstreams: Upstreams, clock: Clock) {
    this.#options = options
    this.#upstreams = upstreams
    this.#clock = clock
    this.#key = key
    this.#socket = connect({ ...options.gateway, noDelay: true })
    for (const forward of options.forwards) this.#unbound.set(keyOf(forward), forward)
    const cancel = this.#clock.setTimer(OPEN_MS, () => {
      this.#timedOut = true
      this.#socket.destroy()
    })
    this.#whenBound.promise.then(cancel, cancel)
    this.#socket.once('connect', () => this.#greet())
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.once('close', () => this.#close())
  }

  /** Resolves once all forwards are bound. @throws AgentError if the connection ends before that */
  get bound(): Promise<void> {
    return this.#whenBound.promise
  }

  /** Resolves to the reason when the connection has ended. */
  get closed(): Promise<AgentError> {
    return this.#whenClosed.promise
  }

  /**
   * Asks the gateway for no further connections, and resolves when it has agreed or the connection has ended. What
   * arrives until then is still served.
   */
  async unbind(): Promise<void> {
    await Promise.all([...this.#bound.values()].map((forward) => this.#unbind(forward)))
  }

  /** Ends the connection, and with it all that is carried through it. */
  end(): void {
    if (this.#isClosed) return
    if (this.#phase === 'dial') this.#socket.destroy()
    else this.#client.end()
    const cancel = this.#clock.setTimer(1000, () => this.#socket.destroy())
    this.#socket.once('close', cancel)
  }

  #greet(): void {
    this.#phase = 'handshake'
    const { hostKeys, user: username, ident, keepaliveMs } = this.#options
    const client = this.#client
    client.on('ready', () => this.#bind())
    client.on('error', (error: Error) => this.#fail(error))
    const authentication: PublicKeyAuthMethod = { type: 'publickey', username, key: this.#key }
    client.connect({
      sock: this.#socket,
      username,
      ident,
      authHandler: [authentication],
      algorithms: { serverHostKey: hostKeys.algorithms },
      hostVerifier: (key: Buffer) => this.#isPinned(key),
      keepaliveInterval: keepaliveMs,
      keepaliveCountMax: SILENCES,
      readyTimeout: 0,
    })
    const link = new Link(client, this.#socket, this.#upstreams.budget, () => {
      this.#fail(new Error('the gateway exceeded its window'))
    })
    client.on('tcp connection', (details, accept, reject) => this.#serve({ details, link, accept, reject }))
    onFarewell(client, (text) => {
      this.#farewell = text
      // The library ends its half only, and no longer asks for signs of life.
      this.#socket.destroySoon()
    })
  }

  #isPinned(key: Buffer): boolean {
    const isPinned = this.#options.hostKeys.has(key)
    if (!isPinned) this.#strangeHostKey = fingerprint(key)
    return isPinned
  }

  #bind(): void {
    this.#phase = 'bind'
    for (const [key, forward] of this.#unbound) {
      this.#client.forwardIn(forward.bind.text, forward.bind.port, (error) => {
        // Its connection is closed: that says why.
        if (this.#isClosed) return
        if (error !== undefined) {
          this.#fail(error)
          return
        }
        this.#unbound.delete(key)
        this.#bound.set(key, forward)
        if (this.#unbound.size > 0) return
        this.#phase = 'bound'
        this.#whenBound.resolve()
      })
    }
  }

  #unbind(forward: Forward): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed || !this.#socket.writable) {
        resolve()
        return
      }
      this.#client.unforwardIn(forward.bind.text, forward.bind.port, () => resolve())
    })
  }

  #serve({ details, link, accept, reject }: Offer): void {
    const { destIP, destPort, srcIP, srcPort } = details
    const forward = this.#bound.get(bindKey(destIP, destPort)) ?? this.#unbound.get(bindKey(destIP, destPort))
    if (forward === undefined) {
      reject()
      return
    }
    this.#upstreams.serve({
      forward,
      source: `${srcIP}:${srcPort}`,
      link,
      accept: () => (this.#isClosed ? undefined : accept()),
      reject: () => {
        if (!this.#isClosed) reject()
      },
    })
  }

  #fail(error: Error): void {
    this.#error ??= error
    // The library only ends its half, which a dead peer never notices.
    this.#socket.destroy()
  }

  #close(): void {
    this.#isClosed = true
    const reason = explain({
      phase: this.#phase,
      gateway: hostPort(this.#options.gateway),
      key: fingerprint(this.#key.getPublicSSH()),
      error: this.#error,
      farewell: this.#farewell,
      strangeHostKey: this.#strangeHostKey,
      unbound: [...this.#unbound.values()].map(({ name }) => name),
      timedOut: this.#timedOut,
    })
    this.#whenClosed.resolve(reason)
    this.#whenBound.reject(reason)
  }
}

/** A connection that the gateway offers. */
interface Offer {
  readonly details: TcpConnectionDetails
  readonly link: Link
  readonly accept: () => Channel
  readonly reject: () => void
}

function keyOf({ bind }: Forward): string {
  return bindKey(bind.text, bind.port)
}
