import type { BudgetShare } from '../api/shared-budgets.ts'
import { AccountReconciler } from '../managed/accounts/account-reconciler.ts'
import { LONG_WAIT_MS } from '../managed/cr.ts'
import { objectKeys } from '../managed/markers/object-keys.ts'
import type { MirrorReports } from '../managed/sessions/mirror-report.ts'
import { wakeReleased } from '../managed/store/wakeups.ts'
import { Controller, type ReconcileKey } from '../runtime/controller.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { Priority } from '../util/priority.ts'
import type { Division } from './claims/division.ts'
import {
  accountKeyOf,
  base,
  type Core,
  driftMetrics,
  type ReconcilersOptions,
  tracing,
  WAITING,
} from './controller-parts.ts'
import type { ManagedControl } from './managed-control.ts'
import { sessionFactory } from './sessions.ts'

/** The controller of Accounts and ClusterAccounts, and the sessions that it opens. */
export class AccountControl {
  readonly controller: Controller
  readonly reconciler: AccountReconciler
  /** What sessions share of the rate budget of an address and key. */
  readonly budgets: Map<string, BudgetShare> = new Map()

  constructor(
    parts: ReconcilersOptions,
    { claims, gate, owners }: Division,
    { core, managed, mirrorReports }: { core: Core; managed: ManagedControl; mirrorReports: MirrorReports },
  ) {
    const { options, kinds, store, metrics } = parts
    const wake = {
      managed: (cr: ReconcileKey, priority: Priority) => managed.wake(cr, priority),
      account: (account: ReconcileKey, priority: Priority) => this.wake(account, priority),
    }
    this.reconciler = new AccountReconciler({
      ...core.context,
      registry: core.registry,
      keptKeys: core.keptKeys,
      holds: core.holds,
      metrics: {
        ...driftMetrics(metrics),
        orphans: (account, count) => metrics.setOrphans(account, count),
        forget: (account) => metrics.forgetAccount(account),
      },
      mirrorConditions: (account) => mirrorReports.of(account),
      baseURLPolicy: options.baseURLPolicy,
      operatorNamespace: options.namespace,
      turns: parts.turns,
      openSession: sessionFactory({
        kinds,
        keysOf: objectKeys(kinds),
        store,
        metrics,
        audit: parts.audit,
        tracer: parts.tracer,
        clock: parts.clock,
        random: parts.random,
        fingerprints: parts.fingerprints,
        proxies: options.proxies,
        openDispatcher: parts.openDispatcher,
        requestTimeoutMs: options.requestTimeoutMs,
        apiRequests: options.apiRequests,
        beforeWrite: (key) => {
          parts.beforeApiWrite()
          claims.assertOurs(key)
        },
        onLostKey: (session, key) => wakeReleased({ kinds, store, wake }, session, key),
        recheck: (key) => this.wake(key, 'poll'),
        budgets: this.budgets,
      }),
      wake: (cr, priority) => managed.wake(cr, priority),
      enqueueDelayed: (cr) => managed.enqueueDelayed(cr),
    })
    this.controller = new Controller({
      ...base(parts),
      ...WAITING,
      reconcile: gate.guard(
        owners.account,
        tracedReconcile(tracing(parts), (key) => this.reconciler.reconcile(accountKeyOf(key))),
      ),
      longWaits: {
        afterMs: LONG_WAIT_MS,
        tell: gate.guardTell(owners.account, (key) => this.reconciler.reportWait(accountKeyOf(key))),
      },
    })
  }

  wake(account: ReconcileKey, priority: Priority): void {
    this.controller.enqueue(account, priority)
    if (priority === 'edit') void this.reconciler.noticeChange(accountKeyOf(account))
  }
}
