import type { RemoteObject } from '../../api/types.ts'
import type { Desired } from './desired.ts'
import type { Fields } from './fields.ts'
import type { JudgeRisks } from './risks.ts'

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
