import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import type { AccountKey } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import type { CustomResource, ResourceName, TargetKey } from '../cr.ts'
import type { CompanionPolicy, OutputTarget } from '../descriptor/output.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { Fingerprints } from './fingerprints.ts'
import type { IdsInFlight } from './ids-in-flight.ts'
import type { Memories } from './memory.ts'
import type { Accounts } from './session.ts'

/**
 * CRs as the watches have reported them, plus the responses to our own writes. An id is only meaningful together with
 * its account: each API assigns its own ids, and a malicious one may return ids of other APIs. An object that one API
 * shows to two accounts is the same object in both.
 */
export interface Resources {
  get(name: ResourceName): CustomResource | undefined
  /** A namespace with its labels; undefined where namespaces are not watched. */
  namespace(name: string): KubeObject | undefined
  /** CRs of other namespaces whose specs name this CR; each once. */
  crossReferrersOf(name: ResourceName): readonly CustomResource[]
  /** The account that holds the CR's object, or will hold it. */
  accountKeyOf(cr: CustomResource): AccountKey | undefined
  /** Whether the CR's object is, or will be, in that account, whatever name the account has. */
  livesIn(cr: CustomResource, account: AccountKey): boolean
  /** CRs whose spec refers to `target`, by name or, within its account, by one of its ids; each once. */
  referrersOf(target: TargetKey): readonly CustomResource[]
  /**
   * The CR that holds `id` in that account, as its own object or as a superseded one that is still to be deleted. If
   * the statuses of several CRs name it, the one that owns it.
   */
  holderOf(account: AccountKey, id: string): CustomResource | undefined
  /** The CR whose status names that object as one of its children. */
  childHolderOf(account: AccountKey, id: string): CustomResource | undefined
  /** Whether any CR, of any account, holds an object with that id. */
  isHeld(id: string): boolean
  /** The CR of that account whose own annotation `internal.culvert.dev/id` names `id`. The seal is not checked. */
  noterOf(account: AccountKey, id: string): CustomResource | undefined
  /**
   * Locks an object that no status names yet, until `unlock`: without it, two concurrent runs could record the same
   * object in two statuses.
   * @returns the CR that already has the object, if another CR does.
   */
  lock(account: AccountKey, id: string, cr: CustomResource): CustomResource | undefined
  /** Ends the locks of the CR: by now its status records the result. */
  unlock(cr: CustomResource): void
  /** Secrets and ConfigMaps that the CR owns for its outputs, as seen by the metadata watch. */
  outputsOf(cr: CustomResource): readonly OutputTarget[]
  /** Whether an Account (in `namespace`) or ClusterAccount of that name exists. */
  hasAccount(account: AccountName, namespace: string): boolean
  /** Whether the spec of that account limits the requests per minute. */
  isPaced(account: AccountName, namespace: string): boolean
  /**
   * Records the response to one of our own writes at once, so that the next reconcile does not act on an older copy.
   */
  record(object: KubeObject): void
  /**
   * Puts what a read of the CR returned into the store, even if it is an older state: etcd may have been restored.
   * `before` is what was stored when the read began.
   */
  take(object: CustomResource, before: CustomResource | undefined): void
  /**
   * Sends a write of our own to `object` and records its response. A watch may deliver the write before its response
   * arrives; it is not treated as a change by another client and triggers no reconcile.
   */
  write<T extends KubeObject>(object: KubeObject, send: () => Promise<T>): Promise<T>
}

/** Which keys accounts use, whoever issued them. */
export interface KeyDependents {
  /**
   * `Kind/name` of an account that uses the token of object `id`, which `cr` holds. The token is identified by its
   * digest; without a digest, the result is an account at the same API that may use it, since no resource holds that
   * account's key.
   */
  dependentOf(cr: CustomResource, id: string, digest: string | undefined): Promise<string | undefined>
  /**
   * Like `dependentOf`, with the resource other than `cr` that needs the account. Of several accounts, one that is
   * needed.
   */
  useOf(cr: CustomResource, id: string, digest: string | undefined): Promise<KeyUse | undefined>
}

/** An account that uses a token. */
export interface KeyUse {
  readonly account: AccountName & { readonly namespace?: string | undefined }
  /** The other resources that are, or wait to be, in the account. */
  readonly neededBy: readonly CustomResource[]
}

/** Events about CRs, recorded on transitions only. */
export interface EventSink {
  record(
    about: KubeObject,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void
}

/** Metrics of the reconciler. */
export interface ManagedMetrics {
  drift(kind: string, field: string): void
}

/** When writes of a former leader, or of this process before a restart, can no longer take effect. */
export interface Leadership {
  /**
   * Monotonic time since when only this process has written for the CR: it became the leader, or it took the CR's
   * account from another operator later.
   */
  leadingSince(cr: CustomResource): number
}

/** Waiting times of the create protocol, in milliseconds. */
export interface ProtocolTimes {
  /** Longest time between sending a request and its last possible effect. */
  readonly requestTimeoutMs: number
  /** Pause between two lists that must agree before something counts as absent. */
  readonly scanPauseMs: number
  /** How long reads may lag behind a create: an object made by this process never counts as absent before that. */
  readonly readLagMs: number
}

/** Everything that the reconciler of managed kinds depends on. */
export interface ManagedContext {
  readonly kinds: KindsRegistry
  readonly resources: Resources
  readonly accounts: Accounts
  readonly keyDependents: KeyDependents
  readonly kube: KubeClient
  readonly companions: {
    readonly policy: CompanionPolicy
    /** Starts watching companions of that type, once the type is known to be installed. */
    watch(type: ResourceType): void
  }
  /** Adds the conditions of features above to those that a run is about to write, and removes those that ended. */
  readonly amendConditions: (conditions: readonly ConditionText[], cr: CustomResource) => readonly ConditionText[]
  readonly events: EventSink
  readonly metrics: ManagedMetrics
  readonly leadership: Leadership
  readonly memories: Memories
  readonly inFlight: IdsInFlight
  readonly times: ProtocolTimes
  /** Distinguishes this operator's objects from another's: `docs/decisions`. */
  readonly installation: string
  readonly fingerprints: Fingerprints
  /** Tells whether a namespace is being deleted, where namespaces are not watched and are held. */
  readonly holds?: { isGoing(namespace: string): Promise<boolean> } | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
