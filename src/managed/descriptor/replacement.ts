import type { RemoteObject } from '../../api/types.ts'
import type { Desired } from './desired.ts'
import type { Fields } from './fields.ts'

/** How an object is replaced by another when a create-only field changes. */
export interface Replacement<Spec> {
  /**
   * The API fields, all of them in `createOnly`, whose change requires it. A field that `desire` leaves undefined does
   * not.
   */
  readonly fields: readonly string[]
  /**
   * `create`: create the new object, let the referrers of the old one switch to it, then delete the old one. `delete`:
   * delete the old one first, where the API allows only one at a time.
   */
  readonly first: 'create' | 'delete'
  /** With `delete`: an object that must exist while neither of the two does; undefined if none is needed. */
  placeholder?(view: PlaceholderView<Spec>): Fields | undefined
}

export interface PlaceholderView<Spec> {
  readonly desired: Desired<Spec>
  /** The object that is about to be deleted. */
  readonly remote: RemoteObject
  /** All objects of the collection, from a current list. */
  readonly all: readonly RemoteObject[]
  /** The marker that the placeholder must carry, so that it is recognised and deleted again. */
  readonly marker: string
}
