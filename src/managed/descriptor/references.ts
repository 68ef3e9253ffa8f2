import type { Collection, RemoteObject } from '../../api/types.ts'
import type { CommonStatus, Fields, Ref } from './common.ts'

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
  /** What a drawing shows of the reference besides its field: a weight, or a place in an order. */
  readonly note?: string
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

/** A CR as others see it. */
interface View {
  readonly generation: number
  /** It is being deleted. */
  readonly deleting: boolean
  readonly status: CommonStatus & Fields
}

/** A CR as its referrers see it. */
export interface TargetView extends View {
  readonly spec: Fields
  /** For a kind with `parts`: the CRs that are its parts. */
  readonly parts: readonly PartView[]
  /**
   * For a kind with `parts`: other CRs that refer to it and may have an object that depends on it, by their names in
   * messages.
   */
  readonly dependents: readonly string[]
}

/**
 * The account's view of the whole of a part, from lists that began after the deletion of the part was seen, or after
 * the part was found to need another object. Absent: not read yet.
 */
export interface AccountView {
  /** The other children of the whole, regardless of who created them, without placeholders. */
  readonly siblings?: readonly SiblingView[] | undefined
  /** The objects of the part itself, which would be deleted. Read together with `siblings`. */
  readonly own?: readonly RemoteObject[] | undefined
  /** The other CRs that are parts of the whole, with and without an object. Read together with `siblings`. */
  readonly parts?: readonly PartView[] | undefined
  /** Dependents of the whole, by their names in messages. */
  readonly dependents?: readonly string[] | undefined
}

/** What of the account can be asked for. */
export type Observable = 'siblings' | 'dependents'

/** A child other than that of a part, and the CR that holds it, if there is one. */
export interface SiblingView {
  readonly object: RemoteObject
  readonly holder: PartView | undefined
}

/** A CR that is part of another. */
export interface PartView extends View {
  readonly spec: Fields
  /** `Kind/name`. */
  readonly name: string
}

/** The decision about the object of a CR that is being deleted, or that needs another object. */
export type Release =
  | { readonly type: 'delete' }
  /** Depends on the account: read `at` from it and call again. */
  | { readonly type: 'observe'; readonly at: Observable }
  /** The object belongs to another owner by now. */
  | { readonly type: 'leave' }
  /** It has to stay for now; the message says why, and what helps. */
  | { readonly type: 'wait'; readonly message: string }

/**
 * Whether the conditions Ready and Synced are both True for the current spec: Ready alone stays True while a changed
 * spec is being applied.
 */
export function isInForce({ generation, status }: View): boolean {
  return ['Ready', 'Synced'].every((type) => {
    const condition = status.conditions?.find((candidate) => candidate.type === type)
    return condition?.status === 'True' && condition.observedGeneration === generation
  })
}

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
