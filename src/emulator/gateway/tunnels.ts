import type { Duplex } from 'node:stream'

/** The client of an edge, as passed to the agent. */
export interface Origin {
  readonly address: string
  readonly port: number
}

/** A tunnel whose agent is connected to the gateway. */
export interface LiveTunnel {
  readonly id: string
  readonly account: string
  /** The hostport of the name that it binds; undefined for labels. */
  readonly hostport: string | undefined
  /** A connection to what is behind the tunnel. Rejects when the agent does not open one in time. */
  open(origin: Origin): Promise<Duplex>
}

/**
 * The tunnels that can carry traffic now. Simulated agents have tunnels too, which are stored and listed, but not here.
 */
export class LiveTunnels {
  readonly #byId = new Map<string, LiveTunnel>()
  readonly #byHostport = new Map<string, Set<LiveTunnel>>()
  readonly #onNamesChanged: () => void

  /** @param onNamesChanged called when a hostport gets its first tunnel or loses its last */
  constructor(onNamesChanged: () => void) {
    this.#onNamesChanged = onNamesChanged
  }

  add(tunnel: LiveTunnel): void {
    this.#byId.set(tunnel.id, tunnel)
    const { hostport } = tunnel
    if (hostport === undefined) return
    const bound = this.#byHostport.get(hostport) ?? new Set()
    bound.add(tunnel)
    this.#byHostport.set(hostport, bound)
    if (bound.size === 1) this.#onNamesChanged()
  }

  remove(id: string): void {
    const tunnel = this.#byId.get(id)
    if (tunnel === undefined) return
    this.#byId.delete(id)
    const { hostport } = tunnel
    const bound = hostport === undefined ? undefined : this.#byHostport.get(hostport)
    if (hostport === undefined || bound === undefined) return
    bound.delete(tunnel)
    if (bound.size > 0) return
    this.#byHostport.delete(hostport)
    this.#onNamesChanged()
  }

  get(id: string): LiveTunnel | undefined {
    return this.#byId.get(id)
  }

  /** Tunnels that bind the name of a hostport, oldest first. */
  at(hostport: string): readonly LiveTunnel[] {
    return [...(this.#byHostport.get(hostport) ?? [])]
  }

  /** Every hostport whose name a tunnel binds. */
  hostports(): readonly string[] {
    return [...this.#byHostport.keys()]
  }
}
