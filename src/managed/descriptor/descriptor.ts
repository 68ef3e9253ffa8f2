import type { Collection, RemoteObject } from '../../api/types.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import type { AccessNeeds, Reach } from './access.ts'
import type { APIAccess } from './api-access.ts'
import type { CommandDescriptor } from './command.ts'
import type { CommonSpec, Fields, InputSource, KeyRef, Ref } from './common.ts'
import type { APIFields, Children, Desired } from './desired.ts'
import type { MirrorDescriptor } from './mirror.ts'
import type { Companion, DerivedOutput, OneTimeOutput } from './output.ts'
import type { Reported } from './readiness.ts'
import type { Part, References, Whole } from './references.ts'
import type { ComposedDescriptor } from './tunnel.ts'

/** The interface between the shared reconcilers and the kinds: whatever is specific to a kind is declared here. */

/**
 * Everything that is specific to a kind. Its role: CRs with a remote object each, CRs that give access to an account,
 * CRs that mirror a collection, commands, or CRs that consist of other Kubernetes objects.
 */
export type Descriptor =
  | ManagedDescriptor
  | AccountDescriptor
  | MirrorDescriptor
  | CommandDescriptor
  | ComposedDescriptor

/** Account and ClusterAccount: the address and key for calls. */
export interface AccountDescriptor {
  readonly role: 'account'
  readonly definition: KindDefinition
  /** Where the Secret with the key is. */
  readonly secretNamespace: 'own' | 'operator'
}

/**
 * A kind whose CRs have one remote object each. Everything here is pure; shared code never asks which kind it has. A
 * kind has all of a group or, where the group is optional, none of it: the steps for it then do not run.
 * @typeParam Spec the static type of the kind's spec.
 */
export interface ManagedDescriptor<Spec extends CommonSpec = CommonSpec> {
  readonly role: 'managed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /**
   * What the spec needs that a shared account may limit; absent: nothing. Called before anything is resolved, and again
   * with `desired`, for needs that depend on the objects that the spec refers to.
   */
  needs?(spec: Spec, desired?: Desired<Spec>): AccessNeeds
  readonly identity: Identity<Spec>
  readonly references: References<Spec>
  readonly inputs?: Inputs<Spec>
  /** Problems of the spec that CEL cannot detect; each names field, value and remedy. */
  problems(spec: Spec): readonly string[]
  readonly fields: APIFields<Spec>
  readonly status: Reported<Spec>
  readonly manifest: ManifestWriter
  /** Parts of the object that others may set too. */
  readonly modules?: Modules<Spec>
  /** How a change of create-only fields is carried out; absent: the CRD refuses such a change. */
  readonly replacement?: Replacement<Spec>
  /** When and how the object is replaced by a new one of the same spec; absent: never. */
  readonly rotation?: Rotation<Spec>
  /** For kinds whose objects decide who may call the API, by themselves or as part of another object. */
  readonly apiAccess?: APIAccess<Spec>
  /** Absent: others may refer to a CR as soon as its object exists. */
  readonly whole?: Whole
  readonly part?: Part
  readonly children?: Children<Spec>
  /** The kind's output into a Secret or ConfigMap; its status then has `outputStatus`. */
  readonly output?: OneTimeOutput<Spec> | DerivedOutput<Spec>
  /** The companion that the CR keeps for another operator. */
  readonly companion?: Companion<Spec>
}

/** The collections that hold the object of a CR with this spec, and its inline children. */
export function ownCollections(
  { children, identity }: ManagedDescriptor,
  spec: Parameters<ManagedDescriptor['identity']['collectionOf']>[0],
): readonly Collection[] {
  const own = identity.collectionOf(spec)
  return children === undefined ? [own] : [own, children.collection]
}

/** Where the objects of a kind are, and how the object of a CR is recognised among them. */
export interface Identity<Spec> {
  /** Every collection that may contain objects of this kind. */
  readonly collections: readonly Collection[]
  /** The collection of one CR; decided by create-only fields. */
  collectionOf(spec: Spec): Collection
  /**
   * Which field of a new object carries the marker until the id is stored. `name` for objects without metadata:
   * `desire` must then return a harmless object while `remote` is undefined, and the user's name follows as an update.
   */
  readonly markedBy: 'metadata' | 'name'
  /**
   * Names that the API allows for one object only, in words for people, from fields in the form that `observe` returns.
   * Absent: nothing is unique.
   */
  uniqueNames?(fields: Fields): readonly string[]
  /** Values by which other objects refer to an object of the kind, such as its domain. Absent: only its id. */
  valuesOf?(remote: RemoteObject): readonly string[]
}

/** What a kind takes from Secrets and ConfigMaps. */
export interface Inputs<Spec> {
  of(spec: Spec): readonly Input[]
  /** Problems of the values found; each names the field and the remedy, never the value. Absent: any value will do. */
  problems?(desired: Desired<Spec>): readonly string[]
}

/** A value that a spec takes from a Secret or ConfigMap, with the path of its field. */
export interface Input {
  readonly path: string
  readonly source: InputSource
  readonly ref: KeyRef
  /**
   * The value may have several lines, as PEM does, and is taken to the letter. Default: it is one line, which loses the
   * line break at its end, and contains no other control character.
   */
  readonly multiline?: true
}

/**
 * Parts of an object that people and other programs set too: modules of an edge, endpoint configurations, an uploaded
 * certificate. A part that the spec does not name is left alone, regardless of who created the object, unless the spec
 * named it before, as recorded in `status.internal.appliedModules`. Their names consist of letters.
 */
export interface Modules<Spec> {
  /** Parts that the spec names, also to disable them. */
  named(spec: Spec): readonly string[]
  /** Parts that the object has. */
  held(remote: RemoteObject): readonly string[]
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

export interface PlaceholderView<Spec> {
  readonly desired: Desired<Spec>
  /** The object that is about to be deleted. */
  readonly remote: RemoteObject
  /** All objects of the collection, from a current list. */
  readonly all: readonly RemoteObject[]
  /** The marker that the placeholder must carry, so that it is recognised and deleted again. */
  readonly marker: string
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

/** How an object at the API is written down as a spec that, once applied, changes nothing about it. */
export interface ManifestWriter {
  /** What people know the object by, the best first: its resource is named after it. Texts of any content. */
  namedAfter(remote: RemoteObject): readonly (string | undefined)[]
  /**
   * The spec without the fields that all kinds share. What has the contract's default is left out, and so is a field
   * whose value is undefined.
   */
  specOf(remote: RemoteObject, view: ManifestView): Fields
  /**
   * Why the object can only be observed, as the API does not show everything that its spec has to say; undefined if it
   * can be managed. Absent: it always can.
   */
  observeOnly?(remote: RemoteObject): string | undefined
  /** Whether another object's spec describes this one, so that it needs none of its own. Absent: never. */
  isPartOf?(remote: RemoteObject, view: Pick<ManifestView, 'siblings' | 'whole'>): boolean
}

/** What else a spec depends on. */
export interface ManifestView {
  /** Where the object is. */
  readonly collection: Collection
  /** Name that its resource gets. */
  readonly name: string
  /** A reference to the object with that id: by name if it is written down too, else by id. */
  ref(kind: string, id: string): Ref
  /** Name of the object of that kind with that value (`valuesOf`); undefined if none is written down. */
  nameOfValue(kind: string, value: string): string | undefined
  /** Inline children, for kinds that have them. */
  readonly children: readonly RemoteObject[]
  /** The object that a part belongs to. */
  whole(id: string): RemoteObject | undefined
  /** The other children of the object that a part belongs to, with the part. */
  siblings(parentId: string): readonly RemoteObject[]
}
