import type { Collection, RemoteObject } from '../../api/types.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import type { Reason } from '../status/reasons.ts'
import type { Claims, Reach } from './access.ts'
import type { CommandDescriptor } from './command.ts'
import type { CommonSpec, CommonStatus, InputSource, KeyRef, Ref } from './common.ts'
import type { Companion } from './companion.ts'
import type { Fields } from './fields.ts'
import type { InternalStatus } from './internal.ts'
import type { OwnMetadata } from './metadata.ts'
import type { MirrorDescriptor } from './mirror.ts'
import type { AccountView, Release, TargetView } from './target.ts'

/** The interface between the shared reconcilers and the kinds: whatever is specific to a kind is declared here. */

/**
 * Everything that is specific to a kind. Its role: CRs with a remote object each, CRs that give access to an account,
 * CRs that mirror a collection, or commands.
 */
export type Descriptor = ManagedDescriptor | AccountDescriptor | MirrorDescriptor | CommandDescriptor

/** Account and ClusterAccount: the address and key for calls. */
export interface AccountDescriptor {
  readonly role: 'account'
  readonly definition: KindDefinition
  /** Where the Secret with the key is. */
  readonly secretNamespace: 'own' | 'operator'
}

/** A reference in a spec, with the path of its field. */
export interface FoundReference {
  /** For messages: `spec.ipRestriction.ipPolicyRefs[0]`. */
  readonly path: string
  readonly kind: string
  readonly ref: Ref
  /** The remote object itself is needed, not only its id (an edge's hostport needs the domain's name). */
  readonly needsObject?: boolean
  /** The target may be referred to only once: a second such reference that resolves to the same object is refused. */
  readonly once?: boolean
  /**
   * The CR is a part of the target, and so need not wait until the target is usable. Returns why the target does not
   * accept this part; undefined if it does.
   */
  partOf?(target: TargetView): string | undefined
}

/** A value that a spec takes from a Secret or ConfigMap, with the path of its field. */
export interface Input {
  readonly path: string
  readonly source: InputSource
  readonly ref: KeyRef
}

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
  /** `metadata` of the object or of one of its children: the marker, with the user's own keys beside it. */
  marker(nonce: string, metadata?: OwnMetadata): string
}

/** A condition's content, which another version of Culvert may have written. */
export interface ConditionText {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** A condition of the kind, in addition to the common ones. */
export interface KindCondition extends ConditionText {
  readonly reason: Reason
}

/** Whether the remote object, which equals the spec, is Ready. */
export interface Readiness {
  readonly ready: boolean
  readonly reason: Reason
  readonly message: string
  /** Lasts until a person acts: shown as Stalled. */
  readonly stalled?: boolean
  readonly conditions?: readonly KindCondition[]
  /** Parts of the object that no permitted resource declares: in a shared account, the CR is then not Synced. */
  readonly undeclared?: string
  /** Read the remote object again after this many milliseconds. Absent: the account's resync notices changes. */
  readonly pollMs?: number
}

export type ChildOperation =
  | {
      readonly type: 'create'
      readonly body: Fields
      readonly about: string
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

/** Objects of another collection that the CR declares inline and owns completely (the rules of a policy). */
export interface Children<Spec> {
  /** Spec field that declares them; the drift metric counts children to create or delete under this name. */
  readonly field: string
  readonly collection: Collection
  /** Id of the parent that a child belongs to. */
  parentId(child: RemoteObject): string | undefined
  /** The writes that turn `current` (all children of the parent) into what the spec says, in a safe order. */
  plan(desired: Desired<Spec>, parentId: string, current: readonly RemoteObject[]): readonly ChildOperation[]
  /** Ids of the children that a status names. */
  idsIn(status: CommonStatus & Fields): readonly string[]
  /** Status fields about the children. */
  status(current: readonly RemoteObject[]): Fields
}

/** An object in the CR's namespace that outputs are written into. */
export interface OutputTarget {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
}

/**
 * Labels and annotations that the spec wants on that object besides Culvert's own: for reflectors, reloaders and the
 * like.
 */
export interface OutputTemplate {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * A secret that the API returns only once, in the answer to the create. It is written to one key of a Secret and kept
 * nowhere else; if it is lost there, the object is replaced.
 */
export interface OneTimeOutput<Spec> {
  readonly type: 'one-time'
  /** API field of the answer; one of the collection's `oneTimeFields`. */
  readonly field: string
  /**
   * The problem with the secret in the answer to a create, to follow "the API answered with", without its value;
   * undefined if it may be written.
   */
  problem(answer: RemoteObject): string | undefined
  /** The secret is a key of the API itself: an account may use it (`management-api.md § Authentication`). */
  readonly opensAccounts: boolean
  target(spec: Spec, name: string): KeyRef
  template(spec: Spec): OutputTemplate
}

/** Texts that can be computed at any time from the spec and the remote object. */
export interface DerivedOutput<Spec> {
  readonly type: 'derived'
  /** Undefined: the spec asks for none. */
  target(spec: Spec, name: string): OutputTarget | undefined
  template(spec: Spec): OutputTemplate
  /**
   * The problem with what the API returned, to follow "the API answered with"; undefined if the texts may be written.
   */
  problem(remote: RemoteObject): string | undefined
  /** The problem with other objects from which the texts are computed, as a sentence. Absent: there are none. */
  sourceProblem?(desired: Desired<Spec>): string | undefined
  /** The keys of the target with their texts. */
  data(desired: Desired<Spec>, remote: RemoteObject): Readonly<Record<string, string>>
}

/**
 * A kind whose CRs have one remote object each. Everything here is pure; shared code never asks which kind it has.
 * @typeParam Spec the static type of the kind's spec.
 */
export interface ManagedDescriptor<Spec extends CommonSpec = CommonSpec> {
  readonly role: 'managed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /**
   * The spec's claims that a shared account may limit; absent: none. Called before anything is resolved, and again with
   * `desired`, for claims that depend on the objects that the spec refers to.
   */
  claims?(spec: Spec, desired?: Desired<Spec>): Claims
  /** Every collection that may contain objects of this kind. */
  readonly collections: readonly Collection[]
  /** The collection of one CR; decided by create-only fields. */
  collectionOf(spec: Spec): Collection
  /** Kinds that a spec may refer to, each with the ids of that kind to which a remote object refers. */
  readonly refersTo: readonly ReferenceKind[]
  references(spec: Spec): readonly FoundReference[]
  /**
   * The reference by name that decides in which account the CR lives: that of its target, whatever the defaults say.
   * The CRD refuses `accountRef` beside it. Absent or undefined: `accountRef` and the defaults decide.
   */
  accountFrom?(spec: Spec): FoundReference | undefined
  /** Ids in the spec of objects of no managed kind, each with its field. Absent: there are none. */
  foreignIds?(spec: Spec): readonly { readonly path: string; readonly id: string }[]
  /** Values that the spec takes from Secrets and ConfigMaps. */
  inputs(spec: Spec): readonly Input[]
  /** Problems of the spec that CEL cannot detect; each names field, value and remedy. */
  problems(spec: Spec): readonly string[]
  /** Problems of the values that `inputs` found; each names the field and the remedy, never the value. */
  inputProblems(desired: Desired<Spec>): readonly string[]
  /** API fields that a POST may carry and a PATCH must not. */
  readonly createOnly: readonly string[]
  /** API fields that only a PATCH may carry. */
  readonly updateOnly: readonly string[]
  /** How a change of create-only fields is carried out; absent: the CRD refuses such a change. */
  readonly replacement?: Replacement<Spec>
  /** When and how the object is replaced by a new one of the same spec; absent: never. */
  readonly rotation?: Rotation<Spec>
  /**
   * Which field of a new object carries the marker until the id is stored. `name` for objects without metadata:
   * `desire` must then return a harmless object while `remote` is undefined, and the user's name follows as an update.
   */
  readonly markedBy: 'metadata' | 'name'
  /** API fields that hold secret inputs: sent again when one of these changes, since the API does not return them. */
  readonly secretFields: readonly string[]
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
   * The body to send if the API has refused `body` as invalid: another way to say the same, or as much of it as such a
   * server accepts. Absent or undefined: nothing.
   */
  otherwise?(body: Fields, remote: RemoteObject): Fields | undefined
  /**
   * Names that the API allows for one object only, in words for people, from fields in the form that `observe` returns.
   * Absent: nothing is unique.
   */
  uniqueNames?(fields: Fields): readonly string[]
  /**
   * Why nothing that the API returned for the object may be used, in words that quote little of it; undefined if it
   * may. Then nothing is written, at the API or in the cluster. Absent: it always may.
   */
  answerProblem?(spec: Spec, remote: RemoteObject): string | undefined
  /** Status fields of the kind, from what the API returned; `kept` includes what `intent` returned. */
  status(remote: RemoteObject, kept: InternalStatus): Fields
  /** The bookkeeping about the object for `status.internal`, from what the API returned; `kept` as for `status`. */
  internal(remote: RemoteObject, kept: InternalStatus): InternalStatus
  /**
   * Modules and other parts of the object that the spec names, and that others may set there too. Their names consist
   * of letters.
   */
  modules(spec: Spec): readonly string[]
  /**
   * The part of `status.internal` that must be durable before an update is sent: the parts of the object of which the
   * update takes ownership. `sent`: modules that the create set, for a spec that may have changed since.
   */
  intent(spec: Spec, kept: InternalStatus, sent?: readonly string[]): InternalStatus
  readiness(view: ReadinessView<Spec>): Readiness
  /**
   * For kinds whose objects decide who may call the API, by themselves or as part of another object. Absent: they do
   * not.
   */
  readonly access?: Access<Spec>
  /** Which objects of the kind keep callers out of the API. Absent: none do. */
  readonly restrictsAPI?: APIRestriction<Spec>
  /**
   * Whether an update of these fields makes the API refuse the keys of objects that refer to this one. Absent: none
   * does.
   */
  silencesKeys?(update: Fields): boolean
  /** Why others may not refer to the CR yet; undefined if they may. Its object exists when this is called. */
  unusable(view: TargetView): string | undefined
  /**
   * Why others may not refer to an object of the kind that no CR manages, from its children in the account; undefined
   * if they may. For kinds with `children`; absent: they always may.
   */
  unusableObject?(children: readonly RemoteObject[]): string | undefined
  /** API fields that the spec may leave partly open for the service to choose: its choice is not drift. */
  readonly openFields: readonly string[]
  /** When the certificate of the object will be renewed, from its status; for kinds with certificates. */
  renewsAt?(status: Fields): string | undefined
  /** Until when the certificate of the object is valid, from its status; for kinds whose certificates have an end. */
  expiresAt?(status: Fields): string | undefined
  /**
   * Kinds whose CRs are the parts of a CR of this kind, by referring to it as `partOf`: it is reconciled when one of
   * them changes, and `unusable` receives them.
   */
  readonly parts: readonly string[]
  /**
   * For a part: what happens to its object when it is deleted. `wholes` are the CRs that it is part of, if any;
   * `account` is what was read so far. Called again after each read that it asks for.
   */
  mayDeletePart(wholes: readonly TargetView[], account: AccountView): Release
  readonly children?: Children<Spec>
  /** The kind's output into a Secret or ConfigMap; its status then has `outputStatus`. */
  readonly output?: OneTimeOutput<Spec> | DerivedOutput<Spec>
  /** The companion that the CR keeps for another operator. */
  readonly companion?: Companion<Spec>
}

/** Which objects keep callers out of the API. */
export interface APIRestriction<Spec> {
  /** Field of the spec that enables the restriction. */
  readonly field: string
  /** Whether an object of that spec restricts callers. */
  spec(spec: Spec): boolean
  /** Whether an object at the API restricts callers. */
  object(remote: RemoteObject): boolean
}

/** How a kind decides which addresses may call the API, once an object of a kind with `restrictsAPI` refers to it. */
export interface Access<Spec> {
  /** The kind that such restrictions refer to. */
  readonly kind: string
  /** Field of the spec that acknowledges that Culvert stays admitted. */
  readonly field: string
  acknowledged(spec: Fields): boolean
  /** Id of the object of `kind` that may admit fewer addresses after the change; undefined if none does. */
  narrows(change: AccessChange<Spec>): string | undefined
}

export interface AccessChange<Spec = CommonSpec> {
  /** The wanted state; undefined: the object is being deleted. */
  readonly desired: Desired<Spec> | undefined
  /** The current state; undefined: the object is not created yet. */
  readonly remote: RemoteObject | undefined
  readonly children: readonly RemoteObject[]
  /** All objects of its collection, as the account cache has them. */
  siblings(): readonly RemoteObject[]
}

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

/**
 * Rotation of a token, which can also be requested, or renewal of a certificate. The new object is always created
 * first.
 */
export interface Rotation<Spec> {
  readonly type: 'rotation' | 'renewal'
  /** Wall time in milliseconds from which the object must be replaced; undefined: never by itself. */
  dueAt(view: RotationView<Spec>): number | undefined
  /** How long the former object keeps working beside the new one, in milliseconds. */
  overlapMs(spec: Spec): number
  /** API fields that a new object never takes over from the former one. */
  readonly fresh?: readonly string[]
}

export interface RotationView<Spec> {
  readonly spec: Spec
  /** The object that may be replaced; a token's age is known without it. */
  readonly remote: RemoteObject | undefined
  /** When the token in use was issued, as wall time in milliseconds; undefined if Culvert does not have the token. */
  readonly since: number | undefined
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

export interface ReadinessView<Spec> {
  readonly spec: Spec
  readonly remote: RemoteObject
  /** How many children of the object no CR manages; absent for a kind without parts. */
  readonly unclaimed?: number | undefined
  /** Wall time in milliseconds. */
  readonly now: number
  /** The status as noted by the run, with the previous conditions; absent: nothing is known. */
  readonly status?: CommonStatus & Fields
}

export interface ReferenceKind {
  readonly kind: string
  /** Ids of that kind to which the remote object refers. */
  idsIn(remote: RemoteObject): readonly string[]
  /**
   * Whether an object is over, such as an expired certificate, and so no longer needs what it refers to. `now` is wall
   * time in milliseconds.
   */
  isOver?(remote: RemoteObject, now: number): boolean
  /** Whether an object keeps the id of an object that was deleted. */
  readonly outlives?: true
  /**
   * For references by another value than the id (an edge's hostport names a domain): whether `remote` refers to
   * `target`.
   */
  uses?(remote: RemoteObject, target: RemoteObject): boolean
}
