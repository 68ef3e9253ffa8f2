import { Gauge, type Registry } from '@prometheus-io/client'

/** State of a resource, from its conditions Ready and Synced. */
export interface ResourceState {
  readonly kind: string
  /** `True`, `False` or `Unknown`. */
  readonly ready: string
  /** The same for Synced; empty if the resource has no such condition. */
  readonly synced: string
  /**
   * Reason of the first of the two that is not True, else of Ready; `Paused` for anything paused. There are a few dozen
   * values; empty before the first reconcile.
   */
  readonly reason: string
}

/** How many resources are in one state. */
export interface CountedState {
  readonly state: ResourceState
  readonly count: number
}

/** State of an account, from its condition Ready. */
export interface AccountState {
  /** `Kind/namespace/name`. */
  readonly account: string
  readonly ready: string
  readonly reason: string
}

/** How far an account's rate budget is used up. */
export interface BudgetState {
  /** `Kind/namespace/name`. */
  readonly account: string
  /** How long a call with the lowest priority would wait if made now. */
  readonly waitSeconds: number
}

/** Sources of the figures, each read at each scrape. */
export interface StateSources {
  readonly resources: () => Iterable<CountedState>
  readonly accounts: () => Iterable<AccountState>
  readonly budgets: () => Iterable<BudgetState>
}

/** Exposes the state of resources, accounts and their budgets. */
export function watchStates(registry: Registry, { resources, accounts, budgets }: StateSources): void {
  const registers: [Registry] = [registry]
  new Gauge({
    name: 'culvert_resources',
    help: 'Custom resources, by the status of their conditions Ready and Synced, and the reason of the first that is not True, or Paused.',
    labelNames: ['kind', 'ready', 'synced', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const { state, count } of resources()) {
        const { kind, ready, synced, reason } = state
        this.set({ kind, ready, synced, reason }, count)
      }
    },
  })
  new Gauge({
    name: 'culvert_account_state',
    help: 'Always 1; the labels are the status and reason of the condition Ready.',
    labelNames: ['account', 'ready', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const { account, ready, reason } of accounts()) this.set({ account, ready, reason }, 1)
    },
  })
  new Gauge({
    name: 'culvert_rate_limit_backlog_seconds',
    help: 'How long a call of the lowest priority to the management API would currently wait for the rate budget.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account, waitSeconds } of budgets()) this.set({ account }, waitSeconds)
    },
  })
}
