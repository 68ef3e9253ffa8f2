import { collections } from '../../api/collections.ts'
import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Backend, Edge, IpRule, Known, Read, Session, Source, TrafficRule, World } from '../../judging/world.ts'
import { listOf, objectOf, refId, refIds, textOf, textsOf } from '../../kinds/building-blocks/remote.ts'

/** What is known of a collection of an account. */
export interface KnownObjects {
  readonly objects: ReadonlyMap<string, RemoteObject>
  /** Why there may be others; undefined if these are all. */
  readonly others?: string | undefined
}

/** The objects of an account: as read live, as a plan would leave them, or as far as resources of a cluster show them. */
export interface AccountView {
  objects(collection: Collection): Promise<KnownObjects>
  /** How an object is shown, with what is known about it. */
  sourceOf(object: RemoteObject): Source
  /** Why what the service itself decides about an object, such as its tunnels, is not known; undefined if it is. */
  undecided(object: RemoteObject): string | undefined
  /** Why a policy may have further rules; undefined if all are in their collection. */
  furtherRules(policy: RemoteObject): string | undefined
  /** The sessions of the Tunnels that serve a group. */
  sessionsOf(group: RemoteObject): Promise<readonly Session[]>
}

/** Which edge is asked about: what serves a hostport, or one that the view names, at its first hostport or at a host. */
export type AskedEdge =
  | { readonly host: string; readonly port: number }
  | { readonly isAsked: (object: RemoteObject) => boolean; readonly host?: string | undefined }

/** Reads what decides about connections to an edge. */
export async function readWorld(view: AccountView, asked: AskedEdge): Promise<World> {
  const reader = new WorldReader(view)
  const edge = await reader.edge(asked)
  const value = 'unknown' in edge ? undefined : edge.value
  const restrictions = await reader.restrictions()
  const used = restrictions.flatMap((each) => ('unknown' in each ? [] : each.value.policies))
  const [policies, authorities, backends] = await Promise.all([
    reader.policies([...used, ...(value?.policies ?? [])]),
    reader.authorities(value?.authorities ?? []),
    reader.backends(value?.backend === undefined ? [] : [value.backend]),
  ])
  const certificate: World['certificate'] =
    value?.protocol === 'tls' ? await reader.certificate(value.host) : { unknown: 'only TLS edges have one' }
  return { edge, restrictions, policies, authorities, certificate, backends }
}

const BACKENDS = [
  collections.tunnelGroupBackends,
  collections.httpResponseBackends,
  collections.weightedBackends,
  collections.failoverBackends,
] as const

class WorldReader {
  readonly #view: AccountView

  constructor(view: AccountView) {
    this.#view = view
  }

  async edge(asked: AskedEdge): Promise<World['edge']> {
    const lists = [
      ['tcp', await this.#view.objects(collections.tcpEdges)],
      ['tls', await this.#view.objects(collections.tlsEdges)],
    ] as const
    for (const [protocol, { objects }] of lists) {
      for (const object of objects.values()) {
        const place = placeOf(object, asked)
        if (place === undefined) {
          if (!('isAsked' in asked && asked.isAsked(object))) continue
          return this.#read(object, undefined)
        }
        return this.#read(object, { ...edgeIn(object, protocol), ...place })
      }
    }
    const others = lists.map(([, known]) => known.others).find((each) => each !== undefined)
    return others === undefined ? { value: undefined, source: { name: 'the account' } } : { unknown: others }
  }

  async restrictions(): Promise<World['restrictions']> {
    const { objects, others } = await this.#view.objects(collections.ipRestrictions)
    const known = [...objects.values()].filter(({ type }) => type === 'endpoints')
    return [
      ...known.map((object) => {
        const { id, enforced, ip_policies } = object
        return this.#read(object, { id, isEnforced: enforced === true, policies: refIds(ip_policies) })
      }),
      ...(others === undefined ? [] : [{ unknown: others }]),
    ]
  }

  async policies(ids: readonly string[]): Promise<World['policies']> {
    if (ids.length === 0) return new Map()
    const [policies, rules] = await Promise.all([
      this.#view.objects(collections.ipPolicies),
      this.#view.objects(collections.ipPolicyRules),
    ])
    const byPolicy = Map.groupBy(rules.objects.values(), ({ ip_policy }) => refId(ip_policy))
    return new Map(
      ids.flatMap((id): readonly [string, Read<readonly Known<IpRule>[]>][] => {
        const policy = policies.objects.get(id)
        if (policy === undefined) {
          // A deleted policy has no rules.
          return policies.others === undefined
            ? []
            : [[id, { value: [{ unknown: policies.others }], source: { name: id } }]]
        }
        const source = this.#view.sourceOf(policy)
        const known = (byPolicy.get(id) ?? []).map((rule) => {
          const { command = source.command } = this.#view.sourceOf(rule)
          return { value: ruleIn(rule), source: { ...source, command } }
        })
        const unknown = this.#view.furtherRules(policy)
        return [[id, { value: unknown === undefined ? known : [...known, { unknown }], source }]]
      }),
    )
  }

  async authorities(ids: readonly string[]): Promise<World['authorities']> {
    if (ids.length === 0) return new Map()
    const { objects, others } = await this.#view.objects(collections.certificateAuthorities)
    const found = new Map<string, Known<string>>()
    for (const id of ids) {
      const object = objects.get(id)
      const pem = textOf(object?.ca_pem)
      if (object !== undefined && pem !== undefined) found.set(id, this.#read(object, pem))
      else if (object !== undefined)
        found.set(id, { unknown: `the PEM of ${this.#view.sourceOf(object).name} was not read` })
      else if (others !== undefined) found.set(id, { unknown: others })
    }
    return found
  }

  /** The service has certificates for its own names, which need no CNAME (`management-api.md § Domains`). */
  async certificate(host: string): Promise<Known<boolean>> {
    const { objects, others } = await this.#view.objects(collections.reservedDomains)
    const names = [host, host.replace(/^[^.]+/, '*')]
    const domains = [...objects.values()]
    const domain = names
      .map((name) => domains.find((each) => textOf(each.domain)?.toLowerCase() === name))
      .find(Boolean)
    if (domain !== undefined) {
      const undecided = this.#view.undecided(domain)
      if (undecided !== undefined) return { unknown: undecided }
      return this.#read(domain, refId(domain.certificate) !== undefined || textOf(domain.cname_target) === undefined)
    }
    // What is no domain is a reserved address, which is the service's own.
    return others === undefined ? { value: true, source: { name: 'the service' } } : { unknown: others }
  }

  async backends(ids: readonly string[]): Promise<World['backends']> {
    const found = new Map<string, Known<Backend>>()
    const lists = ids.length === 0 ? [] : await Promise.all(BACKENDS.map((each) => this.#view.objects(each)))
    const others = lists.map((known) => known.others).find((each) => each !== undefined)
    for (const left = [...ids]; left.length > 0; ) {
      const id = left.pop() ?? ''
      const at = lists.findIndex(({ objects }) => objects.has(id))
      const object = lists[at]?.objects.get(id)
      if (found.has(id) || (object === undefined && others === undefined)) continue
      const backend: Known<Backend> =
        object === undefined
          ? { unknown: others ?? '' }
          : this.#read(object, await this.#backendIn(object, BACKENDS[at]))
      found.set(id, backend)
      if (!('unknown' in backend)) left.push(...childrenOf(backend.value))
    }
    return found
  }

  async #backendIn(object: RemoteObject, collection: Collection | undefined): Promise<Backend> {
    switch (collection) {
      case collections.httpResponseBackends:
        return { type: 'response' }
      case collections.weightedBackends:
        return {
          type: 'weighted',
          children: Object.entries(objectOf(object.backends) ?? {}).map(([id, weight]) => [id, Number(weight)]),
        }
      case collections.failoverBackends:
        return { type: 'failover', children: textsOf(object.backends) }
      default: {
        const unknown = this.#view.undecided(object)
        const tunnels = unknown === undefined ? this.#read(object, refIds(object.tunnels).length) : { unknown }
        return { type: 'group', tunnels, sessions: await this.#view.sessionsOf(object) }
      }
    }
  }

  #read<T>(object: RemoteObject, value: T): Read<T> {
    return { value, source: this.#view.sourceOf(object) }
  }
}

function placeOf(object: RemoteObject, asked: AskedEdge): { readonly host: string; readonly port: number } | undefined {
  const places = textsOf(object.hostports).map(parseHostport)
  if ('isAsked' in asked) {
    return asked.isAsked(object)
      ? places.find(({ host }) => asked.host === undefined || host === asked.host)
      : undefined
  }
  return places.find(({ host, port }) => host === asked.host && port === asked.port)
}

/** `host:port`, the host in lower case. */
function parseHostport(text: string): { readonly host: string; readonly port: number } {
  const at = text.lastIndexOf(':')
  return { host: text.slice(0, at).toLowerCase(), port: Number(text.slice(at + 1)) }
}

function edgeIn(object: RemoteObject, protocol: Edge['protocol']): Omit<Edge, 'host' | 'port'> {
  const restriction = enabled(object.ip_restriction)
  const policy = enabled(object.policy)
  const termination = enabled(object.tls_termination)
  const mutual = enabled(object.mutual_tls)
  return {
    protocol,
    policies: restriction && refIds(restriction.ip_policies),
    trafficRules:
      policy?.unread === true
        ? { unknown: 'the rules of its traffic policy are known only with the key of the account' }
        : policy && [policy.inbound, policy.outbound].flatMap(listOf).map(trafficRuleIn),
    termination: termination && {
      at: termination.terminate_at === 'upstream' ? 'upstream' : 'edge',
      minVersion: textOf(termination.min_version),
    },
    authorities: mutual && refIds(mutual.certificate_authorities),
    backend: refId(enabled(object.backend)?.backend),
  }
}

/** A module that is set and enabled, which it is when unspecified. */
function enabled(module: unknown): Readonly<Record<string, unknown>> | undefined {
  const fields = objectOf(module)
  return fields?.enabled === false ? undefined : fields
}

function trafficRuleIn(value: unknown): TrafficRule {
  const { name, expressions, actions } = objectOf(value) ?? {}
  const types = listOf(actions).map((action) => String(objectOf(action)?.type))
  return { name: textOf(name), expressions: textsOf(expressions), actions: types }
}

function ruleIn({ id, cidr, action }: RemoteObject): IpRule {
  return { id, cidr: String(cidr), action: action === 'allow' ? 'allow' : 'deny' }
}

function childrenOf(backend: Backend): readonly string[] {
  if (backend.type === 'weighted') return backend.children.map(([id]) => id)
  return backend.type === 'failover' ? backend.children : []
}
