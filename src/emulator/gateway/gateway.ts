/*
 * The emulator's data plane (`docs/emulator.md § Traffic`): agents connect to an SSH gateway, clients to edges.
 *
 * - `ssh/`: the gateway. `ssh-server` accepts clients, `agent-connection` is one of them, `sessions` stores what it has;
 *   `bind` reads what a forward binds, `tunnel-stream` is one connection through a tunnel.
 * - `tunnels`: the tunnels that can carry traffic now.
 */
import type { Clock } from '../../util/clock.ts'
import type { Services } from '../objects/write-context.ts'
import { parseListen } from '../options.ts'
import { type GatewayLog, type GatewayOptions, LIMITS } from './options.ts'
import { GatewaySessions } from './ssh/sessions.ts'
import { SshServer } from './ssh/ssh-server.ts'
import { LiveTunnels } from './tunnels.ts'

/** Where the data plane can be reached. */
export interface GatewayAddresses {
  readonly ssh: { readonly host: string; readonly port: number; readonly hostKey: string }
}

/** The data plane of one emulator. It follows the store: whatever changes there takes effect in the same turn. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #sessions: GatewaySessions
  readonly #ssh: SshServer
  #isStopping: boolean = false
  #isDue: boolean = false
  #addresses: GatewayAddresses | undefined

  /** @param clock the machine's: traffic does not follow the emulated time */
  constructor(services: Services, clock: Clock, options: GatewayOptions) {
    const { store, keyHolders } = services
    const limits = { ...LIMITS, ...options.limits }
    const log = options.log ?? logToStandardError
    const tunnels = new LiveTunnels(() => this.#followSoon())
    this.#options = options
    this.#sessions = new GatewaySessions(services)
    const parts = {
      sessions: this.#sessions,
      keyHolders,
      tunnels,
      clock,
      log,
      mostBinds: limits.binds,
      openMs: limits.openMs,
    }
    this.#ssh = new SshServer(store, parts, limits)
    store.changes.watch({
      changed: ({ collection }) => {
        if (FOLLOWED.has(collection)) this.#followSoon()
      },
      cleared: () => this.#followSoon(),
    })
  }

  /** Where it listens; undefined until `start` has resolved. */
  get addresses(): GatewayAddresses | undefined {
    return this.#addresses
  }

  /** Begins to listen. Rejects when an address cannot be used. */
  async start(): Promise<void> {
    this.#follow()
    const ssh = await this.#ssh.listen(parseListen(this.#options.sshListen ?? '127.0.0.1:2222'))
    this.#addresses = { ssh: { ...ssh, hostKey: this.#ssh.hostKey } }
  }

  /** Ends every connection and stops listening. The store must still be open. */
  async close(): Promise<void> {
    await this.#ssh.close()
    this.#isStopping = true
  }

  /**
   * A write is decided and committed, or rolled back, in one turn of the event loop: at the end of the turn the store
   * says what holds.
   */
  #followSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      if (!this.#isStopping) this.#follow()
    })
  }

  #follow(): void {
    this.#ssh.checkSessions()
    this.#sessions.dropAllBut(this.#ssh.agents())
  }
}

/** Collections whose changes concern traffic. */
const FOLLOWED: ReadonlySet<string> = new Set(['tunnel_sessions'])

const logToStandardError: GatewayLog = (line) => {
  process.stderr.write(`gateway: ${line}\n`)
}
