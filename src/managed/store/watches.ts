import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource, RecordedSource } from '../../runtime/object-source.ts'
import type { AccountResource } from '../accounts/account-resource.ts'
import type { CommandResource } from '../commands/command.ts'
import type { CustomResource } from '../cr.ts'
import type { MirroredObject } from '../mirrors/mirrored.ts'
import type { ServiceResource } from '../services/service.ts'
import type { TunnelResource } from '../tunnels/tunnel.ts'

/** The watches of an operator, one for each type. */
export interface Watches {
  readonly managed: ReadonlyMap<string, RecordedSource<CustomResource>>
  readonly accounts: ReadonlyMap<string, RecordedSource<AccountResource>>
  readonly mirrors: ReadonlyMap<string, RecordedSource<MirroredObject>>
  readonly commands: ReadonlyMap<string, RecordedSource<CommandResource>>
  readonly composed: ReadonlyMap<string, RecordedSource<TunnelResource>>
  /** What runs the agents of Tunnels, by kind; none while there are no agents. */
  readonly workloads: ReadonlyMap<string, RecordedSource<KubeObject>>
  /** Services of type LoadBalancer; absent while Culvert serves none. */
  readonly services?: RecordedSource<ServiceResource> | undefined
  /** Metadata only: the watch reports that a Secret changed; its content is read when needed. */
  readonly secrets: ObjectSource<KubeObject>
  /** Metadata only, like Secrets. */
  readonly configMaps: ObjectSource<KubeObject>
  /** Metadata only; undefined if only some namespaces are watched: then no ClusterAccount is watched either. */
  readonly namespaces: RecordedSource<KubeObject> | undefined
}
