import { admitAgent } from '../../agents/admission.ts'
import { addTunnel, dropAgent, removeTunnel, saveAgent, startSession } from '../../agents/agent-sessions.ts'
import { type Agent, asAgent, SSH, UNBORN } from '../../agents/stored-agent.ts'
import { applyDue } from '../../objects/operations.ts'
import { type Services, WriteContext } from '../../objects/write-context.ts'
import { isReserved } from '../../resources/edges.ts'
import { rfc3339 } from '../../values/json.ts'
import { RequestError } from '../../values/request-error.ts'
import { type Binding, hostportOf } from './bind.ts'

/** Where the gateway's clients appear to be; the contract's default region. */
const REGION = 'us'

/** A client that may start a session. */
export interface Login {
  readonly account: string
  /** Its SSH credential. */
  readonly credential: string
  readonly ip: string
}

/** The stored agent of a client, by which its session is found. */
export interface SessionKey {
  readonly account: string
  readonly agent: string
  readonly session: string
}

/**
 * The sessions of the gateway's clients, in the same collections as those of simulated agents. Every method that writes
 * is one transaction, and first settles what is due.
 */
export class GatewaySessions {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  /** Checks that the credential may start a session from that address; throws a RequestError that says why not. */
  admit({ account, credential, ip }: Login): void {
    applyDue(this.#services)
    admitAgent({ credential_id: credential, ip, bindings: [] }, account, this.#services)
  }

  /** Starts a session without tunnels. Throws a RequestError when it is not admitted. */
  open({ account, credential, ip }: Login, version: string): SessionKey {
    return this.#write(account, (context) => {
      const now = context.now()
      const born: Agent = {
        ...UNBORN,
        connected: true,
        tunnel_ids: [],
        warnings: [],
        id: context.services.ids.next('agt'),
        created_at: rfc3339(now),
        credential_id: credential,
        transport: SSH,
        agent_version: version,
        ip,
        os: '',
        region: REGION,
        metadata: '',
        bindings: [],
        available_versions: [],
        update_checks: true,
        restart_seconds: 0,
        update_seconds: 0,
      }
      const agent = startSession(born, now, context)
      saveAgent(agent, context)
      return { account, agent: agent.id, session: String(agent.session_id) }
    })
  }

  /**
   * Adds a tunnel to a session and returns its id. Throws a RequestError when the session has ended, the ACL does not
   * permit it, or a name is not reserved in the account.
   */
  bind(key: SessionKey, binding: Binding): string {
    return this.#write(key.account, (context) => {
      const agent = this.#agent(key)
      if (agent?.session_id !== key.session) throw new RequestError('notFound', 'the session has ended')
      const added = addTunnel(agent, binding, context.now(), context)
      const hostport = hostportOf(binding)
      if (hostport !== undefined && !isReserved(hostport, context)) {
        throw new RequestError('bindForbidden', `${hostport} is not reserved in the account of ${agent.credential_id}`)
      }
      saveAgent(added.agent, context)
      return added.tunnel
    })
  }

  /** Removes a tunnel of a session; nothing happens if either has ended. */
  unbind(key: SessionKey, tunnel: string): void {
    this.#write(key.account, (context) => {
      const agent = this.#agent(key)
      if (agent?.session_id === key.session) saveAgent(removeTunnel(agent, tunnel, context), context)
    })
  }

  /** Ends a session, when its connection has ended. */
  close(key: SessionKey): void {
    this.#write(key.account, (context) => {
      const agent = this.#agent(key)
      if (agent !== undefined) dropAgent(agent, context)
    })
  }

  /** Whether the session exists: it does not after the stop command. */
  isOnline({ account, session }: SessionKey): boolean {
    return this.#services.store.get(account, 'tunnel_sessions', session) !== undefined
  }

  /** Removes the sessions that are stored without a connection: of an earlier run, or from a snapshot. */
  dropAllBut(connected: ReadonlySet<string>): void {
    const { store } = this.#services
    for (const account of store.accounts()) {
      const agents = store.page(account, 'agents', Number.MAX_SAFE_INTEGER).map(asAgent)
      const orphans = agents.filter((agent) => agent.connected && !connected.has(agent.id))
      if (orphans.length === 0) continue
      this.#write(account, (context) => {
        for (const orphan of orphans) dropAgent(orphan, context)
      })
    }
  }

  #agent({ account, agent }: SessionKey): Agent | undefined {
    const stored = this.#services.store.get(account, 'agents', agent)
    return stored === undefined ? undefined : asAgent(stored)
  }

  #write<T>(account: string, work: (context: WriteContext) => T): T {
    applyDue(this.#services)
    const context = WriteContext.own(this.#services, account)
    return this.#services.store.transaction(() => work(context))
  }
}
