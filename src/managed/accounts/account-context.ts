import type { BaseURLPolicy } from '../../api/base-url.ts'
import type { KubeClient } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import type { CustomResource, ResourceName } from '../cr.ts'
import type { NamespaceHolds } from '../delete/namespace-hold.ts'
import type { KindCondition } from '../descriptor/descriptor.ts'
import type { Fingerprints } from '../inputs/fingerprints.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { EventSink, ManagedMetrics } from '../reconcile/context.ts'
import type { Memories } from '../reconcile/memory.ts'
import type { AccountKey, AccountResource } from './account-resource.ts'
import type { KeptKeys } from './kept-key.ts'
import type { AccountRegistry } from './registry.ts'
import type { LiveSession, SessionConfig } from './session.ts'

/** The CRs of accounts, as the watches know them. */
export interface AccountResources {
  account(key: AccountKey): AccountResource | undefined
  /** CRs that live in the account or are to. */
  membersOf(key: AccountKey): readonly CustomResource[]
  get(name: ResourceName): CustomResource | undefined
  /** Whether the CR's object is, or is to be, in that account, whatever the account is called. */
  livesIn(cr: CustomResource, account: AccountKey): boolean
  /** Whether the CR's account is at the same API as another: they may be one account that two keys open. */
  isBeside(cr: CustomResource, account: AccountKey): boolean
  /** The CR that holds an object of the account or, for inline children, its parent. */
  holderOf(account: AccountKey, id: string): CustomResource | undefined
  childHolderOf(account: AccountKey, id: string): CustomResource | undefined
  /** CRs that have issued keys of the API into that Secret. */
  keyIssuersOf(secret: { readonly namespace: string; readonly name: string }): readonly CustomResource[]
  record(object: AccountResource): void
}

/** Everything the reconciler of accounts works with. */
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
  /** Namespace of the operator: where the Secrets of ClusterAccounts live. */
  readonly operatorNamespace: string
  /** Undefined where no RoleBinding of a namespace is held. */
  readonly holds?: Pick<NamespaceHolds, 'hold'> | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** What mirrors have to say of an account; undefined while none of this process has looked. */
  readonly mirrorConditions: (account: AccountKey) => readonly KindCondition[] | undefined
  /** Makes a session; the only place where a client is built. */
  openSession(key: AccountKey, config: SessionConfig): LiveSession
  /** Queues a CR of a managed kind. */
  wake(name: ResourceName, priority: 'edit' | 'drift'): void
}

export interface AccountMetrics {
  orphans(account: string, count: number): void
  /** The account is gone. */
  forget(account: string): void
}
