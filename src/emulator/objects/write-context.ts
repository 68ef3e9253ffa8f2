import type { Random } from '../../util/random.ts'
import type { DnsTable } from '../certificates/dns-table.ts'
import type { CertificateIssuer } from '../certificates/provisioning.ts'
import type { Choices } from '../choices/choices.ts'
import type { IpRestrictions } from '../restrictions/ip-restrictions.ts'
import type { KeyHolders } from '../ssh/key-holders.ts'
import type { StoredObject } from '../store/database.ts'
import type { Deliveries } from '../store/deliveries.ts'
import type { Store } from '../store/emulator-store.ts'
import type { EmulatorClock } from '../values/emulator-clock.ts'
import type { IdSource } from '../values/ids.ts'
import { unknownReference } from '../values/request-error.ts'
import type { ResourceIndex } from './resource.ts'
import { type AnswerCount, View } from './view.ts'

/** The caller of a request. */
export interface Caller {
  readonly account: string
  readonly keyId: string
  /** The user or bot that owns the key. */
  readonly ownerId: string
  readonly admin: boolean
}

/** The parts of the emulator, shared by all requests. */
export interface Services {
  readonly store: Store
  readonly clock: EmulatorClock
  readonly random: Random
  readonly ids: IdSource
  readonly resources: ResourceIndex
  readonly certificates: CertificateIssuer
  readonly dns: DnsTable
  readonly deliveries: Deliveries
  /** The restrictions of type `agent`. */
  readonly agentRestrictions: IpRestrictions
  readonly keyHolders: KeyHolders
  /** Address that the emulator listens on, for changes without a request. */
  readonly ownUrl: () => string
  /** The service's own domain, lower-cased: its subdomains need no DNS records. */
  readonly serviceDomain: string
  /** The behaviour where the contract leaves it open. */
  readonly choices: Choices
  readonly answers: AnswerCount
}

/** What the rules of a collection may use when they check a write. */
export class WriteContext {
  readonly services: Services
  readonly caller: Caller
  readonly #view: View | undefined

  /** For what the emulator does by itself, with an administrator's rights. */
  static own(services: Services, account: string): WriteContext {
    return new WriteContext(services, { account, keyId: '', ownerId: '', admin: true })
  }

  /** @param view how the caller sees objects */
  constructor(services: Services, caller: Caller, view?: View) {
    this.services = services
    this.caller = caller
    this.#view = view
  }

  /**
   * How the caller sees objects, and how events show them; for a change without a request, with the emulator's own
   * address.
   */
  get view(): View {
    return this.#view ?? new View(this.services.ownUrl(), this.services, this.account)
  }

  get account(): string {
    return this.caller.account
  }

  get store(): Store {
    return this.services.store
  }

  /** Emulated time in milliseconds. */
  now(): number {
    return this.services.clock.now()
  }

  /**
   * The object with this id in one of `collections`, or a 400 naming the field at `at` (`api-decisions.md § Requests`).
   */
  resolve(collections: readonly string[], id: string, at: string): StoredObject {
    for (const collection of collections) {
      const found = this.store.get(this.account, collection, id)
      if (found !== undefined) return found
    }
    throw unknownReference(at, id)
  }
}
