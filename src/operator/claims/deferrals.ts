import {
  type AccountKey,
  type AccountResource,
  accountText,
  keyOfAccount,
} from '../../managed/accounts/account-resource.ts'
import type { Logger } from '../../util/logger.ts'

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
