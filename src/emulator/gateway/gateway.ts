/*
 * The emulator's data plane (`docs/emulator.md § Traffic`): agents connect to an SSH gateway, clients to edges.
 *
 * - `ssh/`: the gateway. `ssh-server` accepts clients, `waiting-room` bounds those that are not authenticated,
 *   `agent-connection` is one of them, `sessions` stores what it has; `bind` reads what a forward binds.
 * - `options`: the limits of what others can cause; `room` counts against them.
 * - `tunnels`: the tunnels that can carry traffic now.
 * - `edges/`: the clients' side. `edge-server` listens where `edge-table` says, `edge-connection` is one client from
 *   arrival to end, `edge-reader` reads from the store what holds for it; `responder` and `tls-handshake` do the
 *   I/O, `authority` issues certificates, `name-server` answers for the names. The decisions are pure: `client-hello`
 *   (which host), `verdict` and `traffic-policy` (whether), `choose-backend` (where to), `loopback-address` (where to
 *   listen); `first-bytes` reads what begins a connection, such as the header of `proxy-protocol`.
 * - `traffic`: a line for each connection.
 */
import { WindowBudget } from '../../ssh/receive-window.ts'
import type { Clock } from '../../util/clock.ts'
import { applyDue } from '../objects/operations.ts'
import type { Services } from '../objects/write-context.ts'
import { StorageError } from '../store/database.ts'
import { EdgeAuthority } from './edges/authority.ts'
import { EdgeReader } from './edges/edge-reader.ts'
import { EdgeServer, type ListenerView } from './edges/edge-server.ts'
import { EdgeTable } from './edges/edge-table.ts'
import { NameServer } from './edges/name-server.ts'
import { proxyCheck } from './edges/proxy-protocol.ts'
import { Responder } from './edges/responder.ts'
import { type GatewayLog, type GatewayOptions, LIMITS, parseListen } from './gateway-options.ts'
import { Room } from './room.ts'
import { GatewaySessions } from './ssh/gateway-sessions.ts'
import { SshServer } from './ssh/ssh-server.ts'
import { type TrafficEntry, TrafficJournal } from './traffic.ts'
import { LiveTunnels } from './tunnels.ts'

/** Where the data plane can be reached. */
export interface GatewayAddresses {
  readonly ssh: { readonly host: string; readonly port: number; readonly hostKey: string }
  /** Where TLS edges listen. */
  readonly tls: { readonly host: string; readonly port: number }
  /** Where the names of edges are answered; absent without `dnsListen`. */
  readonly dns?: { readonly host: string; readonly port: number }
}

/** The data plane of one emulator. It follows the store: whatever changes there takes effect in the same turn. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #clock: Clock
  readonly #log: GatewayLog
  readonly #sessions: GatewaySessions
  readonly #ssh: SshServer
  readonly #edges: EdgeServer
  readonly #authority: EdgeAuthority
  readonly #journal: TrafficJournal
  readonly #names: NameServer | undefined
  #isStopping: boolean = false
  /** What has changed since the end of the last turn. */
  #changes: Changes | undefined
  #addresses: GatewayAddresses | undefined

  /** @param clock the machine's: traffic does not follow the emulated time */
  constructor(services: Services, clock: Clock, options: GatewayOptions) {
    const { store, keyHolders } = services
    const limits = { ...LIMITS, ...options.limits }
    const log = printable(options.log ?? logToStandardError)
    const tunnels = new LiveTunnels(() => this.#followSoon({}))
    this.#options = options
    this.#clock = clock
    this.#log = log
    this.#sessions = new GatewaySessions(services)
    const parts = {
      sessions: this.#sessions,
      keyHolders,
      tunnels,
      clock,
      log,
      limits,
      room: new Room({ inAll: limits.sessions, each: limits.accountSessions }),
      windows: new WindowBudget(limits.windowBytes),
    }
    this.#ssh = new SshServer(store, parts)
    const table = new EdgeTable(store)
    this.#authority = new EdgeAuthority(store, () => clock.now())
    this.#journal = new TrafficJournal(limits.journal)
    const edgeParts = {
      reader: new EdgeReader(services, table, tunnels),
      tunnels,
      authority: this.#authority,
      responder: new Responder(),
      journal: this.#journal,
      clock,
      limits,
      log,
      isProxy: proxyCheck(options.proxies ?? []),
      applyDue: () => applyDue(services),
    }
    this.#edges = new EdgeServer(edgeParts, table, { address: options.edgeAddress, log })
    this.#names = options.dnsListen === undefined ? undefined : new NameServer((host) => this.#edges.addressOf(host))
    store.changes.watch({
      changed: ({ account, collection }) => {
        if (collection === 'tunnel_sessions') this.#followSoon({ sessions: true })
        else if (JUDGED_BY.has(collection)) this.#followSoon({ account })
      },
      cleared: () => this.#followSoon({ everything: true }),
    })
  }

  /** Where it listens; undefined until `start` has resolved. */
  get addresses(): GatewayAddresses | undefined {
    return this.#addresses
  }

  /** Begins to listen. Rejects when an address cannot be used. */
  async start(): Promise<void> {
    this.#follow({ sessions: true, everything: true, accounts: new Set() })
    const ssh = await this.#ssh.listen(parseListen(this.#options.sshListen ?? '127.0.0.1:2222'))
    const tls = await this.#edges.listen(parseListen(this.#options.tlsListen ?? '127.0.0.1:4443'))
    const { dnsListen } = this.#options
    const dns = dnsListen === undefined ? undefined : await this.#names?.listen(parseListen(dnsListen))
    this.#addresses = { ssh: { ...ssh, hostKey: this.#ssh.hostKey }, tls, ...(dns === undefined ? {} : { dns }) }
  }

  /** Where each hostport can be reached. */
  listeners(): readonly ListenerView[] {
    return this.#edges.listeners()
  }

  /** Connections to edges with a `seq` greater than `since`, oldest first, at most `limit`. */
  traffic(since: number, limit: number): readonly TrafficEntry[] {
    return this.#journal.entries(since, limit)
  }

  clearTraffic(): void {
    this.#journal.clear()
  }

  /** The root, in PEM, of the certificates that TLS edges present. */
  authority(): Promise<string> {
    return this.#authority.root()
  }

  /** Ends every connection and stops listening. The store must still be open. */
  async close(): Promise<void> {
    this.#isStopping = true
    await this.#names?.close()
    await this.#edges.close()
    await this.#ssh.close()
  }

  /**
   * A write is decided and committed, or rolled back, in one turn of the event loop: at the end of the turn the store
   * says what holds.
   */
  #followSoon({ sessions = false, everything = false, account }: Partial<Change>): void {
    if (this.#changes === undefined) {
      this.#changes = { sessions: false, everything: false, accounts: new Set() }
      setImmediate(() => {
        const changes = this.#changes
        this.#changes = undefined
        if (changes !== undefined && !this.#isStopping) this.#follow(changes)
      })
    }
    this.#changes.sessions ||= sessions
    this.#changes.everything ||= everything
    if (account !== undefined) this.#changes.accounts.add(account)
  }

  #follow({ sessions, everything, accounts }: Changes): void {
    try {
      if (sessions || everything) this.#ssh.checkSessions()
      if (everything) this.#sessions.dropAllBut(this.#ssh.agents())
      this.#edges.follow(everything ? undefined : accounts)
    } catch (error) {
      // The data file cannot be used now.
      if (!(error instanceof StorageError)) throw error
      this.#log(error.message)
      this.#clock.setTimer(RETRY_MS, () => this.#followSoon({ everything: true }))
    }
  }
}

interface Change {
  /** Tunnel sessions have begun or ended. */
  readonly sessions: boolean
  /** Anything may have changed. */
  readonly everything: boolean
  /** What connections are judged by has changed in this account. */
  readonly account: string
}

interface Changes {
  sessions: boolean
  everything: boolean
  readonly accounts: Set<string>
}

/** How long until a data file that could not be used is read again. */
const RETRY_MS = 1000

/** Collections by which connections are judged. */
const JUDGED_BY: ReadonlySet<string> = new Set([
  'edges/tcp',
  'edges/tls',
  'ip_policies',
  'ip_policy_rules',
  'ip_restrictions',
  'reserved_addrs',
  'reserved_domains',
])

/** The most characters of a line. */
const LONGEST_LINE = 1000

/** Lines hold what strangers have sent: they are cut, and cannot control a terminal or feign other lines. */
function printable(log: GatewayLog): GatewayLog {
  return (line) => log(line.slice(0, LONGEST_LINE).replaceAll(/[^ -~]/g, '?'))
}

const logToStandardError: GatewayLog = (line) => {
  process.stderr.write(`gateway: ${line}\n`)
}
