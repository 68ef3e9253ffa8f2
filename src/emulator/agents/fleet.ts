import { parseAddress } from '../fields/cidr.ts'
import { type Reader, reader } from '../fields/field.ts'
import { anyObject, boolean, bytes, exactlyOne, integer, listOf, nonEmptyString, object } from '../fields/readers.ts'
import { type Services, WriteContext } from '../objects/write-context.ts'
import { parsePublicKey, publicKeyLine } from '../ssh/public-key.ts'
import type { StoredObject } from '../store/database.ts'
import { findToken } from '../store/tokens.ts'
import { isJsonObject, type JsonObject, parseStoredObject, rfc3339, textOf, textsOf } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'
import { binding } from './admission.ts'
import { dropAgent, saveAgent, startSession } from './agent-sessions.ts'
import { release, type UpdateProgress, updateProgress } from './agent-updates.ts'
import { type Agent, asAgent, SSH, UNBORN } from './stored-agent.ts'

/** The `transport` of agents' sessions (`management-api.md § Tunnel sessions`). */
const NATIVE = 'svc/v2'
/** Versions of agents by default. */
const VERSIONS: Readonly<Record<string, string>> = { [NATIVE]: '3.9.0', [SSH]: 'OpenSSH_10.0' }

/** A simulated agent as the admin surface shows it. */
export interface AgentView extends JsonObject {
  id: string
  account: string
  state: Agent['state']
  /** Null while it has no session. */
  sessionId: string | null
  credentialId: string
  transport: string
  agentVersion: string
  ip: string
  os: string
  region: string
  metadata: string
  /** `{id, labels, domain, address}`; the id is null while it has no session. */
  tunnels: JsonObject[]
  update: UpdateProgress
  /** Ids of restrictions that are not enforced and would have refused it when it last connected. */
  warnings: string[]
  /** Why it was not admitted when it came back. */
  refusal: string | null
}

/** The simulated agents of all accounts. Callers must first settle everything that is due. */
export class AgentFleet {
  readonly #services: Services
  readonly #bootAccount: () => string

  /** @param bootAccount the default account */
  constructor(services: Services, bootAccount: () => string) {
    this.#services = services
    this.#bootAccount = bootAccount
  }

  /** Connects an agent as `connectForm` says; throws a RequestError when it is not admitted. */
  connect(body: JsonObject): AgentView {
    return this.#services.store.transaction(() => this.#connect(body))
  }

  /** Disconnects the oldest agents and connects new ones, as `bulkConnectForm` says: all of it, or nothing. */
  connectMany(body: JsonObject): { sessions: string[]; disconnected: number } {
    const { agent, count, disconnect, account } = bulkConnectForm(body, 'agents')
    const template = JSON.stringify(agent)
    return this.#services.store.transaction(() => {
      const context = this.#contextOf(this.#accountNamed(account))
      const leaving = this.#services.store.oldest(context.account, 'agents', Number(disconnect))
      for (const leaver of leaving) dropAgent(leaver, context)
      const sessions = Array.from({ length: Number(count) }, (_, index) => {
        const one = parseStoredObject(template.replaceAll('{n}', String(index + 1)))
        return String(this.#connect(one).sessionId)
      })
      return { sessions, disconnected: leaving.length }
    })
  }

  /** Agents of an account, newest first, at most `limit`; older than `beforeId` when given. */
  list(account: string | undefined, limit: number, beforeId?: string): readonly AgentView[] {
    const { store } = this.#services
    const named = this.#accountNamed(account)
    return store.page(named, 'agents', limit, beforeId).map((agent) => this.#view(asAgent(agent), named))
  }

  get(id: string): AgentView {
    const { agent, account } = this.#find(id)
    return this.#view(asAgent(agent), account)
  }

  /** Removes the agent with its session and tunnels, as when its connection breaks. */
  disconnect(id: string): void {
    const { agent, account } = this.#find(id)
    this.#services.store.transaction(() => dropAgent(agent, this.#contextOf(account)))
  }

  #connect(body: JsonObject): AgentView {
    const wanted = connectForm(body, 'agent')
    const { account, credential, transport } = this.#credentialOf(wanted)
    const context = this.#contextOf(account)
    const now = context.now()
    const born: Agent = {
      ...UNBORN,
      tunnel_ids: [],
      warnings: [],
      id: this.#services.ids.next('agt'),
      created_at: rfc3339(now),
      credential_id: credential,
      transport,
      agent_version: typeof wanted.agentVersion === 'string' ? wanted.agentVersion : String(VERSIONS[transport]),
      ip: textOf(wanted, 'ip'),
      os: textOf(wanted, 'os'),
      region: textOf(wanted, 'region'),
      metadata: textOf(wanted, 'metadata'),
      bindings: Array.isArray(wanted.tunnels) ? wanted.tunnels.filter(isJsonObject) : [],
      available_versions: textsOf(wanted.availableVersions),
      update_checks: wanted.updateChecks === true,
      restart_seconds: Number(wanted.restartSeconds),
      update_seconds: Number(wanted.updateSeconds),
    }
    const agent = startSession(born, now, context)
    saveAgent(agent, context)
    return this.#view(agent, account)
  }

  /** The credential with which the agent starts its session, and its transport. */
  #credentialOf(wanted: JsonObject): { account: string; credential: string; transport: string } {
    const { store } = this.#services
    if (typeof wanted.token === 'string') {
      const { account, id } = credentialOfToken(this.#services, wanted.token)
      return { account, credential: id, transport: NATIVE }
    }
    const account = this.#accountNamed(wanted.account)
    const id =
      typeof wanted.sshCredential === 'string'
        ? store.get(account, 'ssh_credentials', wanted.sshCredential)?.id
        : this.#services.keyHolders.in(account, parsePublicKey(textOf(wanted, 'publicKey')).blob)?.id
    if (id === undefined) throw new RequestError('notFound', 'no SSH credential of the account has this id or key')
    return { account, credential: id, transport: SSH }
  }

  #accountNamed(name: unknown): string {
    if (typeof name !== 'string') return this.#bootAccount()
    if (this.#services.store.accounts().includes(name)) return name
    throw new RequestError('unknownReference', `account: there is no account ${name}`, { field: 'account', id: name })
  }

  #contextOf(account: string): WriteContext {
    return WriteContext.own(this.#services, account)
  }

  #find(id: string): { agent: StoredObject; account: string } {
    const { store } = this.#services
    for (const account of store.accounts()) {
      const agent = store.get(account, 'agents', id)
      if (agent !== undefined) return { agent, account }
    }
    throw new RequestError('notFound', `there is no agent ${id}`, { id })
  }

  #view(agent: Agent, account: string): AgentView {
    const { id, state, transport, ip, os, region, metadata, warnings, refusal } = agent
    return {
      id,
      account,
      state,
      sessionId: agent.session_id,
      credentialId: agent.credential_id,
      transport,
      agentVersion: agent.agent_version,
      ip,
      os,
      region,
      metadata,
      tunnels: agent.bindings.map((binding, index) => ({ id: agent.tunnel_ids[index] ?? null, ...binding })),
      update: updateProgress(agent, this.#services.clock.now()),
      warnings,
      refusal,
    }
  }
}

/** The tunnel credential that has this token now; tokens of API keys are not accepted. */
export function credentialOfToken({ store }: Services, token: string): { id: string; account: string } {
  const found = findToken(store, token)
  if (found === undefined || store.get(found.account, 'credentials', found.id) === undefined) {
    throw new RequestError('notFound', 'no tunnel credential has this token')
  }
  return { id: found.id, account: found.account }
}

const DAY = 86_400

const sourceAddress: Reader<string> = reader(
  { type: 'string', description: 'An IPv4 or IPv6 address.' },
  (value, at) => {
    const address = typeof value === 'string' ? parseAddress(value) : undefined
    if (address === undefined) throw invalid(at, 'must be an IPv4 or IPv6 address')
    return address.toString()
  },
)

const form = object({
  token: { read: nonEmptyString, absent: null },
  sshCredential: { read: nonEmptyString, absent: null },
  publicKey: { read: publicKeyLine, absent: null },
  account: { read: nonEmptyString, absent: null },
  tunnels: { read: listOf(binding), absent: [] },
  metadata: { read: bytes(4096), absent: '' },
  region: { read: nonEmptyString, absent: 'us' },
  os: { read: nonEmptyString, absent: 'linux' },
  ip: { read: sourceAddress, absent: '127.0.0.1' },
  agentVersion: { read: nonEmptyString, absent: null },
  availableVersions: { read: listOf(release), absent: [] },
  updateChecks: { read: boolean, absent: true },
  restartSeconds: { read: integer(0, DAY), absent: 1 },
  updateSeconds: { read: integer(0, DAY), absent: 5 },
})

/**
 * How an agent connects: exactly one of `token` (of a tunnel credential), `sshCredential` (an id) and `publicKey`, the
 * latter two in `account` (default: the one the emulator started with); the rest has defaults.
 */
export const connectForm: Reader<JsonObject> = reader(form.schema, (value, at) => {
  const read = form(value, at)
  exactlyOne(read, ['token', 'sshCredential', 'publicKey'], at)
  return read
})

const bulkForm = object({
  agent: { read: anyObject, absent: null },
  count: { read: integer(0, 100_000), absent: 0 },
  disconnect: { read: integer(0, 1_000_000), absent: 0 },
  account: { read: nonEmptyString, absent: null },
})

/**
 * Many agents at once: first the oldest `disconnect` agents of `account` disconnect, then `count` connect like `agent`.
 */
export const bulkConnectForm: Reader<JsonObject> = reader(bulkForm.schema, (value, at) => {
  const read = bulkForm(value, at)
  if (read.count !== 0 && read.agent === null) throw invalid(`${at}.agent`, 'is needed to connect any')
  return read
})
