import { AgentFleet, type AgentView, credentialOfToken } from '../agents/fleet.ts'
import type { DnsRecord } from '../certificates/dns-table.ts'
import type { FaultSpec } from '../faults/fault-spec.ts'
import type { Faults, FaultView } from '../faults/faults.ts'
import type { ListenerView } from '../gateway/edges/edge-server.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { TrafficEntry } from '../gateway/traffic.ts'
import type { Journal, JournalEntry } from '../http/journal.ts'
import { applyDue } from '../objects/operations.ts'
import type { Services } from '../objects/write-context.ts'
import type { Delivery, DeliveryFilter } from '../store/deliveries.ts'
import type { JsonObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { BOOT_ACCOUNT, bootAccount, followStoredIds } from './bootstrap.ts'
import { type SeedResult, type SeedSpec, seed } from './seed.ts'
import { restoreSnapshot, type Snapshot, takeSnapshot, wipe } from './snapshot.ts'

/** Key in `meta` that stores the clock's offset across restarts. */
export const CLOCK_OFFSET = 'clock_offset_ms'

/** Which agents to list. */
interface AgentQuery {
  readonly account?: string | undefined
  readonly limit?: number
  readonly beforeId?: string | undefined
}

export interface AdminOptions {
  readonly services: Services
  /** Undefined for an emulator that carries no traffic. */
  readonly gateway: Gateway | undefined
  readonly faults: Faults
  readonly journal: Journal
  /** Token of the default account's key, used again after a reset. */
  readonly apiKey: string
  /** Clears state outside the store, such as rate limits. */
  readonly onReset: () => void
}

/**
 * What a test or a person may do to the emulator without going through the API. Served under `/_emulator/`, and
 * callable directly by whoever started the emulator in the same process. Everything that fell due before a change
 * happens before it.
 */
export class Admin {
  readonly #options: AdminOptions
  readonly #agents: AgentFleet

  constructor(options: AdminOptions) {
    this.#options = options
    this.#agents = new AgentFleet(options.services, () => this.account)
  }

  /** Id of the account that the emulator started with. */
  get account(): string {
    return this.#options.services.store.getMeta(BOOT_ACCOUNT) ?? ''
  }

  /** Requests with a `seq` greater than `since` (default: all remembered), oldest first. */
  journal(since = 0): readonly JournalEntry[] {
    return this.#options.journal.entries(since)
  }

  clearJournal(): void {
    this.#options.journal.clear()
  }

  addFault(spec: FaultSpec): FaultView {
    this.#applyDue()
    return this.#options.faults.add(spec)
  }

  faults(): readonly FaultView[] {
    return this.#options.faults.list()
  }

  fault(id: string): FaultView {
    return this.#options.faults.get(id) ?? unknownFault(id)
  }

  /**
   * Resolves when the fault has acted `hits` times (default 1), or with its current state after `timeoutMs` (default 30
   * s).
   */
  async waitForFault(id: string, hits = 1, timeoutMs = 30_000): Promise<FaultView> {
    return (await this.#options.faults.waitForHits(id, hits, timeoutMs)) ?? unknownFault(id)
  }

  /** Releases the requests that hang on the fault, now and later. */
  releaseFault(id: string): void {
    this.fault(id)
    this.#options.faults.release(id)
  }

  deleteFault(id: string): void {
    if (!this.#options.faults.delete(id)) unknownFault(id)
  }

  clearFaults(): void {
    this.#options.faults.clear()
  }

  /** Emulated time in milliseconds since the epoch. */
  now(): number {
    return this.#options.services.clock.now()
  }

  /** Advances emulated time; everything that falls due meanwhile happens at its own time. */
  advanceClock(seconds: number): void {
    this.#moveClock(() => this.#options.services.clock.advance(seconds))
  }

  /** Sets emulated time, in milliseconds since the epoch; it keeps running from there. */
  setClock(milliseconds: number): void {
    this.#moveClock(() => this.#options.services.clock.set(milliseconds))
  }

  /** Returns to the machine's time. */
  resetClock(): void {
    this.#moveClock(() => this.#options.services.clock.reset())
  }

  dns(): readonly DnsRecord[] {
    return this.#options.services.dns.list()
  }

  putDns(record: DnsRecord): void {
    this.#applyDue()
    this.#options.services.dns.put(record)
  }

  /** Removes the records that match all given members; without members, all of them. */
  deleteDns(match: Partial<DnsRecord> = {}): void {
    this.#applyDue()
    this.#options.services.dns.delete(match)
  }

  /** Deliveries of events that pass the filter, oldest first. */
  deliveries(filter: DeliveryFilter = {}): readonly Delivery[] {
    this.#applyDue()
    return this.#options.services.deliveries.list(filter)
  }

  clearDeliveries(): void {
    this.#applyDue()
    this.#options.services.deliveries.clear()
  }

  /** The tunnel credential that has this token now, for simulated agents; tokens of API keys are not accepted. */
  verifyCredential(token: string): { id: string; account: string } {
    return credentialOfToken(this.#options.services, token)
  }

  /** Connects a simulated agent; `docs/emulator.md § Agents` describes the body. */
  connectAgent(body: JsonObject): AgentView {
    this.#applyDue()
    return this.#agents.connect(body)
  }

  /**
   * Disconnects the `disconnect` oldest agents and connects `count` agents like `agent`, replacing `{n}` with 1, 2, …
   */
  connectAgents(body: JsonObject): { sessions: string[]; disconnected: number } {
    this.#applyDue()
    return this.#agents.connectMany(body)
  }

  /** Agents of an account (default: the one the emulator started with), newest first, including stopped ones. */
  agents({ account, limit = 100, beforeId }: AgentQuery = {}): readonly AgentView[] {
    this.#applyDue()
    return this.#agents.list(account, limit, beforeId)
  }

  agent(id: string): AgentView {
    this.#applyDue()
    return this.#agents.get(id)
  }

  /** Breaks the agent's connection and deletes the agent. */
  disconnectAgent(id: string): void {
    this.#applyDue()
    this.#agents.disconnect(id)
  }

  /** Where each hostport of an edge can be reached; none without a gateway. */
  listeners(): readonly ListenerView[] {
    this.#applyDue()
    return this.#options.gateway?.listeners() ?? []
  }

  /** Connections to edges with a `seq` greater than `since` (default: all remembered), oldest first. */
  traffic(since = 0, limit = Number.MAX_SAFE_INTEGER): readonly TrafficEntry[] {
    return this.#options.gateway?.traffic(since, limit) ?? []
  }

  clearTraffic(): void {
    this.#options.gateway?.clearTraffic()
  }

  /** The root, in PEM, of the certificates that TLS edges present. */
  async authority(): Promise<string> {
    const { gateway } = this.#options
    if (gateway === undefined) throw new RequestError('notFound', 'the emulator was started without --gateway')
    return await gateway.authority()
  }

  /** Stores objects as if they had always existed: no event is fired. */
  seed(spec: SeedSpec): SeedResult {
    this.#applyDue()
    return seed(spec, this.#options.services, this.account)
  }

  snapshot(): Snapshot {
    this.#applyDue()
    return takeSnapshot(this.#options.services.store)
  }

  restore(snapshot: JsonObject): void {
    const { services } = this.#options
    restoreSnapshot(snapshot, services)
    services.clock.restore(Number(services.store.getMeta(CLOCK_OFFSET) ?? 0))
    followStoredIds(services)
  }

  /**
   * Returns to the state of a first start: the default account with its key, no faults, an empty journal, the machine's
   * time.
   */
  reset(): void {
    const { services, faults, journal, apiKey, onReset } = this.#options
    this.#withClock(
      () => {
        services.clock.reset()
        services.ids.startOver()
      },
      () => {
        services.store.transaction(() => {
          wipe(services.store)
          bootAccount(services, apiKey)
        })
      },
    )
    faults.clear()
    journal.clear()
    onReset()
  }

  #moveClock(move: () => void): void {
    this.#applyDue()
    const { store, clock } = this.#options.services
    this.#withClock(move, () => store.setMeta(CLOCK_OFFSET, String(clock.offset)))
    this.#applyDue()
  }

  /** Time and ids must match the data file: if that cannot be written, they are restored. */
  #withClock(move: () => void, write: () => void): void {
    const { services } = this.#options
    const { clock } = services
    const before = clock.offset
    move()
    try {
      write()
    } catch (error) {
      clock.restore(before)
      followStoredIds(services)
      throw error
    }
  }

  #applyDue(): void {
    applyDue(this.#options.services)
  }
}

function unknownFault(id: string): never {
  throw new RequestError('notFound', `there is no fault ${id}`, { id })
}
