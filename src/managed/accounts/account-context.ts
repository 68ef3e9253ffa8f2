import type { BaseURLPolicy } from '../../api/base-url.ts'
import type { KubeClient } from '../../kube/types.ts'
import type { Turns } from '../../runtime/turns.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import type { AccountKey, AccountResource } from '../account-resource.ts'
import type { CustomResource, ResourceName } from '../cr.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { EventSink, ManagedMetrics } from '../run/context.ts'
import type { Fingerprints } from '../run/fingerprints.ts'
import type { Memories } from '../run/memory.ts'
import type { KeptKeys } from './kept-key.ts'
import type { NamespaceHolds } from './namespace-hold.ts'
import type { AccountRegistry } from './registry.ts'
import type { LiveSession, SessionConfig } from './session.ts'

/** Accounts and their members, as the watches have reported them. */
export interface AccountResources {
  account(key: AccountKey): AccountResource | undefined
  /** CRs whose object is, or will be, in the account. */
  membersOf(key: AccountKey): readonly CustomResource[]
  get(name: ResourceName): CustomResource | undefined
  /** Whether the CR's object is, or will be, in that account, whatever name the account has. */
  livesIn(cr: CustomResource, account: AccountKey): boolean
  /** Whether the CR's account is at the same API as another: they may be one account, opened with two keys. */
  isBeside(cr: CustomResource, account: AccountKey): boolean
  /** The CR that holds an object of the account or, for inline children, its parent. */
  holderOf(account: AccountKey, id: string): CustomResource | undefined
  childHolderOf(account: AccountKey, id: string): CustomResource | undefined
  /** CRs that issued API keys into that Secret. */
  keyIssuersOf(secret: { readonly namespace: string; readonly name: string }): readonly CustomResource[]
  record(object: AccountResource): void
}

/** Everything that the reconciler of accounts depends on. */
export interface AccountContext {
  readonly kinds: KindsRegistry
  readonly resources: AccountResources
  readonly registry: AccountRegistry
  readonly keptKeys: KeptKeys
  readonly kube: KubeClient
  readonly events: EventSink
  readonly metrics: ManagedMetrics & AccountMetrics
  readonly memories: Memories
  readonly baseURLPolicy: BaseURLPolicy
  readonly installation: string
  readonly fingerprints: Fingerprints
  /** The operator's namespace, with the Secrets of ClusterAccounts. */
  readonly operatorNamespace: string
  /** Undefined if the operator holds no RoleBindings. */
  readonly holds?: Pick<NamespaceHolds, 'hold'> | undefined
  readonly clock: Clock
  readonly random: Random
  /** Undefined in simulations. */
  readonly turns: Pick<Turns, 'next'> | undefined
  readonly logger: Logger
  /** Conditions of an account's mirrors; undefined until this process has reconciled them. */
  readonly mirrorConditions: (account: AccountKey) => readonly KindCondition[] | undefined
  /** Creates a session; the only place where a client is created. */
  openSession(key: AccountKey, config: SessionConfig): LiveSession
  /** Queues a CR of a managed kind. */
  wake(name: ResourceName, priority: 'edit' | 'drift'): void
  /**
   * Queues a CR whose object a list showed otherwise than before, but not right after its last reconcile: that may have
   * made the list itself, and a server that shows something new each time would be asked without any pause.
   */
  enqueueDelayed(name: ResourceName): void
}

export interface AccountMetrics {
  orphans(account: string, count: number): void
  /** Called when an account is gone. */
  forget(account: string): void
}
