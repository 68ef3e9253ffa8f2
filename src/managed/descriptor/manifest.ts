import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Ref } from './common.ts'
import type { Fields } from './fields.ts'

/** How a remote object is exported as a spec that changes nothing when applied. */
export interface ManifestWriter {
  /** What people know the object by, the best first: its resource is named after it. Texts of any content. */
  namedAfter(remote: RemoteObject): readonly (string | undefined)[]
  /**
   * The spec without the fields that all kinds share. What has the contract's default is left out, and so is a field
   * whose value is undefined.
   */
  specOf(remote: RemoteObject, view: ManifestView): Fields
  /**
   * Why the object can only be observed, as the API does not show everything that its spec has to say; undefined if it
   * can be managed. Absent: it always can.
   */
  observeOnly?(remote: RemoteObject): string | undefined
  /** Whether another object's spec describes this one, so that it needs none of its own. Absent: never. */
  isPartOf?(remote: RemoteObject, view: Pick<ManifestView, 'siblings' | 'whole'>): boolean
}

/** What else a spec depends on. */
export interface ManifestView {
  /** Where the object is. */
  readonly collection: Collection
  /** Name that its resource gets. */
  readonly name: string
  /** A reference to the object with that id: by name if it is written down too, else by id. */
  ref(kind: string, id: string): Ref
  /** Name of the object of that kind with that value (`valuesOf`); undefined if none is written down. */
  nameOfValue(kind: string, value: string): string | undefined
  /** Inline children, for kinds that have them. */
  readonly children: readonly RemoteObject[]
  /** The object that a part belongs to. */
  whole(id: string): RemoteObject | undefined
  /** The other children of the object that a part belongs to, with the part. */
  siblings(parentId: string): readonly RemoteObject[]
}
