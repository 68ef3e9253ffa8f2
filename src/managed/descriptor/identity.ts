import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Fields } from './fields.ts'

/** Where the objects of a kind are, and how the object of a CR is recognised among them. */
export interface Identity<Spec> {
  /** Every collection that may contain objects of this kind. */
  readonly collections: readonly Collection[]
  /** The collection of one CR; decided by create-only fields. */
  collectionOf(spec: Spec): Collection
  /**
   * Which field of a new object carries the marker until the id is stored. `name` for objects without metadata:
   * `desire` must then return a harmless object while `remote` is undefined, and the user's name follows as an update.
   */
  readonly markedBy: 'metadata' | 'name'
  /**
   * Names that the API allows for one object only, in words for people, from fields in the form that `observe` returns.
   * Absent: nothing is unique.
   */
  uniqueNames?(fields: Fields): readonly string[]
  /** Values by which other objects refer to an object of the kind, such as its domain. Absent: only its id. */
  valuesOf?(remote: RemoteObject): readonly string[]
}
