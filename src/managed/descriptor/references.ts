import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Ref } from './common.ts'
import type { TargetView } from './target.ts'

/** The references of a kind to other objects. */
export interface References<Spec> {
  /** Kinds that a spec may refer to, each with the ids of that kind to which a remote object refers. */
  readonly kinds: readonly ReferenceKind[]
  /** The references of a spec. A CR with a reference as `partOf` is in the account of its target. */
  of(spec: Spec): readonly FoundReference[]
  /** Ids in the spec of objects of no managed kind, each with its field. Absent: there are none. */
  foreignIds?(spec: Spec): readonly { readonly path: string; readonly id: string }[]
  /** Values in the spec that use objects without referring to them. Absent: there are none. */
  namedValues?(spec: Spec): readonly NamedValue[]
}

/** A reference in a spec, with the path of its field. */
export interface FoundReference {
  /** For messages: `spec.ipRestriction.ipPolicyRefs[0]`. */
  readonly path: string
  readonly kind: string
  readonly ref: Ref
  /** The remote object itself is needed, not only its id (an edge's hostport needs the domain's name). */
  readonly needsObject?: boolean
  /**
   * An object that exists does not wait for the reference: while it cannot be resolved, `Desired.resolves` is false.
   * Before the object is created, it is like any other.
   */
  readonly optional?: boolean
  /** The target may be referred to only once: a second such reference that resolves to the same object is refused. */
  readonly once?: boolean
  /**
   * The CR is a part of the target, and so need not wait until the target is usable. Returns why the target does not
   * accept this part; undefined if it does.
   */
  partOf?(target: TargetView): string | undefined
}

export interface ReferenceKind {
  readonly kind: string
  /** Ids of that kind to which the remote object refers. */
  idsIn(remote: RemoteObject): readonly string[]
  /** Where objects that can hold such a reference are. Default: in all collections of the referring kind. */
  readonly collections?: readonly Collection[]
  /**
   * Whether an object is over, such as an expired certificate, and so no longer needs what it refers to. `now` is wall
   * time in milliseconds.
   */
  isOver?(remote: RemoteObject, now: number): boolean
  /** Whether an object keeps the id of an object that was deleted. */
  readonly outlives?: true
  /** For references by another value than the id, such as a domain: the values of the kind that the object names. */
  valuesIn?(remote: RemoteObject): readonly string[]
}

/** A value in a spec, such as a host, by which the API finds the object to use. */
export interface NamedValue {
  /** Path of the field, for messages. */
  readonly path: string
  readonly value: string
  /** The objects that the API may find, in its order: the first that exists is the one that it uses. */
  readonly targets: readonly { readonly kind: string; readonly value: string }[]
}
