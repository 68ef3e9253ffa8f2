import type { KubeClient } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import type { AccountKey, AccountResource } from '../accounts/account-resource.ts'
import type { Accounts, EventSink, Resources } from '../context.ts'
import type { ResourceName } from '../cr.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { MirroredObject } from '../mirrors/mirrored.ts'
import type { Reason } from '../reasons.ts'
import type { CommandResource } from './command.ts'
import type { CommandStore } from './store.ts'

/** What commands ask of the watches. */
export interface CommandResources extends Pick<Resources, 'hasAccount'> {
  command(name: ResourceName): CommandResource | undefined
  account(key: AccountKey): AccountResource | undefined
  mirroredIn(kind: string, namespace: string): readonly MirroredObject[]
  mirrored(name: ResourceName): MirroredObject | undefined
  mirrorHolder(object: MirroredObject): AccountResource | undefined
}

/** Everything the reconciler of commands works with. */
export interface CommandContext {
  readonly kinds: KindsRegistry
  readonly resources: CommandResources
  readonly accounts: Accounts
  readonly store: CommandStore
  readonly kube: Pick<KubeClient, 'delete'>
  readonly events: EventSink
  readonly clock: Clock
  /** Whether a mirror shows what its account lists. */
  readonly isSettled: (kind: string, account: AccountResource) => boolean
}

/** The condition Complete. */
export type Said = readonly [status: 'True' | 'False' | 'Unknown', reason: Reason, message: string]
