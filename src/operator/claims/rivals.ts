import type { KubeClient } from '../../kube/types.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../../managed/account-resource.ts'
import type { Claim } from '../../managed/claims/claim.ts'
import { type Lease, leaseRecord, leases } from '../../runtime/lease-lock.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'

/** What was read more recently than this is not read again. Milliseconds. */
const RECENT_MS = 15_000

/** Of a term that nobody asked about for so long, nothing is known any more: terms come and go. Milliseconds. */
const FORGET_MS = 600_000

/** The Lease of another operator as last read. Monotonic times. */
interface Observed {
  /** The Lease's record; empty while there is none. */
  readonly record: string
  /** When its first answer arrived: it may have become so just before. */
  readonly since: number
  /** When the last read was sent: it was still so then. */
  readonly until: number
  /** How long a leader may be silent, according to the record. Milliseconds. */
  readonly durationMs: number
}

/**
 * Finds out whether other operators of this one's namespace are dead, by reading their Leases now and then. As in
 * leader election, a Lease is judged by whether its record changes on our own clock: the times in it are ignored.
 */
export class Rivals {
  readonly #kube: Pick<KubeClient, 'get'>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #namespace: string
  /** By the term of a claim, which is random: what was observed of an earlier leader says nothing about a later one. */
  readonly #observed = new Map<string, Observed>()

  constructor(options: {
    readonly kube: Pick<KubeClient, 'get'>
    readonly clock: Clock
    readonly logger: Logger
    /** Namespace of this operator. */
    readonly namespace: string
  }) {
    this.#kube = options.kube
    this.#clock = options.clock
    this.#logger = options.logger
    this.#namespace = options.namespace
  }

  /** Whether the Lease of that operator, `namespace/name`, is one that may be read: in this operator's namespace. */
  isReadable(operator: string): boolean {
    return operator.startsWith(`${this.#namespace}/`)
  }

  /**
   * For how long, since it was first asked about this claim, the Lease of its operator has shown no living leader, in
   * milliseconds; 0 while that is shorter than the duration of the Lease, undefined if it cannot be read.
   */
  async silentMs({ operator, term }: Claim): Promise<number | undefined> {
    if (!this.isReadable(operator)) return undefined
    const now = this.#clock.monotonic()
    for (const [each, { until }] of this.#observed) if (now - until > FORGET_MS) this.#observed.delete(each)
    const known = this.#observed.get(term)
    if (known !== undefined && now - known.until < RECENT_MS) return silence(known)
    try {
      const name = operator.slice(this.#namespace.length + 1)
      const lease = await this.#kube.get<Lease>(leases, { namespace: this.#namespace, name })
      const record = lease === undefined ? '' : leaseRecord(lease)
      const durationMs = (lease?.spec?.leaseDurationSeconds ?? 0) * 1000
      const since = known?.record === record ? known.since : this.#clock.monotonic()
      const observed = { record, since, until: now, durationMs }
      this.#observed.set(term, observed)
      return silence(observed)
    } catch (error) {
      this.#logger.warn({ operator, err: error }, 'the Lease of the operator that claims accounts cannot be read')
      return undefined
    }
  }
}

function silence({ since, until, durationMs }: Observed): number {
  const ms = until - since
  return ms > durationMs ? ms : 0
}

export interface ClaimMetrics {
  /**
   * Sets which other operator works on an account that this one selects too; undefined: none. `account` is
   * `Kind/namespace/name`.
   */
  claimedElsewhere(account: string, operator: string | undefined): void
}

/** Says once of each account that another operator works on it, although it is selected here too. */
export class Deferrals {
  readonly #metrics: ClaimMetrics
  readonly #logger: Logger
  /** The operators that were logged, by `Kind/namespace/name` and UID of the account. */
  readonly #logged = new Map<string, string>()

  constructor(metrics: ClaimMetrics, logger: Logger) {
    this.#metrics = metrics
    this.#logger = logger
  }

  /** @param operator undefined if the account is not left to another any more */
  note(account: AccountResource, operator: string | undefined): void {
    const text = accountText(keyOfAccount(account))
    const known = `${text} ${account.metadata.uid}`
    if (this.#logged.get(known) === operator) return
    this.#metrics.claimedElsewhere(text, operator)
    if (operator === undefined) {
      this.#logged.delete(known)
      return
    }
    this.#logged.set(known, operator)
    this.#logger.info({ account: text, operator }, 'another operator works on the account, which is selected here too')
  }

  /** The account is gone. */
  forget(key: AccountKey): void {
    const text = accountText(key)
    for (const known of this.#logged.keys()) if (known.startsWith(`${text} `)) this.#logged.delete(known)
    this.#metrics.claimedElsewhere(text, undefined)
  }
}
