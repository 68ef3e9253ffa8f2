import type { ObjectKey, StoredObject } from '../../store/database.ts'
import type { Store } from '../../store/emulator-store.ts'
import { textsOf } from '../../values/json.ts'

/** How clients reach an edge: TCP on a port of its own, or TLS by the name in the handshake. */
export type Protocol = 'tcp' | 'tls'

/** The edge that has a hostport; no two have the same. */
export interface EdgeKey extends ObjectKey {
  readonly protocol: Protocol
  /** Whether its hostport is a reserved address, whose host names many edges. */
  readonly isAtAddress: boolean
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { 'edges/tcp': 'tcp', 'edges/tls': 'tls' }

/**
 * The edges of all accounts by hostport. A write costs as much as the edges that it changes, however many there are.
 */
export class EdgeTable {
  readonly #store: Store
  readonly #byHostport = new Map<string, EdgeKey>()
  readonly #hostports = new Map<string, readonly string[]>()
  /** Hostports of TLS edges by their hosts. */
  readonly #tlsHosts = new Map<string, Set<string>>()
  /** Edges written since the last read; undefined when everything must be read. */
  #written: Map<string, ObjectKey> | undefined

  constructor(store: Store) {
    this.#store = store
    store.changes.watch({
      changed: (key) => {
        if (PROTOCOLS[key.collection] !== undefined) this.#written?.set(key.id, key)
      },
      cleared: () => {
        this.#written = undefined
      },
    })
  }

  /** The edge that has the hostport now. */
  at(hostport: string): EdgeKey | undefined {
    this.#refresh()
    return this.#byHostport.get(hostport)
  }

  /**
   * The hostport of the TLS edge for a name in a handshake, which says nothing of a port: the one with port 443, or
   * else the lowest.
   */
  tlsHostport(host: string): string | undefined {
    this.#refresh()
    const hostports = [...(this.#tlsHosts.get(host) ?? [])]
    return hostports.find((hostport) => hostport === `${host}:443`) ?? hostports.toSorted(byPort)[0]
  }

  /** Every hostport of an edge, with a port of its own or without. */
  hostports(hasOwnPort: boolean): readonly string[] {
    this.#refresh()
    const edges = [...this.#byHostport].filter(([hostport, edge]) => this.#hasOwnPort(hostport, edge) === hasOwnPort)
    return edges.map(([hostport]) => hostport)
  }

  /** All but those that a name in a handshake leads to: of a host with several ports, that is one. */
  #hasOwnPort(hostport: string, { protocol, isAtAddress }: EdgeKey): boolean {
    return protocol === 'tcp' || isAtAddress || this.tlsHostport(hostOf(hostport)) !== hostport
  }

  /** Must not run inside a transaction that has written edges. */
  #refresh(): void {
    const written = this.#written
    this.#written = new Map()
    if (written === undefined) {
      this.#byHostport.clear()
      this.#hostports.clear()
      this.#tlsHosts.clear()
      for (const account of this.#store.accounts()) {
        for (const collection of Object.keys(PROTOCOLS)) {
          for (const edge of this.#store.page(account, collection, Number.MAX_SAFE_INTEGER)) {
            this.#put({ account, collection, id: edge.id }, edge)
          }
        }
      }
      return
    }
    // First all that goes, then all that comes: a hostport may move from one edge to another.
    for (const id of written.keys()) this.#forget(id)
    for (const key of written.values()) {
      const edge = this.#store.get(key.account, key.collection, key.id)
      if (edge !== undefined) this.#put(key, edge)
    }
  }

  #put(key: ObjectKey, edge: StoredObject): void {
    const protocol = PROTOCOLS[key.collection]
    if (protocol === undefined) return
    const hostports = textsOf(edge.hostports)
    this.#hostports.set(key.id, hostports)
    for (const hostport of hostports) {
      const isAtAddress = this.#store.claimant({ scope: 'addr', value: hostport }) !== undefined
      this.#byHostport.set(hostport, { ...key, protocol, isAtAddress })
      if (protocol === 'tcp' || isAtAddress) continue
      const host = hostOf(hostport)
      this.#tlsHosts.set(host, (this.#tlsHosts.get(host) ?? new Set()).add(hostport))
    }
  }

  #forget(id: string): void {
    for (const hostport of this.#hostports.get(id) ?? []) {
      if (this.#byHostport.get(hostport)?.id !== id) continue
      this.#byHostport.delete(hostport)
      const host = hostOf(hostport)
      const hostports = this.#tlsHosts.get(host)
      hostports?.delete(hostport)
      if (hostports?.size === 0) this.#tlsHosts.delete(host)
    }
    this.#hostports.delete(id)
  }
}

export function hostOf(hostport: string): string {
  return hostport.slice(0, hostport.lastIndexOf(':'))
}

function byPort(one: string, other: string): number {
  return Number(one.slice(hostOf(one).length + 1)) - Number(other.slice(hostOf(other).length + 1))
}
