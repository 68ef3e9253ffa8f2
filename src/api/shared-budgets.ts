import type { Priority } from '../util/priority.ts'
import { type EndTurn, RateBudget, type RateBudgetOptions, type RateLimits } from './rate-budget.ts'

interface Shared {
  readonly budget: RateBudget
  /** The shares of accounts in use, with the limits that each account states. */
  readonly limits: Map<BudgetShare, RateLimits>
}

/**
 * One budget for each caller, that is, for each address and key: the API counts the requests of a key, however many
 * accounts have it. The lowest of the limits that these accounts state applies to all of them.
 */
export class SharedBudgets {
  readonly #options: RateBudgetOptions
  readonly #shared = new Map<string, Shared>()

  /** @param options of each budget, except its limits */
  constructor(options: RateBudgetOptions) {
    this.#options = options
  }

  /**
   * An account's share in the budget of its caller. A pause that the API asked for outlasts the accounts.
   *
   * @param caller identifies address and key, without containing them
   */
  join(caller: string, limits: RateLimits): BudgetShare {
    this.#forgetUnused()
    const shared = this.#shared.get(caller) ?? { budget: new RateBudget(this.#options), limits: new Map() }
    this.#shared.set(caller, shared)
    const share = new BudgetShare(shared.budget, () => {
      if (shared.limits.delete(share)) applyLowest(shared)
    })
    shared.limits.set(share, limits)
    applyLowest(shared)
    return share
  }

  #forgetUnused(): void {
    for (const [caller, { budget, limits }] of this.#shared) {
      if (limits.size === 0 && budget.heldForMs === 0) this.#shared.delete(caller)
    }
  }
}

function applyLowest({ budget, limits }: Shared): void {
  const all = [...limits.values()]
  // The limits of the last account apply to its calls that are still to end.
  if (all.length === 0) return
  budget.limitTo({
    requestsPerMinute: lowest(all.map(({ requestsPerMinute }) => requestsPerMinute)),
    burst: lowest(all.map(({ burst }) => burst)),
  })
}

function lowest(values: readonly (number | undefined)[]): number | undefined {
  const stated = values.filter((value) => value !== undefined)
  return stated.length === 0 ? undefined : Math.min(...stated)
}

/** One account's share in a budget: its calls wait their turn together with those of the other accounts. */
export class BudgetShare {
  readonly #budget: RateBudget
  readonly #leave: () => void

  constructor(budget: RateBudget, leave: () => void) {
    this.#budget = budget
    this.#leave = leave
  }

  /** As `RateBudget.heldForMs`. */
  get heldForMs(): number {
    return this.#budget.heldForMs
  }

  /** As `RateBudget.acquire`. */
  acquire(priority: Priority, signal?: AbortSignal): Promise<EndTurn> {
    return this.#budget.acquire(priority, signal, this)
  }

  /** As `RateBudget.hold`: for all accounts of the caller. */
  hold(retryAfterMs?: number): void {
    this.#budget.hold(retryAfterMs)
  }

  /** As `RateBudget.estimatedWaitMs`. */
  estimatedWaitMs(): number {
    return this.#budget.estimatedWaitMs()
  }

  /** As `RateBudget.refuseWaiting`: for all accounts of the caller. */
  refuseWaiting(reason: Error): void {
    this.#budget.refuseWaiting(reason)
  }

  /** Ends the wait of this account's calls alone: `acquire` rejects with `reason`. */
  endWaiting(reason: Error): void {
    this.#budget.refuseWaiting(reason, this)
  }

  /** The account is not in use any more: its limits no longer count. */
  leave(): void {
    this.#leave()
  }
}
