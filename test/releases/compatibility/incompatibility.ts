/**
 * What a change breaks for users of a kind.
 *
 * - `removed`: a kind, version or field is gone. Renaming is the same.
 * - `changed`: something existing changes its meaning, or stored values may have become permanently invalid.
 * - `tightened`: a valid value becomes invalid. Stored values may stay (CRD validation ratcheting), and new ones must
 *   be valid.
 */
type IncompatibilitySort = 'removed' | 'changed' | 'tightened'

export interface Incompatibility {
  /** `Edge.spec.hostports[].port`, or only the kind. */
  readonly path: string
  readonly sort: IncompatibilitySort
  readonly what: string
}

export function incompatibility(path: string, sort: IncompatibilitySort, what: string): readonly Incompatibility[] {
  return [{ path, sort, what }]
}
