import { expect, vi } from 'vitest'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import type { EmulatorOptions } from '../../../src/emulator/emulator-options.ts'
import { ApiClient, type Resource } from './api-client.ts'
import { type SshAgent, SshAgents, type SshKeyFile } from './ssh-agent.ts'
import { type RunningEmulator, World } from './world.ts'

type Limits = NonNullable<NonNullable<EmulatorOptions['gateway']>['limits']>

type Body = Readonly<Record<string, unknown>>

/** Where a hostport can be reached. */
export interface Listener {
  readonly hostport: string
  readonly protocol: string
  readonly edge: string | null
  readonly address: string
  readonly port: number
  readonly error: string | null
}

/** A line of the traffic journal. */
export interface Connection {
  readonly seq: number
  readonly hostport: string | null
  readonly edge: string | null
  readonly source: string
  readonly sourcePort: number
  readonly proxy: string | null
  readonly verdict: string | null
  readonly rule: string | null
  readonly reason: string
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
  readonly backend: string | null
  readonly tunnel: string | null
  readonly bytesIn: number
  readonly bytesOut: number
  readonly end: string | null
}

export interface ReachableEdge {
  readonly edge: Resource
  readonly hostport: string
  readonly address: string
  readonly port: number
}

/** An emulator that carries traffic, on free ports, with OpenSSH clients as agents. */
export class TrafficWorld extends World {
  readonly gateway: NonNullable<RunningEmulator['gateway']>
  readonly agents: SshAgents
  /** What the gateway has logged. */
  readonly log: readonly string[]
  readonly #surface: ApiClient

  constructor(emulator: RunningEmulator, agents: SshAgents, log: readonly string[]) {
    super(emulator)
    if (emulator.gateway === undefined) throw new Error('the emulator has no gateway')
    this.gateway = emulator.gateway
    this.agents = agents
    this.#surface = new ApiClient(emulator.adminUrl, emulator.adminToken)
    this.log = log
  }

  /** A new key, and the SSH credential that has it. */
  async newCredential(body: Body = {}): Promise<{ key: SshKeyFile; credential: Resource }> {
    const key = await this.agents.newKey()
    const credential = await this.api.create('ssh_credentials', { public_key: key.publicKey, ...body })
    return { key, credential }
  }

  /** Another account gets an SSH credential with that key. */
  async strangerWithKey({ publicKey }: SshKeyFile): Promise<void> {
    const stranger = new ApiClient(this.url, await this.admin.seedAccount('stranger'))
    await stranger.create('ssh_credentials', { public_key: publicKey })
  }

  /** Runs `ssh -N -R …` with that key. */
  connect(key: SshKeyFile, ...forwards: readonly string[]): Promise<SshAgent> {
    return this.agents.connect(this.gateway.ssh, key, ...forwards)
  }

  /** The same, and resolves once all of them are tunnels. */
  async online(key: SshKeyFile, ...forwards: readonly string[]): Promise<SshAgent> {
    const tunnels = (): number => this.log.filter((line) => line.includes(' is tunnel ')).length
    const wanted = tunnels() + forwards.length
    const agent = await this.connect(key, ...forwards)
    await vi.waitFor(() => expect(tunnels()).toBeGreaterThanOrEqual(wanted), { timeout: 20_000 })
    return agent
  }

  sessions(): Promise<readonly Resource[]> {
    return this.api.all('/tunnel_sessions', 'tunnel_sessions')
  }

  /** An edge on a new reserved address, which listens already. */
  async tcpEdge(body: Body): Promise<ReachableEdge> {
    const { addr } = await this.api.create('reserved_addrs', {})
    const edge = await this.api.create('edges/tcp', { hostports: [addr], ...body })
    const { address, port } = await this.listener(String(addr))
    return { edge, hostport: String(addr), address, port }
  }

  /** An edge on a new domain of the service. */
  async tlsEdge(body: Body): Promise<ReachableEdge & { readonly host: string }> {
    const { domain } = await this.api.create('reserved_domains', { domain: this.serviceDomain() })
    const hostport = `${domain}:443`
    const edge = await this.api.create('edges/tls', { hostports: [hostport], ...body })
    const { address, port } = await this.listener(hostport)
    return { edge, hostport, host: String(domain), address, port }
  }

  /** Where the hostport can be reached, once it can. */
  async listener(hostport: string): Promise<Listener> {
    const find = async (): Promise<Listener | undefined> =>
      (await this.listeners()).find((each) => each.hostport === hostport)
    return await vi.waitFor(
      async () => {
        const found = await find()
        if (found?.error !== null) throw new Error(`${hostport} is not served: ${found?.error}`)
        return found
      },
      { timeout: 20_000, interval: 20 },
    )
  }

  async listeners(): Promise<readonly Listener[]> {
    return (await this.#surface.object(200, 'GET', '/listeners')).listeners as readonly Listener[]
  }

  /** Connections to an edge, oldest first. */
  async trafficOf(edge: { readonly id: string }): Promise<readonly Connection[]> {
    return (await this.connections()).filter((each) => each.edge === edge.id)
  }

  /** Every connection, oldest first. */
  async connections(): Promise<readonly Connection[]> {
    const found: Connection[] = []
    for (let since = 0; ; ) {
      const page = (await this.#surface.object(200, 'GET', `/traffic?limit=1000&since=${since}`)).connections
      const connections = page as readonly Connection[]
      found.push(...connections)
      const last = connections.at(-1)
      if (last === undefined) return found
      since = last.seq
    }
  }

  /** Forgets the connections so far. */
  async clearConnections(): Promise<void> {
    expect((await this.#surface.call('DELETE', '/traffic')).status).toBe(204)
  }

  /** The root of the certificates that TLS edges present, in PEM. */
  async rootPem(): Promise<string> {
    return String((await this.#surface.object(200, 'GET', '/authority')).pem)
  }

  /** The emulator as after a first start. */
  async reset(): Promise<void> {
    expect((await this.#surface.call('POST', '/reset')).status).toBe(204)
  }

  override async close(): Promise<void> {
    await this.agents.close()
    await super.close()
  }
}

export interface TrafficOptions {
  /** The data file; in memory by default. */
  readonly data?: string
  /** Where all TCP edges listen. */
  readonly edgeAddress?: string
  /** Where the SSH gateway listens; on a free port by default. */
  readonly sshListen?: string
  /** Where connections begin with a header that names the client. */
  readonly proxies?: readonly string[]
  /** Where DNS queries are answered. */
  readonly dnsListen?: string
  /** What the contract leaves open, which the test may change. */
  readonly choices?: EmulatorOptions['choices']
}

/** Starts an emulator that carries traffic, with an empty account. */
export async function startTrafficWorld(limits: Limits = {}, options: TrafficOptions = {}): Promise<TrafficWorld> {
  const { choices, data, dnsListen, edgeAddress, proxies = [], sshListen = '127.0.0.1:0' } = options
  const log: string[] = []
  const gateway = {
    sshListen,
    tlsListen: '127.0.0.1:0',
    log: (line: string) => log.push(line),
    limits,
    proxies,
    ...(dnsListen === undefined ? {} : { dnsListen }),
    ...(edgeAddress === undefined ? {} : { edgeAddress }),
  }
  const emulator = await startEmulator({
    gateway,
    ...(data === undefined ? {} : { data }),
    ...(choices === undefined ? {} : { choices }),
  })
  return new TrafficWorld(emulator, await SshAgents.start(), log)
}
