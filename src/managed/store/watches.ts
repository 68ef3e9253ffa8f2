import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource, RecordedSource } from '../../runtime/object-source.ts'
import type { AccountResource } from '../account-resource.ts'
import type { CustomResource } from '../cr.ts'

/** The watches of the core, one for each type. Features above it have further ones. */
export interface CoreWatches {
  readonly managed: ReadonlyMap<string, RecordedSource<CustomResource>>
  readonly accounts: ReadonlyMap<string, RecordedSource<AccountResource>>
  /** Metadata only: the watch reports that a Secret changed; its content is read when needed. */
  readonly secrets: ObjectSource<KubeObject>
  /** Metadata only, like Secrets. */
  readonly configMaps: ObjectSource<KubeObject>
  /** Metadata only; undefined if only some namespaces are watched: then no ClusterAccount is watched either. */
  readonly namespaces: RecordedSource<KubeObject> | undefined
}
