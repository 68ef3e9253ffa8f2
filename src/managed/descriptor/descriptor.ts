import type { Collection, RemoteObject } from '../../api/types.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import type { Reason } from '../status/reasons.ts'
import type { Claims, Reach } from './access.ts'
import type { CommandDescriptor } from './command.ts'
import type { CommonSpec, CommonStatus, InputSource, KeyRef, Ref } from './common.ts'
import type { Companion } from './companion.ts'
import type { InternalStatus } from './internal.ts'
import type { OwnMetadata } from './metadata.ts'
import type { MirrorDescriptor } from './mirror.ts'
import type { AccountView, Release, TargetView } from './target.ts'

/** Fields of a remote object by the API's names, in the form in which they are sent. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * A kind: one whose CRs each stand for a remote object, one that gives access to an account, one that mirrors a
 * collection, or one whose CRs are commands.
 */
export type Descriptor = ManagedDescriptor | AccountDescriptor | MirrorDescriptor | CommandDescriptor

/** Account and ClusterAccount: where the calls go and with which key. */
export interface AccountDescriptor {
  readonly role: 'account'
  readonly definition: KindDefinition
  /** Where the Secret with the key lives. */
  readonly secretNamespace: 'own' | 'operator'
}

/** A reference field of a spec, with the place it was found at. */
export interface FoundReference {
  /** For messages: `spec.ipRestriction.ipPolicyRefs[0]`. */
  readonly path: string
  readonly kind: string
  readonly ref: Ref
  /** The remote object itself is needed, not only its id (an edge's hostport needs the domain's name). */
  readonly needsObject?: boolean
  /** The target may be referred to once only: another such reference that leads to the same object is refused. */
  readonly once?: boolean
  /**
   * The CR is a part of the target, and so need not wait until that is usable. Asked each time: why the target takes no
   * such part; undefined when it does.
   */
  partOf?(target: TargetView): string | undefined
}

/** A value that a spec takes from a Secret or ConfigMap, with the place where it says so. */
export interface Input {
  readonly path: string
  readonly source: InputSource
  readonly ref: KeyRef
}

/** What a reference stands for at the API. */
export interface ResolvedTarget {
  readonly id: string
  readonly object: RemoteObject | undefined
}

/** Everything that decides what the remote object should be. All I/O lies behind; descriptors only compute. */
export interface Desired<Spec> {
  readonly spec: Spec
  /** Status as last written: what Culvert put there before. */
  readonly status: CommonStatus & Fields
  /** Id of a reference that was found by `references`. */
  id(kind: string, ref: Ref): string
  /** Id and object of such a reference. */
  target(kind: string, ref: Ref): ResolvedTarget
  /**
   * Whether the object of such a reference was deleted at the API after it was applied, for kinds whose objects others
   * may go on holding then. Known only where the object would have to be sent another list of them.
   */
  isGone(kind: string, ref: Ref): boolean
  /** Value of an input that was found by `inputs`, to the letter. */
  input(source: InputSource, ref: KeyRef): string
  /**
   * Whether the spec decides about an API field (or, with children, about the field that declares them). Always, but
   * for an adopted object: there only about fields that it sets or has set; the others are left alone.
   */
  decides(field: string): boolean
  /** Wall time in milliseconds. */
  readonly now: number
  /** `metadata` of the object or one of its children: the marker, with keys of the user's beside it. */
  marker(nonce: string, metadata?: OwnMetadata): string
}

/** What a condition says, which may be one that another version has left. */
export interface ConditionText {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** A condition of the kind, beside the common ones. */
export interface KindCondition extends ConditionText {
  readonly reason: Reason
}

/** Whether the remote object, equal to the spec as it is, does its work. */
export interface Readiness {
  readonly ready: boolean
  readonly reason: Reason
  readonly message: string
  /** Nothing moves until somebody acts: shown as Stalled. */
  readonly stalled?: boolean
  readonly conditions?: readonly KindCondition[]
  /** What the object has that nobody declares who may: where namespaces share the account, it is not Synced then. */
  readonly undeclared?: string
  /** Look at the remote object again after this many milliseconds. Absent: changes are noticed by the drift pass. */
  readonly pollMs?: number
}

export type ChildOperation =
  | {
      readonly type: 'create'
      readonly body: Fields
      readonly about: string
      /**
       * Deleted again after the last write of the plan. Should that not come to pass, the next plan removes it as
       * unwanted.
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
      /** Id of a child that has to be there still: it is looked at live, and when it is gone the plan is made anew. */
      readonly beside?: string
    }

/** Objects of another collection that the CR declares inline and owns whole (the rules of a policy). */
export interface Children<Spec> {
  /** Spec field that declares them: how a child too many or too few is called where drift is counted. */
  readonly field: string
  readonly collection: Collection
  /** Id of the parent that a child belongs to. */
  parentId(child: RemoteObject): string | undefined
  /**
   * The writes that turn `current` (all children of the parent) into what the spec says, in the order in which they are
   * safe.
   */
  plan(desired: Desired<Spec>, parentId: string, current: readonly RemoteObject[]): readonly ChildOperation[]
  /** Ids of the children that a status names. */
  idsIn(status: CommonStatus & Fields): readonly string[]
  /** Status fields about the children. */
  status(current: readonly RemoteObject[]): Fields
}

/** An object in the namespace of the CR that outputs go into. */
export interface OutputTarget {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
}

/**
 * Labels and annotations that the spec wants on that object beside Culvert's own: for reflectors, reloaders and the
 * like.
 */
export interface OutputTemplate {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * A secret that the API tells once, in the answer to the create. It goes into one key of a Secret, is kept nowhere
 * else, and when it is lost there the object is replaced.
 */
export interface OneTimeOutput<Spec> {
  readonly type: 'one-time'
  /** API field of the answer; one of the collection's `oneTimeFields`. */
  readonly field: string
  /**
   * What is wrong with the secret in the answer to a create, after "the API answered with", and never the value;
   * undefined when it may be written.
   */
  problem(answer: RemoteObject): string | undefined
  /** The secret is a key of the API itself: an account may work with it (`management-api.md § Authentication`). */
  readonly opensAccounts: boolean
  target(spec: Spec, name: string): KeyRef
  template(spec: Spec): OutputTemplate
}

/** Texts that follow at any time from the spec and the remote object. */
export interface DerivedOutput<Spec> {
  readonly type: 'derived'
  /** Undefined: the spec asks for none. */
  target(spec: Spec, name: string): OutputTarget | undefined
  template(spec: Spec): OutputTemplate
  /**
   * What is wrong with what the API returned, after "the API answered with"; undefined when the texts may be written.
   */
  problem(remote: RemoteObject): string | undefined
  /** The same of other objects that the texts follow from, as a sentence. Absent: there are none. */
  sourceProblem?(desired: Desired<Spec>): string | undefined
  /** The keys of the target with their texts. */
  data(desired: Desired<Spec>, remote: RemoteObject): Readonly<Record<string, string>>
}

/**
 * A kind whose CRs each stand for one remote object. Everything here is pure; shared code never asks which kind it has.
 * @typeParam Spec the static type of the kind's spec.
 */
export interface ManagedDescriptor<Spec extends CommonSpec = CommonSpec> {
  readonly role: 'managed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /**
   * What the spec takes for itself that a shared account may limit; absent: nothing. Asked before anything is resolved,
   * and with `desired` again, for what only the objects tell that the spec refers to.
   */
  claims?(spec: Spec, desired?: Desired<Spec>): Claims
  /** Every collection that objects of this kind can be in. */
  readonly collections: readonly Collection[]
  /** The collection of one CR; decided by fields that are fixed at create. */
  collectionOf(spec: Spec): Collection
  /** Kinds that a spec may refer to, each with the ids of that kind which a remote object refers to. */
  readonly refersTo: readonly ReferenceKind[]
  references(spec: Spec): readonly FoundReference[]
  /**
   * The reference that decides in which account the CR lives, where it leads to a CR by its name: to that one's
   * account, whatever the defaults say. The CRD refuses `accountRef` beside it. Absent or undefined: `accountRef` and
   * the defaults decide.
   */
  accountFrom?(spec: Spec): FoundReference | undefined
  /** Ids in the spec of objects that no kind makes, each with its field. Absent: there are none. */
  foreignIds?(spec: Spec): readonly { readonly path: string; readonly id: string }[]
  /** What the spec takes from Secrets and ConfigMaps. */
  inputs(spec: Spec): readonly Input[]
  /** Problems of the spec that CEL cannot see; each names field, value and remedy. */
  problems(spec: Spec): readonly string[]
  /** Problems of the values that `inputs` found; each names the field and the remedy, and never the value. */
  inputProblems(desired: Desired<Spec>): readonly string[]
  /** API fields that a POST carries and a PATCH must not. */
  readonly createOnly: readonly string[]
  /** API fields that only a PATCH carries. */
  readonly updateOnly: readonly string[]
  /** How a change of fields that are fixed at create is carried out; absent: the CRD refuses such a change. */
  readonly replacement?: Replacement<Spec>
  /** How the object gives way to a new one of the same spec as time passes; absent: it does not age. */
  readonly rotation?: Rotation<Spec>
  /**
   * Which field of a new object carries the marker until the id is stored. `name` for what has no metadata: `desire`
   * must then give a harmless object as long as `remote` is undefined, and the user's name follows as an update.
   */
  readonly markedBy: 'metadata' | 'name'
  /** API fields that hold secret inputs: sent again when one of these changes, since the API does not return them. */
  readonly secretFields: readonly string[]
  /**
   * API fields, and the field of `children`, that the spec sets. A field that is made of several of the spec's is set
   * when one of these is. Inside of a field what is left out has the contract's default, unless `desire` asks `decides`
   * about it: then the members that are set are named too, as `field.member`.
   */
  setBy(spec: Spec): readonly string[]
  /**
   * Every field of the kind as it should be (`description` and `metadata` are the reconciler's). Null clears; undefined
   * leaves alone. `remote` is undefined when the object is yet to be created.
   */
  desire(desired: Desired<Spec>, remote: RemoteObject | undefined): Fields
  /** The same fields as `remote` has them, normalised to the form in which they are sent. */
  observe(remote: RemoteObject): Fields
  /**
   * `fields` in the form that `observe` gives, for comparing: without secrets, sets in a fixed order, texts without
   * meaningless case. Where the contract lets the API hide or choose a value, `remote` decides whether it is compared.
   */
  comparable(fields: Fields, remote?: RemoteObject): Fields
  /**
   * /** What is sent in place of the body of an update that the API has refused as invalid: another way to say the
   * same, or as much of it as such a server takes. Absent or undefined: nothing.
   */
  otherwise?(body: Fields, remote: RemoteObject): Fields | undefined
  /**
   * Names that the API lets one object alone have, in words for people, from fields in the form that `observe` gives.
   * Absent: nothing is unique.
   */
  uniqueNames?(fields: Fields): readonly string[]
  /**
   * Why nothing of what the API returned for the object may be used, in words that quote little of it; undefined when
   * it may. Then nothing is written, at the API or in the cluster. Absent: it always may.
   */
  answerProblem?(spec: Spec, remote: RemoteObject): string | undefined
  /** Status fields of the kind, from what the API returned; `kept` includes what `intent` says. */
  status(remote: RemoteObject, kept: InternalStatus): Fields
  /** What is kept of the object in `status.internal`, from what the API returned; `kept` as for `status`. */
  internal(remote: RemoteObject, kept: InternalStatus): InternalStatus
  /**
   * Modules and other parts of the object that the spec names, and that others may put there too. Their names are of
   * letters.
   */
  modules(spec: Spec): readonly string[]
  /**
   * What of `status.internal` must be durable before an update is sent: what the update is about to take charge of.
   * `sent`: modules that the create put there, for a spec that may have changed since.
   */
  intent(spec: Spec, kept: InternalStatus, sent?: readonly string[]): InternalStatus
  readiness(view: ReadinessView<Spec>): Readiness
  /**
   * For objects that decide, through others of the kind that they are part of or are themselves, who may call the API.
   * Absent: they do not.
   */
  readonly access?: Access<Spec>
  /** Which objects of the kind keep callers out of the API. Absent: none does. */
  readonly restrictsAPI?: APIRestriction<Spec>
  /**
   * Whether an update of these fields makes the API refuse the keys of objects that refer to this one. Absent: none
   * does.
   */
  silencesKeys?(update: Fields): boolean
  /** Why others may not refer to the CR yet; undefined when they may. It exists at the API when this is asked. */
  unusable(view: TargetView): string | undefined
  /**
   * Why others may not refer to an object of the kind that no CR manages, from its children as the account shows them;
   * undefined when they may. For kinds with `children`; absent: they always may.
   */
  unusableObject?(children: readonly RemoteObject[]): string | undefined
  /** API fields of which the spec may leave a part open, for the service to choose: what it chooses is no drift. */
  readonly openFields: readonly string[]
  /** When the certificate of the object is to be renewed, from its status; for kinds with certificates. */
  renewsAt?(status: Fields): string | undefined
  /** Until when the certificate of the object is valid, from its status; for kinds whose certificates tell it. */
  expiresAt?(status: Fields): string | undefined
  /**
   * Kinds whose CRs make up what a CR of this kind is, by referring to it as `partOf`: it is looked at again when one
   * of them changes, and `unusable` is told of them.
   */
  readonly parts: readonly string[]
  /**
   * For a part: what becomes of its object when it is deleted. `wholes` are the CRs that it is part of, where there are
   * any; `account` is what was looked up so far. Asked again after each look that it asks for.
   */
  releasePart(wholes: readonly TargetView[], account: AccountView): Release
  readonly children?: Children<Spec>
  /** What the kind writes into a Secret or ConfigMap; its status then has `outputStatus`. */
  readonly output?: OneTimeOutput<Spec> | DerivedOutput<Spec>
  /** What the CR keeps beside itself for another operator. */
  readonly companion?: Companion<Spec>
}

/** Whether callers are kept out of the API. */
export interface APIRestriction<Spec> {
  /** Field of the spec that says so. */
  readonly field: string
  /** By an object as a spec has it. */
  spec(spec: Spec): boolean
  /** By an object as the API has it. */
  object(remote: RemoteObject): boolean
}

/**
 * How a kind decides which addresses may call the API once a kind with `restrictsAPI` refers to what it decides about.
 */
export interface Access<Spec> {
  /** The kind that such restrictions refer to. */
  readonly kind: string
  /** Field of the spec by which people say that Culvert stays admitted. */
  readonly field: string
  acknowledged(spec: Fields): boolean
  /** Id of the object of `kind` that may let fewer addresses in after the change; undefined when none does. */
  narrows(change: AccessChange<Spec>): string | undefined
}

export interface AccessChange<Spec = CommonSpec> {
  /** What should be; undefined: the object goes. */
  readonly desired: Desired<Spec> | undefined
  /** What is; undefined: the object is yet to be made. */
  readonly remote: RemoteObject | undefined
  readonly children: readonly RemoteObject[]
}

/** How an object gives way to another when a field that is fixed at create changes. */
export interface Replacement<Spec> {
  /**
   * The API fields, all of them in `createOnly`, whose change asks for it. A field that `desire` leaves undefined does
   * not.
   */
  readonly fields: readonly string[]
  /**
   * `create`: the new object first, then whoever refers to the old one moves over, then the old one goes. `delete`: the
   * old one first, where the API lets only one stand at a time.
   */
  readonly first: 'create' | 'delete'
  /** With `delete`: an object that has to stand while neither of the two does; undefined when none is needed. */
  placeholder?(view: PlaceholderView<Spec>): Fields | undefined
}

/** Rotation of a token, which may also be asked for, or renewal of a certificate. The new object always comes first. */
export interface Rotation<Spec> {
  readonly type: 'rotation' | 'renewal'
  /** Wall time in milliseconds from which a new object takes the place; undefined: never by itself. */
  dueAt(view: RotationView<Spec>): number | undefined
  /** How long the former object works on beside the new one, in milliseconds. */
  overlapMs(spec: Spec): number
  /** API fields in which a new object never takes after the former one. */
  readonly fresh?: readonly string[]
}

export interface RotationView<Spec> {
  readonly spec: Spec
  /** The object that may give way; a token's age is known without it. */
  readonly remote: RemoteObject | undefined
  /** When the token in use was issued, as wall time in milliseconds; undefined for one that is not ours to know. */
  readonly since: number | undefined
}

export interface PlaceholderView<Spec> {
  readonly desired: Desired<Spec>
  /** The object that is about to go. */
  readonly remote: RemoteObject
  /** All objects of the collection, as a list of now shows them. */
  readonly all: readonly RemoteObject[]
  /** The marker that the placeholder has to carry, so that it is known and taken away again. */
  readonly marker: string
}

export interface ReadinessView<Spec> {
  readonly spec: Spec
  readonly remote: RemoteObject
  /** How many children of the object no CR manages; absent for a kind whose CRs are not made up of others. */
  readonly unclaimed?: number | undefined
  /** Wall time in milliseconds. */
  readonly now: number
  /** The status as the run has it, with the conditions of before; absent: nothing is known of before. */
  readonly status?: CommonStatus & Fields
}

export interface ReferenceKind {
  readonly kind: string
  /** Ids of that kind which the remote object holds. */
  idsIn(remote: RemoteObject): readonly string[]
  /**
   * Whether an object has run its course, as an expired certificate has, and so needs nothing any more that it holds.
   * `now` is wall time in milliseconds.
   */
  isOver?(remote: RemoteObject, now: number): boolean
  /** Whether an object goes on holding the id of one that was deleted. */
  readonly outlives?: true
  /**
   * For what is named by another value than its id (an edge's hostport names a domain): whether `remote` uses `target`.
   */
  uses?(remote: RemoteObject, target: RemoteObject): boolean
}
