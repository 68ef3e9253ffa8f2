import type { Collection, RemoteObject } from '../../api/types.ts'
import type { CommonStatus, Fields, InputSource, KeyRef, Ref } from './common.ts'
import type { OwnMetadata } from './metadata.ts'

/** The object that a reference resolves to at the API. */
export interface ResolvedTarget {
  readonly id: string
  readonly object: RemoteObject | undefined
}

/**
 * Everything from which the wanted state of the remote object is computed. All I/O is done before; descriptors only
 * compute.
 */
export interface Desired<Spec> {
  readonly spec: Spec
  /** Status as last written by Culvert. */
  readonly status: CommonStatus & Fields
  /** Whether a reference that is `optional` resolves to an object now; true of any other. */
  resolves(kind: string, ref: Ref): boolean
  /** Id of a reference that was found by `references`. */
  id(kind: string, ref: Ref): string
  /** Id and object of such a reference. */
  target(kind: string, ref: Ref): ResolvedTarget
  /**
   * Whether the object of such a reference was deleted at the API after it was applied, for kinds whose ids others may
   * keep after a deletion. Only known if the object has to be sent another list of them.
   */
  isGone(kind: string, ref: Ref): boolean
  /** Value of an input that was found by `inputs`, verbatim. */
  input(source: InputSource, ref: KeyRef): string
  /**
   * Whether the spec decides an API field (or, with children, the field that declares them). Always true, except for an
   * adopted object: there only for fields that the spec sets or has set; the others are left alone.
   */
  decides(field: string): boolean
  /** Wall time in milliseconds. */
  readonly now: number
  /** `metadata` of the object or of one of its children: the marker, together with the user's own keys. */
  marker(nonce: string, metadata?: OwnMetadata): string
}

/** The API fields of a kind: which there are, what a spec wants in them, and how they compare. */
export interface APIFields<Spec> {
  /** API fields that a POST may carry and a PATCH must not. */
  readonly createOnly: readonly string[]
  /** API fields that only a PATCH may carry. */
  readonly updateOnly: readonly string[]
  /** API fields that hold secret inputs: sent again when one of these changes, since the API does not return them. */
  readonly secret: readonly string[]
  /** API fields that the spec may leave partly open for the service to choose: its choice is not drift. */
  readonly open: readonly string[]
  /**
   * Whether the service may have made `found` of `sent`, both in comparable form, although it did not only fill in what
   * was left open: that is its choice then, too. For fields in `open`. Absent: never.
   */
  mayStand?(field: string, sent: unknown, found: unknown): boolean
  /**
   * API fields, and the field of `children`, that the spec sets. A field made of several of the spec's fields is set if
   * one of these is. Inside a field, whatever is left out has the contract's default, unless `desire` asks `decides`
   * about it: then the members that are set are named too, as `field.member`.
   */
  setBy(spec: Spec): readonly string[]
  /**
   * Every field of the kind with its wanted value (`description` and `metadata` are the reconciler's). Null clears a
   * field; undefined leaves it alone. `remote` is undefined if the object is not created yet.
   */
  desire(desired: Desired<Spec>, remote: RemoteObject | undefined): Fields
  /** The same fields with the values of `remote`, normalised to the form in which they are sent. */
  observe(remote: RemoteObject): Fields
  /**
   * `fields` in the form that `observe` returns, for comparison: without secrets, sets in a fixed order,
   * case-insensitive texts in one case. If the contract lets the API hide or choose a value, `remote` decides whether
   * it is compared.
   */
  comparable(fields: Fields, remote?: RemoteObject): Fields
  /**
   * The bodies to send if the API has refused `body`, one after the other: each another way to say the same, or as much
   * of it as such a server accepts. Absent: none. `remote` is undefined for a create.
   */
  alternatives?(body: Fields, remote?: RemoteObject): readonly Fields[]
  /** What of a change of an object a person should look at first. Absent: nothing but its deletion. */
  readonly risks?: JudgeRisks
}

/** Objects of another collection that the CR declares inline and owns completely (the rules of a policy). */
export interface Children<Spec> {
  /** Spec field that declares them; the drift metric counts children to create or delete under this name. */
  readonly field: string
  readonly collection: Collection
  /** Id of the parent that a child belongs to. */
  parentId(child: RemoteObject): string | undefined
  /** The writes that turn `current` (all children of the parent) into what the spec says, in a safe order. */
  plan(desired: Desired<Spec>, parentId: string, current: readonly RemoteObject[]): readonly ChildOperation[]
  /** What of a change of a child a person should look at first. */
  risks?: JudgeRisks
  /** Ids of the children that a status names. */
  idsIn(status: CommonStatus & Fields): readonly string[]
  /** Status fields about the children. */
  status(current: readonly RemoteObject[]): Fields
}

export type ChildOperation =
  | {
      readonly type: 'create'
      readonly body: Fields
      readonly about: string
      /** Sent without waiting for the create before it: neither needs the other. */
      readonly together?: true
      /**
       * Deleted again after the last write of the plan. If that does not happen, the next plan removes it as unwanted.
       */
      readonly placeholder?: true
    }
  | {
      readonly type: 'update'
      readonly id: string
      readonly body: Fields
      readonly about: string
      readonly fields: readonly string[]
    }
  | {
      readonly type: 'delete'
      readonly id: string
      readonly about: string
      /** Id of a child that must still exist: it is read live, and if it is gone the plan is computed again. */
      readonly beside?: string
    }

/** Something in a change of an object that a person should look at before it is made. */
export interface Risk {
  /**
   * - `unprotected`: what protects a live object is taken away
   * - `opened`: more callers, addresses or names are let in than before
   */
  readonly type: 'unprotected' | 'opened'
  /** Says what of the object, in one line. */
  readonly text: string
}

/** One write to an object, for a judgement about it. Never a create of a whole new object, which opens nothing. */
export interface ObjectChange {
  /** Undefined: a part, such as a rule, is added to an object that was there before. */
  readonly before: RemoteObject | undefined
  /** Undefined: it is deleted. */
  readonly after: RemoteObject | undefined
  /** Of a part, where they are known: the other parts of the same whole at that time. */
  readonly others?: readonly RemoteObject[] | undefined
}

/** What of a change a person should look at; none for most changes. */
export type JudgeRisks = (change: ObjectChange) => readonly Risk[]

/** Of a request that deletes an object. */
export const DELETED = 'the object is deleted'
/** Of the requests that replace one object by another. */
export const REPLACED = 'a new object replaces the present one, which is deleted'
