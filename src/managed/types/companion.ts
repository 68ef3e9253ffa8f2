import type { RemoteObject } from '../../api/types.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { Fields } from './descriptor.ts'

/** An object of another operator's type that a CR keeps beside itself, under its own name, where its spec asks for it. */
export interface Companion<Spec> {
  /** Where such objects live; the type may not be installed. */
  readonly type: ResourceType
  /** Type of the condition that tells of it. */
  readonly condition: string
  /** What to do where the type is not installed. */
  readonly remedy: string
  /** Said when there is nothing to put into one. */
  readonly notNeeded: string
  isWanted(spec: Spec): boolean
  /**
   * The fields of the object's `spec` that are Culvert's; undefined when there is nothing to put into one. `found` is the `spec` as
   * it stands: what others have put between ours is taken over.
   */
  content(spec: Spec, remote: RemoteObject, found: Fields): Fields | undefined
}
