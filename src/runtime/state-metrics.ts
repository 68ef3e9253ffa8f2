import { Gauge, type Registry } from '@prometheus-io/client'

/** How a resource stands, by its conditions Ready and Synced. */
export interface ResourceState {
  readonly kind: string
  /** `True`, `False` or `Unknown`. */
  readonly ready: string
  /** The same of Synced; empty where the resource has no such condition. */
  readonly synced: string
  /**
   * Of the first of the two that is not True, else of Ready; `Paused` of whatever is paused. There are a few dozen; empty while nobody has
   * looked at the resource.
   */
  readonly reason: string
}

/** How an account stands, by its condition Ready. */
export interface AccountState {
  /** `Kind/namespace/name`. */
  readonly account: string
  readonly ready: string
  readonly reason: string
}

/** How much of an account's rate budget is used. */
export interface BudgetState {
  /** `Kind/namespace/name`. */
  readonly account: string
  /** How long a call of the least urgent sort, made now, would wait. */
  readonly waitSeconds: number
}

/** Where the figures come from, each read whenever metrics are scraped. */
export interface StateSources {
  readonly resources: () => Iterable<ResourceState>
  readonly accounts: () => Iterable<AccountState>
  readonly budgets: () => Iterable<BudgetState>
}

/** Shows how resources, accounts and their budgets stand. */
export function watchStates(registry: Registry, { resources, accounts, budgets }: StateSources): void {
  const registers: [Registry] = [registry]
  new Gauge({
    name: 'culvert_resources',
    help: 'Custom resources, by their conditions Ready and Synced, and the reason of the first of them that is not True, or Paused.',
    labelNames: ['kind', 'ready', 'synced', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const { kind, ready, synced, reason } of resources()) this.inc({ kind, ready, synced, reason })
    },
  })
  new Gauge({
    name: 'culvert_account_state',
    help: 'Always 1; the labels say how the account stands, by its condition Ready.',
    labelNames: ['account', 'ready', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const { account, ready, reason } of accounts()) this.set({ account, ready, reason }, 1)
    },
  })
  new Gauge({
    name: 'culvert_rate_limit_backlog_seconds',
    help: 'How long a call to the management API of the least urgent sort would wait for the rate budget now.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account, waitSeconds } of budgets()) this.set({ account }, waitSeconds)
    },
  })
}
