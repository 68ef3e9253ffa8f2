import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { cut, type RelayFailure, relay } from '../../../ssh/relay.ts'
import type { Clock } from '../../../util/clock.ts'
import { plainAddress } from '../../fields/cidr.ts'
import type { GatewayLimits, GatewayLog } from '../gateway-options.ts'
import type { TrafficEntry, TrafficJournal, TrafficVerdict } from '../traffic.ts'
import type { LiveTunnels } from '../tunnels.ts'
import type { EdgeAuthority } from './authority.ts'
import type { Target } from './choose-backend.ts'
import type { EdgeReader, Endpoint } from './edge-reader.ts'
import { hostOf, type Protocol } from './edge-table.ts'
import { BadBeginning, readFirstBytes } from './first-bytes.ts'
import { readProxyHeader } from './proxy-protocol.ts'
import type { Responder } from './responder.ts'
import { alert, readHost, TlsFailure, terminate, versionIn, vouchersOf } from './tls-handshake.ts'
import type { ConnectionFacts } from './traffic-policy.ts'
import { type TlsFacts, tlsObjection } from './verdict.ts'

/** The most characters of a reason: the traffic journal keeps them. */
const LONGEST_REASON = 200

/** What all connections share. */
export interface EdgeParts {
  readonly reader: EdgeReader
  readonly tunnels: LiveTunnels
  readonly authority: EdgeAuthority
  readonly responder: Responder
  readonly journal: TrafficJournal
  readonly clock: Clock
  readonly limits: GatewayLimits
  readonly log: GatewayLog
  /** Whether connections from that address begin with the header of a proxy. */
  readonly isProxy: (address: string) => boolean
  /** Applies what fell due by the emulated clock, such as a certificate. */
  readonly applyDue: () => void
}

export interface Arrival {
  readonly socket: Socket
  readonly protocol: Protocol
  /** Undefined where the client names its host in the handshake. */
  readonly hostport: string | undefined
}

/**
 * One connection from a client: finds the edge, judges the source, sets up TLS, and joins it with a tunnel or a fixed
 * answer. Each step reads what holds at that moment, and `check` does so again whenever something has changed.
 */
export class EdgeConnection {
  readonly #parts: EdgeParts
  readonly #protocol: Protocol
  readonly #raw: Socket
  readonly #entry: TrafficEntry
  readonly #onEnd: () => void
  /** The client's side: the connection itself, or the TLS that ends here. */
  #client: Socket
  #hostport: string | undefined
  #endpoint: Endpoint | undefined
  #tls: TlsFacts | undefined
  #cancelDrain: (() => void) | undefined

  /** @param onEnd called once, when the connection is closed */
  constructor({ socket, protocol, hostport }: Arrival, parts: EdgeParts, onEnd: () => void) {
    this.#parts = parts
    this.#protocol = protocol
    this.#raw = socket
    this.#client = socket
    this.#hostport = hostport
    this.#onEnd = onEnd
    this.#entry = parts.journal.open({
      time: new Date(parts.clock.now()).toISOString(),
      protocol,
      hostport: hostport ?? null,
      source: plainAddress(socket.remoteAddress ?? ''),
      sourcePort: socket.remotePort ?? 0,
    })
    socket.setNoDelay(true)
    // A client that vanishes is no failure of ours; the socket is closed then.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#end())
  }

  /** Serves the connection; resolves when it is joined, or refused. Never rejects for what a client does. */
  async serve(): Promise<void> {
    try {
      await this.#readSource()
      await this.#admit()
    } catch (error) {
      if (!(error instanceof TlsFailure || error instanceof BadBeginning)) throw error
      this.#decide('failed', error.message)
      this.#raw.destroy()
    }
  }

  /**
   * Judges the connection again. It is cut if the source or its TLS would now be refused; if the edge is gone, it may
   * go on for a while. A changed backend does not concern it.
   */
  check(): void {
    const before = this.#endpoint
    if (before === undefined || this.#raw.destroyed) return
    const now = this.#parts.reader.endpointAt(before.hostport)
    // No one's edge has no policy of its own, but the account's restrictions hold.
    const judged = now ?? { account: before.account, edge: undefined }
    const verdict = this.#parts.reader.verdict(judged, this.#facts(before.hostport))
    const objection = now && this.#tls && tlsObjection(this.#tls, this.#parts.reader.terms(now))
    if (!verdict.isAdmitted) this.#cutOff(verdict.reason, verdict.rule)
    else if (objection !== undefined) this.#cutOff(objection, null)
    else if (now?.edge?.id === before.edge?.id) this.#stopDraining()
    else this.#drain()
  }

  /** The account whose changes concern it; undefined until it is known. */
  get account(): string | undefined {
    return this.#endpoint?.account
  }

  /** Ends the connection at once. */
  cutOff(reason: string): void {
    this.#cutOff(reason, null)
  }

  /** A proxy names the client for which it connects: from then on, that is the source. */
  async #readSource(): Promise<void> {
    const { clock, isProxy, limits } = this.#parts
    const proxy = this.#entry.source
    if (!isProxy(proxy)) return
    const named = await readFirstBytes(this.#raw, {
      read: readProxyHeader,
      deed: 'sent the header of a proxy',
      language: 'version 2 of the PROXY protocol',
      ms: limits.headerMs,
      clock,
    })
    this.#entry.proxy = proxy
    if (named === undefined) return
    this.#entry.source = plainAddress(named.address)
    this.#entry.sourcePort = named.port
  }

  async #admit(): Promise<void> {
    const { reader, applyDue, clock, limits } = this.#parts
    if (this.#hostport === undefined) {
      const host = await readHost(this.#raw, limits.tlsMs, clock)
      applyDue()
      const named = host === undefined ? undefined : reader.endpointNamed(host)
      if (named?.protocol !== 'tls') {
        this.#decide('failed', host === undefined ? 'the client names no host' : `no TLS edge serves ${host}`)
        alert(this.#raw, 'unrecognizedName')
        return
      }
      this.#hostport = named.hostport
    } else {
      applyDue()
    }
    const endpoint = reader.endpointAt(this.#hostport)
    if (endpoint === undefined) {
      this.#decide('unserved', 'the edge is gone')
      this.#raw.destroy()
      return
    }
    this.#endpoint = endpoint
    Object.assign(this.#entry, {
      hostport: endpoint.hostport,
      edge: endpoint.edge?.id ?? null,
      account: endpoint.account,
    })
    const steps: (() => boolean | Promise<boolean>)[] = [
      () => this.#judgeSource(endpoint),
      () => this.#setUpTls(endpoint),
    ]
    if (reader.isHandshakeFirst) steps.reverse()
    for (const step of steps) if (!(await step()) || this.#client.destroyed) return
    await this.#join()
  }

  #judgeSource(endpoint: Endpoint): boolean {
    const { isAdmitted, rule, reason, warnings, notes } = this.#parts.reader.verdict(
      endpoint,
      this.#facts(endpoint.hostport),
    )
    Object.assign(this.#entry, { rule, reason, warnings: [...warnings], notes: [...notes] })
    if (isAdmitted) return true
    this.#decide('refused', reason)
    cut(this.#client)
    this.#raw.destroy()
    return false
  }

  #facts(hostport: string): ConnectionFacts {
    const host = hostOf(hostport)
    const { source, sourcePort } = this.#entry
    return { protocol: this.#protocol, source, sourcePort, host, port: Number(hostport.slice(host.length + 1)) }
  }

  /** Whether the client may go on: TLS passes through, or has been completed as the edge demands. */
  async #setUpTls(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.protocol === 'tcp') return true
    const { reader, authority, limits } = this.#parts
    const terms = reader.terms(endpoint)
    this.#tls = { endsAtEdge: terms.endsAtEdge, client: undefined }
    if (!terms.endsAtEdge) return true
    const choice = reader.certificate(endpoint)
    if (choice === undefined) {
      this.#decide('failed', 'the domain has no certificate')
      alert(this.#raw, 'handshakeFailure')
      return false
    }
    const credentials = await authority.issue(choice.id, choice.name, choice.type)
    if (this.#raw.destroyed) return false
    const client = await terminate(this.#raw, {
      credentials,
      minVersion: terms.minVersion,
      authorities: reader.authorities(endpoint),
      ms: limits.tlsMs,
    })
    client.on('error', () => undefined)
    this.#client = client
    const vouchers = terms.trusted && vouchersOf(client, terms.trusted)
    this.#tls = { endsAtEdge: true, client: { vouchers, version: versionIn(client) } }
    return true
  }

  /** Tries one target after the other until one can be reached. */
  async #join(): Promise<void> {
    const endpoint = this.#endpoint && this.#parts.reader.endpointAt(this.#endpoint.hostport)
    const failures: string[] = []
    for (const target of endpoint === undefined ? [] : this.#parts.reader.targets(endpoint)) {
      const failure = await this.#try(target)
      if (failure === undefined || this.#client.destroyed) return
      failures.push(failure)
    }
    this.#decide('unserved', failures[0] ?? 'no tunnel serves the edge')
    this.#client.end(() => this.#client.destroy())
  }

  /** Why the target cannot serve the connection; undefined if it does now. */
  async #try(target: Target): Promise<string | undefined> {
    const { tunnels, responder, reader } = this.#parts
    const account = String(this.#entry.account)
    this.#entry.backend = this.#endpoint?.edge === undefined ? null : target.backend
    if (target.kind === 'response') {
      if (this.#protocol === 'tls' && !(this.#client instanceof TLSSocket)) {
        return 'a fixed answer cannot be given to TLS that passes through'
      }
      if (!this.#isStillAdmitted()) return undefined
      this.#decide('served', this.#entry.reason)
      responder.serve(this.#client, () => reader.response(account, target.backend))
      return undefined
    }
    const tunnel = tunnels.get(target.tunnel)
    if (tunnel === undefined) return `the tunnel ${target.tunnel} has ended`
    try {
      const upstream = await tunnel.open({ address: this.#entry.source, port: this.#entry.sourcePort })
      if (!this.#isStillAdmitted()) {
        upstream.destroy()
        return undefined
      }
      this.#entry.tunnel = tunnel.id
      this.#decide('served', this.#entry.reason)
      relay(this.#client, upstream, (failure) => {
        this.#entry.end ??= endOf(failure)
      })
      return undefined
    } catch (error) {
      // In part the agent's own words.
      return (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON)
    }
  }

  /**
   * Judges once more before the first byte is carried: a change of this very turn of the event loop has not been
   * followed yet, but may have been answered. An edge that is gone lets no one new in.
   */
  #isStillAdmitted(): boolean {
    this.check()
    if (this.#cancelDrain !== undefined) this.#cutOff('the edge is gone', null)
    return !this.#client.destroyed
  }

  #decide(verdict: TrafficVerdict, reason: string): void {
    this.#entry.verdict = verdict
    this.#entry.reason = reason
    if (verdict !== 'served') this.#entry.end ??= reason
  }

  #cutOff(reason: string, rule: string | null): void {
    // What was served stays served; a connection that is still being set up is refused.
    if (this.#entry.verdict !== 'served') this.#decide('refused', reason)
    this.#entry.rule = rule ?? this.#entry.rule
    this.#entry.end = `cut: ${reason}`
    cut(this.#client)
    this.#raw.destroy()
  }

  #drain(): void {
    const { clock, limits } = this.#parts
    this.#cancelDrain ??= clock.setTimer(limits.drainMs, () => this.#cutOff('the edge is gone', null))
  }

  #stopDraining(): void {
    this.#cancelDrain?.()
    this.#cancelDrain = undefined
  }

  #end(): void {
    this.#stopDraining()
    this.#entry.bytesIn = this.#client.bytesRead
    this.#entry.bytesOut = this.#client.bytesWritten
    this.#entry.verdict ??= 'failed'
    this.#entry.end ??= 'closed'
    this.#onEnd()
  }
}

/** How a connection ended, for the traffic journal. */
function endOf(failure: RelayFailure): string {
  if (failure === undefined) return 'closed'
  return `the ${failure.side === 'socket' ? 'connection of the client' : 'tunnel'} failed: ${failure.message}`
}
