import { accountText } from '../managed/account-resource.ts'
import { KeysInUse } from '../managed/accounts/keys-in-use.ts'
import { awaitApproval, awaitApprovalOfDeletion } from '../managed/approval/approval.ts'
import { LONG_WAIT_MS } from '../managed/cr.ts'
import { PollMemory } from '../managed/identity/read-object.ts'
import { CompanionWatches } from '../managed/outputs/companion-watches.ts'
import { ManagedReconciler } from '../managed/reconcile/managed-reconciler.ts'
import { priorityOf } from '../managed/reconcile/priority.ts'
import { withService } from '../managed/services/followed.ts'
import type { ResourceStore } from '../managed/store/resource-store.ts'
import { Controller, type ReconcileKey } from '../runtime/controller.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { Priority } from '../util/priority.ts'
import type { Division } from './claims/division.ts'
import { base, type Core, driftMetrics, type ReconcilersOptions, tracing } from './controller-parts.ts'

/** The controller of the managed kinds, with the features that are handed in to their reconciler. */
export class ManagedControl {
  readonly controller: Controller
  readonly companions: CompanionWatches
  readonly #parts: ReconcilersOptions
  readonly #core: Core

  constructor(parts: ReconcilersOptions, { claims, gate, owners }: Division, core: Core) {
    this.#parts = parts
    this.#core = core
    const { options, kinds, store, metrics, leadingSince, fingerprints } = parts
    const { requestTimeoutMs, scanPauseMs, readLagMs, workers, dnsEndpoints } = options
    this.companions = new CompanionWatches({
      base: watchBase(parts),
      kinds,
      policy: dnsEndpoints ?? { enabled: false, domains: [] },
      wake: (name) => this.wake(name, 'edit'),
    })
    const reconciler = new ManagedReconciler(
      {
        ...core.context,
        companions: this.companions,
        accounts: core.registry,
        keyDependents: new KeysInUse(core.keptKeys, store, fingerprints),
        holds: core.holds,
        amendConditions: withService,
        metrics: driftMetrics(metrics),
        leadership: {
          leadingSince: (cr) => {
            const account = store.accountKeyOf(cr)
            return account === undefined ? leadingSince : Math.max(leadingSince, claims.soleSince(account))
          },
        },
        times: { requestTimeoutMs, scanPauseMs, readLagMs },
      },
      { spec: awaitApproval, deletion: awaitApprovalOfDeletion },
    )
    this.controller = new Controller({
      ...base(parts),
      workers,
      reconcile: gate.guard(
        owners.managed,
        tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key)),
      ),
      longWaits: { afterMs: LONG_WAIT_MS, tell: gate.guardTell(owners.managed, (key) => reconciler.reportWait(key)) },
      groupOf: (key) => groupOf(store, key),
      tenantOf,
      queueObserver: metrics.queue,
    })
    const names = [...kinds.managed, ...kinds.accounts].map(({ definition }) => definition.kind)
    metrics.watchController(this.controller, names)
  }

  wake(cr: ReconcileKey, priority: Priority): void {
    this.controller.enqueue(cr, priorityOf(this.#parts.store.get(cr), priority))
  }

  /** See `AccountContext.enqueueDelayed`. */
  enqueueDelayed(cr: ReconcileKey): void {
    this.controller.enqueuePatiently(cr, priorityOf(this.#parts.store.get(cr), 'drift'))
  }

  /** Has the object of a CR read again at the API. */
  readAgain(cr: ReconcileKey): void {
    const { store, clock } = this.#parts
    const uid = store.get(cr)?.metadata.uid
    if (uid !== undefined) this.#core.context.memories.of(uid).of(PollMemory).readNow(clock.monotonic())
    this.wake(cr, 'poll')
  }
}

function watchBase({ kube, clock, random, turns, options }: ReconcilersOptions) {
  const { logger, watchSilenceMs, watchNamespaces } = options
  return { client: kube, clock, random, turns, logger, stallMs: watchSilenceMs, namespaces: watchNamespaces }
}

/**
 * Work counts against its account, so that a slow account leaves workers to the others, or else against its namespace.
 */
function groupOf(store: ResourceStore, key: ReconcileKey): string {
  const cr = store.get(key)
  const account = cr === undefined ? undefined : store.accountKeyOf(cr)
  return account === undefined ? `/${key.namespace ?? ''}/` : accountText(account)
}

/** The namespace of an Account; each ClusterAccount is its own tenant. */
function tenantOf(group: string): string {
  return group.split('/')[1] || group
}
