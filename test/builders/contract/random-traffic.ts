import { connect as connectTls, type SecureVersion } from 'node:tls'
import { seededRandom } from '../seeded-random.ts'
import type { Resource } from './api-client.ts'
import { type KeyedCertificate, newClientAuthority } from './client-certificates.ts'
import { proxyHeader } from './proxy-header.ts'
import { closed, dial, type Place } from './tcp-peers.ts'
import type { TrafficWorld } from './traffic-world.ts'

type Body = Readonly<Record<string, unknown>>

/** What a connection is made with. */
export interface Attempt {
  readonly place: Place
  readonly protocol: 'tcp' | 'tls'
  readonly host: string
  readonly port: number
  readonly source: string
  /** A different one for each. */
  readonly sourcePort: number
  readonly version: (typeof VERSIONS)[number]
  readonly client: KeyedCertificate | undefined
}

const VERSIONS = ['1.0', '1.1', '1.2', '1.3'] as const
const SECURE: Readonly<Record<string, SecureVersion>> = {
  '1.0': 'TLSv1',
  '1.1': 'TLSv1.1',
  '1.2': 'TLSv1.2',
  '1.3': 'TLSv1.3',
}
const EXPRESSIONS = [
  "conn.client_ip.startsWith('10.0.1')",
  "conn.client_ip == '10.0.2.1'",
  'conn.client_port % 2 == 0',
  'conn.client_port % 3 > 0',
  'conn.server_port == 443',
  "conn.server_name.startsWith('host-') && conn.protocol == 'tls'",
  'true',
  'false',
  'conn.nothing == 1',
  "'text'",
]
const GROUPS = [{ app: 'first' }, { app: 'second' }, { app: 'none' }, { app: 'first', tier: 'none' }]
/** Random set-ups and connections; the same seed draws the same. */
export class Draw {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seededRandom(seed).next
  }

  below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }

  chance(share: number): boolean {
    return this.#next() < share
  }

  /** @param items not empty */
  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  some<T>(items: readonly T[], most: number): readonly T[] {
    const wanted = 1 + this.below(most)
    return [...new Set(Array.from({ length: wanted }, () => this.one(items)))]
  }

  address(): string {
    const ipv4 = `10.0.${this.below(4)}.${this.below(4)}`
    return this.one([ipv4, ipv4, `2001:db8::${this.below(16).toString(16)}`, `::ffff:${ipv4}`])
  }

  /** In canonical form. */
  cidr(): string {
    return this.one([
      '0.0.0.0/0',
      '::/0',
      `10.0.${this.below(4)}.0/24`,
      `10.0.${2 * this.below(2)}.0/23`,
      `10.0.${this.below(4)}.${this.below(4)}/32`,
      `10.0.${this.below(4)}.${2 * this.below(2)}/31`,
      `2001:db8::${this.one(['0', '4', '8', 'c'])}/126`,
      `2001:db8::${this.below(16).toString(16)}/128`,
    ]).replace('::0/', '::/')
  }

  trafficRule(number: number): Body {
    const actions = this.one([['deny'], ['deny'], ['log'], ['custom-response'], ['log', 'deny']])
    return {
      ...(this.chance(0.7) ? { name: `rule ${number}` } : {}),
      expressions: this.some(EXPRESSIONS, 2),
      actions: actions.map((type) => ({ type })),
    }
  }
}

/** An edge that listens, whatever its modules are. */
interface PooledEdge extends Pick<Attempt, 'place' | 'protocol' | 'host' | 'port'> {
  readonly id: string
}

/** Objects of which random set-ups are made, on an emulator with agents. */
export class Pool {
  readonly #world: TrafficWorld
  readonly #edges: readonly PooledEdge[]
  readonly #policies: readonly Resource[]
  readonly #authorities: readonly Resource[]
  readonly #backends: readonly string[]
  readonly #clients: readonly (KeyedCertificate | undefined)[]

  private constructor(
    world: TrafficWorld,
    parts: {
      readonly edges: readonly PooledEdge[]
      readonly policies: readonly Resource[]
      readonly authorities: readonly Resource[]
      readonly backends: readonly string[]
      readonly clients: readonly (KeyedCertificate | undefined)[]
    },
  ) {
    this.#world = world
    this.#edges = parts.edges
    this.#policies = parts.policies
    this.#authorities = parts.authorities
    this.#backends = parts.backends
    this.#clients = parts.clients
  }

  /** @param port of what the agents lead to */
  static async create(world: TrafficWorld, port: number): Promise<Pool> {
    const { key } = await world.newCredential()
    await world.online(key, `app=first:1:127.0.0.1:${port}`, `app=second:1:127.0.0.1:${port}`)
    const names = ['one', 'two', 'stranger']
    const made = await Promise.all(names.map((name) => newClientAuthority(name)))
    const authorities: Resource[] = []
    for (const { caPem } of made.slice(0, 2)) {
      authorities.push(await world.api.create('certificate_authorities', { ca_pem: caPem }))
    }
    return new Pool(world, {
      edges: await edgesOf(world),
      policies: await policiesOf(world),
      authorities,
      backends: await backendsOf(world),
      clients: [undefined, ...made.map(({ client }) => client)],
    })
  }

  /** Draws new modules and restrictions, and new rules of a policy. */
  async change(draw: Draw): Promise<void> {
    const { api } = this.#world
    for (const { id } of await api.all('/ip_restrictions', 'ip_restrictions'))
      await api.remove(`/ip_restrictions/${id}`)
    for (let left = draw.one([0, 0, 1, 2]); left > 0; left -= 1) {
      const ip_policy_ids = draw.some(this.#policies, 3).map(({ id }) => id)
      await api.create('ip_restrictions', { type: 'endpoints', enforced: draw.chance(0.7), ip_policy_ids })
    }
    await this.#changePolicy(draw, draw.one(this.#policies).id)
    for (const edge of this.#edges) await api.update(`edges/${edge.protocol}`, edge.id, this.#modules(draw, edge))
  }

  async #changePolicy(draw: Draw, policy: string): Promise<void> {
    const { api } = this.#world
    for (const { id, ip_policy } of await api.all('/ip_policy_rules', 'ip_policy_rules')) {
      if ((ip_policy as Resource).id === policy) await api.remove(`/ip_policy_rules/${id}`)
    }
    await addRules(this.#world, draw, policy)
  }

  #modules(draw: Draw, { protocol }: PooledEdge): Body {
    const off = { enabled: false }
    const termination = draw.one([
      off,
      { enabled: true },
      { enabled: true, terminate_at: 'edge', min_version: draw.one([null, '1.0', '1.1', 'tls1.2', '1.3']) },
      { enabled: true, terminate_at: 'edge', min_version: draw.one(['1.2', '1.3']) },
      { enabled: true, terminate_at: 'upstream' },
    ])
    const passes = 'terminate_at' in termination && termination.terminate_at === 'upstream'
    const rules = Array.from({ length: 1 + draw.below(2) }, (_, index) => draw.trafficRule(index))
    const authorities = draw.some(this.#authorities, 2).map(({ id }) => id)
    const policies = draw.some(this.#policies, 3).map(({ id }) => id)
    return {
      backend: draw.chance(0.07) ? off : { enabled: true, backend_id: draw.one(this.#backends) },
      ip_restriction: draw.chance(0.5)
        ? { ...off, ip_policy_ids: policies }
        : { enabled: true, ip_policy_ids: policies },
      policy: passes || draw.chance(0.6) ? off : { enabled: true, [draw.one(['inbound', 'outbound'])]: rules },
      ...(protocol === 'tcp'
        ? {}
        : {
            tls_termination: termination,
            mutual_tls: passes || draw.chance(0.5) ? off : { enabled: true, certificate_authority_ids: authorities },
          }),
    }
  }

  /** A connection to one of the edges, or to a name that no edge has. */
  attempt(draw: Draw, number: number): Attempt {
    const tls = this.#edges.filter(({ protocol }) => protocol === 'tls')
    const edge = draw.chance(0.8) ? draw.one(tls) : draw.one(this.#edges)
    const isLost = edge.protocol === 'tls' && draw.chance(0.06)
    const { place, protocol, port } = edge
    return {
      place,
      protocol,
      port,
      host: isLost ? `nobody-${draw.below(9)}.tunnel.example` : edge.host,
      source: draw.address(),
      sourcePort: 1024 + (number % 60_000),
      version: draw.one([...VERSIONS, '1.2', '1.3', '1.3']),
      client: draw.one(this.#clients),
    }
  }
}

async function edgesOf(world: TrafficWorld): Promise<readonly PooledEdge[]> {
  const edges: PooledEdge[] = []
  for (let left = 3; left > 0; left -= 1) {
    const { edge, hostport, address, port } = await world.tcpEdge({})
    const at = hostport.lastIndexOf(':')
    const host = hostport.slice(0, at)
    edges.push({ id: edge.id, protocol: 'tcp', host, port: Number(hostport.slice(at + 1)), place: { address, port } })
  }
  const certificate_id = await world.admin.seedTlsCertificate('of a custom domain')
  const bodies: readonly Body[] = [
    ...Array.from({ length: 5 }, () => ({ domain: world.serviceDomain() })),
    { domain: world.customDomain(), certificate_id },
    { domain: world.customDomain() },
  ]
  for (const body of bodies) {
    await world.api.create('reserved_domains', body)
    const hostport = `${body.domain}:443`
    const { id } = await world.api.create('edges/tls', { hostports: [hostport] })
    edges.push({ id, protocol: 'tls', host: String(body.domain), port: 443, place: await world.listener(hostport) })
  }
  return edges
}

async function policiesOf(world: TrafficWorld): Promise<readonly Resource[]> {
  const draw = new Draw(0)
  const policies: Resource[] = []
  for (let left = 16; left > 0; left -= 1) {
    const policy = await world.api.create('ip_policies', {})
    await addRules(world, draw, policy.id)
    policies.push(policy)
  }
  return policies
}

async function addRules(world: TrafficWorld, draw: Draw, policy: string): Promise<void> {
  const ranges = new Set(Array.from({ length: draw.below(5) }, () => draw.cidr()))
  const open = draw.chance(0.7) ? ['0.0.0.0/0', '::/0'] : []
  for (const cidr of new Set([...ranges, ...open])) {
    const action = open.includes(cidr) || draw.chance(0.6) ? 'allow' : 'deny'
    await world.api.create('ip_policy_rules', { ip_policy_id: policy, cidr, action })
  }
}

/** Groups with and without tunnels, a fixed response, and random backends of these and of each other. */
async function backendsOf({ api }: TrafficWorld): Promise<readonly string[]> {
  const draw = new Draw(0)
  const ids: string[] = []
  for (const labels of GROUPS) ids.push((await api.create('backends/tunnel_group', { labels })).id)
  ids.push((await api.create('backends/http_response', { body: 'fixed' })).id)
  for (let left = 12; left > 0; left -= 1) {
    const children = draw.some(ids, 4)
    const weights = Object.fromEntries(children.map((id) => [id, draw.one([0, 1, 30, 70, 10_000])]))
    const [path, backends] = left % 2 === 0 ? ['weighted', weights] : ['failover', children]
    ids.push((await api.create(`backends/${path}`, { backends })).id)
  }
  return ids
}

/** Makes the connection, from behind a proxy at that address, and resolves when it is closed. */
export async function carryOut(attempt: Attempt, proxy: string): Promise<void> {
  const { place, protocol, host, source, sourcePort, version, client } = attempt
  const raw = await dial(place, proxy)
  raw.write(proxyHeader({ source, sourcePort }))
  const request = 'GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n'
  if (protocol === 'tcp') raw.resume().end(request)
  else {
    const socket = connectTls({
      socket: raw,
      servername: host,
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      maxVersion: SECURE[version],
      ciphers: 'DEFAULT@SECLEVEL=0',
      ...client,
    })
    // Refused clients fail in many ways, which the journal of the gateway explains.
    socket.on('error', () => raw.destroy()).once('secureConnect', () => socket.resume().end(request))
  }
  await closed(raw)
}

/** Runs `work` for each item, some at one time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
