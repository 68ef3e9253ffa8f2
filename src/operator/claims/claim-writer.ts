import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient } from '../../kube/types.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../../managed/account-resource.ts'
import { type Claim, claimOf, isSameClaim, writeClaim } from '../../managed/claims/claim.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import type { Clock } from '../../util/clock.ts'

export interface ClaimWriterOptions {
  readonly kinds: KindsRegistry
  readonly kube: Pick<KubeClient, 'mergePatch'>
  /** Longest time between sending a write and its last possible effect, in milliseconds. */
  readonly requestTimeoutMs: number
  readonly clock: Clock
}

/** What became of a claim that was written. */
export interface Written {
  /** The account as stored. */
  readonly account: AccountResource
  /**
   * Whether the claim replaced one of an earlier term of this operator: nobody else has worked on the account since.
   */
  readonly isInherited: boolean
}

/** Writes claims, and remembers what that leaves uncertain. */
export class ClaimWriter {
  readonly #options: ClaimWriterOptions
  /** Claims of earlier terms of this operator as the first lists of this term showed them, by UID of the account. */
  readonly #inherited: ReadonlyMap<string, Claim>
  /**
   * Until when a claim may still be removed by a request of this process that got no answer, by `Kind/namespace/name`.
   * Monotonic times.
   */
  readonly #unsettledUntil = new Map<string, number>()

  /** @param accounts as the first lists of this term showed them */
  constructor(options: ClaimWriterOptions, operator: string, accounts: readonly AccountResource[]) {
    this.#options = options
    this.#inherited = new Map(
      accounts.flatMap((account) => {
        const claim = claimOf(account)
        return claim?.operator === operator ? [[account.metadata.uid, claim] as const] : []
      }),
    )
  }

  /** Replaces the claim of an account. @throws KubeError as `writeClaim` */
  async write(account: AccountResource, wanted: Claim | undefined): Promise<Written> {
    const claim = claimOf(account)
    const isInherited = claim !== undefined && isSameClaim(claim, this.#inherited.get(account.metadata.uid))
    return { account: await writeClaim(this.#options, account, wanted), isInherited }
  }

  /** Removes the claim of an account. @throws KubeError as `writeClaim` */
  async remove(account: AccountResource): Promise<AccountResource> {
    const { clock, requestTimeoutMs } = this.#options
    const text = accountText(keyOfAccount(account))
    try {
      const removed = await writeClaim(this.#options, account, undefined)
      this.#unsettledUntil.delete(text)
      return removed
    } catch (error) {
      if (!isOutdated(error)) this.#unsettledUntil.set(text, clock.monotonic() + requestTimeoutMs)
      throw error
    }
  }

  /** Monotonic time from which on a list shows whether the claim of an account is still there. */
  settledFrom(key: AccountKey): number {
    return Math.max(this.#options.clock.monotonic(), this.#unsettledUntil.get(accountText(key)) ?? 0)
  }

  /** The account is gone. */
  forget(key: AccountKey): void {
    this.#unsettledUntil.delete(accountText(key))
  }
}

/** Whether somebody changed the account first, so that a write of ours was certainly not carried out. */
export function isOutdated(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound')
}
