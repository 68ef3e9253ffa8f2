import type { KubeClient, KubeObject } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import type { AccountKey, AccountResource } from '../account-resource.ts'
import type { OwnedObjects } from '../composed/owned-objects.ts'
import type { CustomResource, ResourceName } from '../cr.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { EventSink } from '../run/context.ts'
import type { TunnelPolicy } from './policy.ts'
import type { TunnelResource } from './tunnel-resource.ts'

export interface TunnelResources {
  get(name: ResourceName): CustomResource | undefined
  account(key: AccountKey): AccountResource | undefined
  tunnel(name: ResourceName): TunnelResource | undefined
  /** Puts the answer to a write into the store at once. */
  record(object: KubeObject): void
}

export interface TunnelContext {
  readonly kinds: KindsRegistry
  readonly resources: TunnelResources
  readonly objects: OwnedObjects
  /** Undefined: there are no agents. */
  readonly policy: TunnelPolicy | undefined
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch'>
  readonly events: EventSink
  readonly clock: Clock
}
