import type { Tracer } from '@opentelemetry/api'
import type { OpenDispatcher } from '../api/dispatcher.ts'
import type { KubeClient, KubeObject } from '../kube/types.ts'
import type { AccountKey } from '../managed/account-resource.ts'
import type { KeptKeys } from '../managed/accounts/kept-key.ts'
import type { NamespaceHolds } from '../managed/accounts/namespace-hold.ts'
import type { AccountRegistry } from '../managed/accounts/registry.ts'
import type { KindsRegistry } from '../managed/kinds-registry.ts'
import type { EventSink, ManagedContext } from '../managed/run/context.ts'
import type { Fingerprints } from '../managed/run/fingerprints.ts'
import type { SessionStore } from '../managed/sessions/session-store.ts'
import type { ResourceStore } from '../managed/store/resource-store.ts'
import type { ReconcileKey } from '../runtime/controller.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ReconcileTracing } from '../runtime/reconcile-spans.ts'
import type { Turns } from '../runtime/turns.ts'
import type { AuditLog } from '../telemetry/audit.ts'
import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'
import type { OperatorOptions } from './options.ts'
import { readyOf } from './states.ts'
import type { Watches } from './watches.ts'

/** What all controllers of an operator are made from. */
export interface ReconcilersOptions {
  readonly options: OperatorOptions
  readonly installation: string
  readonly fingerprints: Fingerprints
  readonly kinds: KindsRegistry
  /** Already synced. */
  readonly watches: Watches
  readonly store: ResourceStore
  readonly sessions: SessionStore
  readonly kube: KubeClient
  readonly metrics: Metrics
  readonly audit: AuditLog
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly random: Random
  /** Undefined in simulations. */
  readonly turns?: Turns | undefined
  /** Opens the connections to APIs. Undefined: real sockets. */
  readonly openDispatcher?: OpenDispatcher | undefined
  /** Monotonic time since when this process leads. */
  readonly leadingSince: number
  /** Throws an `ApiError` `NotLeader` when this process may not write. */
  readonly beforeApiWrite: () => void
}

/** What the controllers of accounts and of managed kinds share. */
export interface Core {
  readonly context: Pick<
    ManagedContext,
    'kinds' | 'kube' | 'installation' | 'fingerprints' | 'clock' | 'random' | 'logger' | 'events' | 'memories'
  > & { readonly resources: ResourceStore }
  readonly registry: AccountRegistry
  readonly keptKeys: KeptKeys
  /** Undefined if the operator holds no RoleBindings. */
  readonly holds: NamespaceHolds | undefined
}

/** What reconcilers other than those of managed kinds need. */
export interface Live {
  readonly registry: AccountRegistry
  readonly events: EventSink
}

/**
 * Work on accounts, mirrors and commands waits for the API most of the time, for minutes if the rate budget is small.
 * So it gets many workers, of which one namespace may occupy few, and its accounts do not delay those of others.
 */
export const WAITING = { workers: 16, maxPerGroup: 4, groupOf: ownerOf }
/**
 * How long a stop waits for reconciles before it refuses their next request. Together with the time-out of a request in
 * flight by then, the Lease is released within the ten seconds that container runtimes allow.
 */
export const STOP_MS = 3_000

export function base({ clock, random, turns, options, metrics }: ReconcilersOptions) {
  return { clock, random, turns, logger: options.logger, observer: metrics.controller, stopMs: STOP_MS }
}

export function tracing({ tracer, watches }: ReconcilersOptions): ReconcileTracing {
  const { managed, accounts, commands, composed } = watches
  return {
    tracer,
    factsOf: (key) => {
      const store = (
        managed.get(key.kind) ??
        accounts.get(key.kind) ??
        commands.get(key.kind) ??
        composed.get(key.kind)
      )?.store
      const object: KubeObject | undefined = store?.get(key)
      return object === undefined ? undefined : { uid: object.metadata.uid, reason: readyOf(object)?.reason }
    },
  }
}

/** The account that a key of an account's queue names. */
export function accountKeyOf({ kind, ...key }: ReconcileKey): AccountKey {
  return { ...key, kind: kind === 'Account' ? 'Account' : 'ClusterAccount' }
}

/** Objects of one namespace share a group; each cluster-scoped object has its own. */
function ownerOf({ kind, namespace, name }: ReconcileKey): string {
  return namespace ?? `${kind}//${name}`
}

export function driftMetrics(metrics: Metrics): ManagedContext['metrics'] {
  return { drift: (kind, field) => metrics.driftFound(kind, [field]) }
}
