/**
 * What a change takes from those who use a kind already.
 *
 * - `removed`: a kind, version or field is gone. A new name for it is the same.
 * - `changed`: what is there means something else, or what was stored may have become invalid for good.
 * - `tightened`: a value that was valid is not any more. What is stored may stay as it is (CRD validation ratcheting), and new
 *   values have to be valid.
 */
type IncompatibilitySort = 'removed' | 'changed' | 'tightened'

export interface Incompatibility {
  /** `Edge.spec.hostports[].port`, or the kind alone. */
  readonly path: string
  readonly sort: IncompatibilitySort
  readonly what: string
}

export function incompatibility(path: string, sort: IncompatibilitySort, what: string): readonly Incompatibility[] {
  return [{ path, sort, what }]
}
