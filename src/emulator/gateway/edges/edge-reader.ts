import { coveringNames } from '../../fields/hostname.ts'
import { digestsIn } from '../../fields/pem.ts'
import { type Services, WriteContext } from '../../objects/write-context.ts'
import { tlsVersionNamed } from '../../resources/edge-modules.ts'
import { isReserved } from '../../resources/edges.ts'
import { IpPolicies, IpRestrictions } from '../../restrictions/ip-restrictions.ts'
import type { StoredObject } from '../../store/database.ts'
import { isJsonObject, type Json, type JsonObject, textsOf } from '../../values/json.ts'
import type { LiveTunnels } from '../tunnels.ts'
import type { CertificateKeyType } from './authority.ts'
import { type BackendNode, type Target, targetsOf } from './choose-backend.ts'
import { type EdgeTable, hostOf, type Protocol } from './edge-table.ts'
import { applyPolicy, type ConnectionFacts } from './traffic-policy.ts'
import { TLS_VERSIONS, type TlsTerms, type TlsVersion, type Verdict, verdictOf } from './verdict.ts'

/** What serves a hostport now: an edge, or agents that bind its name. */
export interface Endpoint {
  readonly hostport: string
  readonly protocol: Protocol
  readonly account: string
  /** Undefined for a name that agents bind themselves. */
  readonly edge: StoredObject | undefined
}

/** The certificate that an edge presents. */
export interface CertificateChoice {
  readonly id: string
  readonly name: string
  readonly type: CertificateKeyType
}

/** The safe default (`management-api.md § Edges and backends`). */
const DEFAULT_VERSION = '1.2'
/** How many backends are remembered to have a turn. */
const MOST_TURNS = 10_000

/** Reads from the store what holds for a connection at this moment. */
export class EdgeReader {
  readonly #services: Services
  readonly #edges: EdgeTable
  readonly #tunnels: LiveTunnels
  readonly #restrictions: IpRestrictions
  readonly #policies: IpPolicies
  readonly #turns = new Map<string, number>()

  constructor(services: Services, edges: EdgeTable, tunnels: LiveTunnels) {
    this.#services = services
    this.#edges = edges
    this.#tunnels = tunnels
    this.#restrictions = new IpRestrictions(services.store, 'endpoints', services.choices)
    this.#policies = new IpPolicies(services.store, services.choices)
  }

  /** What serves the hostport; undefined when nothing does. An edge comes before agents that bind its name. */
  endpointAt(hostport: string): Endpoint | undefined {
    const key = this.#edges.at(hostport)
    if (key !== undefined) {
      const edge = this.#services.store.get(key.account, key.collection, key.id)
      return edge === undefined ? undefined : { hostport, protocol: key.protocol, account: key.account, edge }
    }
    const account = this.#boundBy(hostport)
    return account === undefined
      ? undefined
      : { hostport, protocol: hostport.endsWith(':443') ? 'tls' : 'tcp', account, edge: undefined }
  }

  /** What serves the name that a client gives in a TLS handshake. */
  endpointNamed(host: string): Endpoint | undefined {
    return this.endpointAt(this.#edges.tlsHostport(host) ?? `${host}:443`)
  }

  verdict({ account, edge }: Pick<Endpoint, 'account' | 'edge'>, facts: ConnectionFacts): Verdict {
    const { source } = facts
    const restriction = enabled(edge?.ip_restriction)
    const policy = enabled(edge?.policy)
    const decisions = {
      restriction: restriction && this.#policies.decide(account, textsOf(restriction.ip_policy_ids), source),
      policy: policy && applyPolicy(policy, facts),
    }
    const order = this.#services.choices['judging-order'] === 'edge-first' ? 'edge-first' : 'account-first'
    return verdictOf(this.#restrictions.judge(account, source), decisions, order)
  }

  /**
   * How TLS is set up. It ends at the edge unless `tls_termination`, or the default, says otherwise: modules that are
   * enabled must be able to act. A name that agents bind themselves passes through.
   */
  terms(endpoint: Endpoint): TlsTerms {
    const { edge } = endpoint
    const termination = enabled(edge?.tls_termination)
    const authorities = this.authorities(endpoint)
    const byDefault = authorities === undefined ? this.#services.choices['termination-default'] : 'edge'
    return {
      endsAtEdge: edge !== undefined && (termination?.terminate_at ?? byDefault) !== 'upstream',
      trusted: authorities && new Set(authorities.flatMap(digestsIn)),
      minVersion: versionOf(termination?.min_version),
    }
  }

  /** Whether TLS is set up before the source is judged. */
  get isHandshakeFirst(): boolean {
    return this.#services.choices['judging-order'] === 'handshake-first'
  }

  /** The certificate for the host of an edge; undefined when its domain has none. */
  certificate({ hostport, account }: Endpoint): CertificateChoice | undefined {
    const { store, serviceDomain } = this.#services
    const host = hostOf(hostport)
    const owners = coveringNames(host).map((value) => store.claimant({ scope: 'domain', value }))
    const owner = owners.find((each) => each?.account === account)
    const domain = owner && store.get(account, 'reserved_domains', owner.id)
    const policy = domain?.certificate_management_policy
    const type = isJsonObject(policy) && policy.private_key_type === 'rsa' ? 'rsa' : 'ecdsa'
    const name = typeof domain?.domain === 'string' ? domain.domain : host
    if (typeof domain?.certificate_id === 'string') return { id: domain.certificate_id, name, type }
    // The service has certificates for the names below its own domain.
    return host.endsWith(`.${serviceDomain}`) ? { id: 'service', name: host, type: 'ecdsa' } : undefined
  }

  /**
   * The PEM of the authorities of which one must have issued the client's certificate; undefined if none is asked for.
   */
  authorities({ account, edge }: Endpoint): readonly string[] | undefined {
    const mutual = enabled(edge?.mutual_tls)
    if (mutual === undefined) return undefined
    const pemOf = (id: string) => this.#services.store.get(account, 'certificate_authorities', id)?.ca_pem
    return textsOf(mutual.certificate_authority_ids)
      .map(pemOf)
      .filter((pem) => typeof pem === 'string')
  }

  /** Where the connection may go, in order. */
  targets({ account, edge, hostport }: Endpoint): Generator<Target, void> {
    const sources = {
      turn: (id: string) => this.#turn(id),
      random: () => this.#services.random.next(),
      fallsBack: this.#services.choices['weighted-fallback'] === 'others',
    }
    if (edge === undefined) {
      const tunnels = this.#tunnels.at(hostport).filter((tunnel) => tunnel.account === account)
      const bound: BackendNode = { kind: 'tunnels', tunnels: tunnels.map(({ id }) => id) }
      return targetsOf(hostport, { ...sources, read: () => bound })
    }
    const backend = enabled(edge.backend)?.backend_id
    return targetsOf(String(backend), { ...sources, read: (id) => this.#node(account, id) })
  }

  /** The fixed content of an HTTP response backend; undefined when it is gone. */
  response(account: string, backend: string): JsonObject | undefined {
    const found = this.#services.store.get(account, 'backends/http_response', backend)
    return (
      found && this.#services.resources.byPath('backends/http_response')?.render(found, this.#context(account).view)
    )
  }

  #boundBy(hostport: string): string | undefined {
    const accounts = this.#tunnels.at(hostport).map(({ account }) => account)
    return accounts.find((account) => isReserved(hostport, this.#context(account)))
  }

  #node(account: string, id: string): BackendNode | undefined {
    const { store } = this.#services
    const group = store.get(account, 'backends/tunnel_group', id)
    if (group !== undefined) {
      const tunnels = isJsonObject(group.labels) ? store.labelled(account, group.labels) : []
      return { kind: 'tunnels', tunnels: tunnels.filter((tunnel) => this.#tunnels.get(tunnel) !== undefined) }
    }
    if (store.get(account, 'backends/http_response', id) !== undefined) return { kind: 'response' }
    const weighted = store.get(account, 'backends/weighted', id)
    if (weighted !== undefined) {
      const children = isJsonObject(weighted.backends) ? Object.entries(weighted.backends) : []
      return { kind: 'weighted', children: children.map(([child, weight]) => [child, Number(weight)] as const) }
    }
    const failover = store.get(account, 'backends/failover', id)
    return failover && { kind: 'failover', children: textsOf(failover.backends) }
  }

  #turn(id: string): number {
    const turn = this.#turns.get(id) ?? 0
    if (this.#turns.size >= MOST_TURNS) this.#turns.clear()
    this.#turns.set(id, turn + 1)
    return turn
  }

  #context(account: string): WriteContext {
    return WriteContext.own(this.#services, account)
  }
}

/** A module that is set and enabled. */
function enabled(module: Json | undefined): JsonObject | undefined {
  return isJsonObject(module) && module.enabled === true ? module : undefined
}

function versionOf(value: Json | undefined): TlsVersion {
  const named = typeof value === 'string' ? tlsVersionNamed(value) : undefined
  return TLS_VERSIONS.find((version) => version === named) ?? DEFAULT_VERSION
}
