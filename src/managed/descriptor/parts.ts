import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from './fields.ts'
import type { AccountView, Release, TargetView } from './target.ts'

/** A kind whose CRs may have other CRs as their parts, which refer to them as `partOf`. */
export interface Whole {
  /** Kinds of these parts: a CR is reconciled when one of its parts changes, and `unusable` receives them. */
  readonly parts: readonly string[]
  /** Why others may not refer to the CR yet; undefined if they may. Its object exists when this is called. */
  unusable(view: TargetView): string | undefined
  /**
   * Why others may not refer to an object of the kind that no CR manages, from its children in the account; undefined
   * if they may.
   */
  unusableObject(children: readonly RemoteObject[]): string | undefined
}

/** A kind whose CRs are parts of a whole. */
export interface Part {
  /**
   * What happens to the object of a CR that is being deleted. `wholes` are the CRs that it is part of, if any;
   * `account` is what was read so far. Called again after each read that it asks for.
   */
  mayDelete(wholes: readonly TargetView[], account: AccountView): Release
  /** The same before the object is deleted because one of this spec has to take its place. */
  mayReplace(spec: Fields, wholes: readonly TargetView[], account: AccountView): Release
}
