import type { Arbitrary } from 'fast-check'
import type { JsonObject } from '../../src/emulator/values/json.ts'
import type { World } from '../builders/contract/world.ts'
import type { Declared, Held, Resolved } from '../builders/declared/types.ts'

export type Body = Readonly<Record<string, unknown>>

/** A resource to apply. */
export interface Manifest {
  readonly kind: string
  readonly name: string
  readonly spec: Record<string, unknown>
}

/** What the suites need to know of a kind that has a spec. */
export interface KindTestData {
  readonly kind: string
  /** A spec that keeps every rule of the CRD. */
  readonly accepted: Body
  /** What the apiserver must refuse: at least one for each CEL rule of the CRD. */
  readonly refusals: readonly Refusal[]
}

/**
 * The same for a kind whose resources have remote objects. Expectations are written from `management-api.md` and the
 * kind's page, never computed by its descriptor: a wrong descriptor would judge itself right.
 */
export interface ManagedKindTestData extends KindTestData {
  /** By title: the required fields alone, every field that can be combined, and what else is special. */
  readonly specs: SpecsByTitle
  /** Together they set, change and remove each field that may change. */
  readonly edits: readonly EditStory[]
  /** By path: each collection that holds objects of the kind. */
  readonly collections: Readonly<Record<string, CollectionTestData>>
  /** Values for generated specs where the schema does not suffice, by place: `spec.acl[]`. */
  readonly places: Readonly<Record<string, Arbitrary<unknown>>>
  /** Each part of the object as a spec declares it and as the API has it; description and metadata aside. */
  readonly declares: (spec: Body, held: Held, resolved: Resolved) => readonly Declared[]
  /** Files that an output holds, by key; undefined if the API lacks what they are made of. Not for tokens. */
  readonly publishes?: (spec: Body, object: Body, objectAt: (place: string) => Body | undefined) => Body
  /** Resources and unmanaged objects of the kind that edits and generated specs refer to. */
  readonly referents?: readonly Referent[]
}

/** Something that the apiserver must refuse: a new resource, or a change of one. */
export interface Refusal {
  /** What is wrong, to complete the sentence "is refused …". */
  readonly because: string
  /** Fields in which the spec differs from the accepted one, or from `before`; undefined removes a field. */
  readonly change: Body
  /** Fields in which the spec of the existing resource differs from the accepted one. Default: there is no resource. */
  readonly before?: Body
  /** Part of the message: it names the field and the remedy. */
  readonly message: string
}

interface SpecsByTitle extends Readonly<Record<string, SpecTestData>> {
  readonly minimal: SpecTestData
  readonly full: SpecTestData
}

/** A valid spec, and the object that it makes. */
export interface SpecTestData {
  /** The spec with a name of its own: several may exist in one account. */
  readonly spec: (name: string) => Record<string, unknown>
  /** Resources that the spec refers to, in order of creation. Default: none. */
  readonly needs?: (name: string) => readonly Manifest[]
  /** The object that the API should return: every field, and no other. */
  readonly object: (around: Surrounding) => Body
  /** The rules that a policy then has. */
  readonly rules?: readonly Body[]
  /** Values that the API stores and does not show, by their path in the store. */
  readonly hidden?: readonly (readonly [path: string, value: string])[]
}

/** Values that an expected object may use. */
export interface Surrounding {
  /** Name of the resource. */
  readonly name: string
  /** Id of the object of another resource. */
  id(kind: string, name: string): string
  /** Address of a reserved address. */
  addr(name: string): string
  /** The user that the account's key belongs to. */
  readonly ownUser: string
}

export type IdOf = Surrounding['id']

/** Edits of one resource, each on top of the previous one. */
export interface EditStory {
  /** What is special about the resource; also its name. */
  readonly title: string
  readonly base: Body
  readonly edits: readonly Edit[]
}

/** One edit of a spec, and its effect at the API. */
export interface Edit {
  /** Fields of the spec with their new values; undefined removes one. */
  readonly spec: Body
  /** Fields of the single PATCH; none: no request at all. `another object`: a new object replaces this one. */
  readonly sends: readonly string[] | 'another object'
  /** Fields of the object that differ afterwards; the others stay. */
  readonly object?: (id: IdOf) => Body
  /** The rules that a policy has afterwards, if they differ: range, action, description and metadata. */
  readonly rules?: readonly Body[]
}

/** What the suites need to know of a collection of the API. */
export interface CollectionTestData {
  /** For each field that a request may carry, its value. */
  readonly samples: Readonly<Record<string, MakeSample>>
  /** For each field of the operator's updates, changes by another client that make the objects of `specs` differ. */
  readonly drifts: Readonly<Record<string, readonly Drift[]>>
  /** Fields with a single valid value, each with a change that the API must refuse. */
  readonly unchangeable?: Readonly<Record<string, Body>>
  /** Fields whose values the service makes anew for each object, beside its id and times. */
  readonly madeAnew?: readonly string[]
  /** Body of an object that somebody else made. Default: one with a description. */
  readonly stranger?: (number: number, of: (path: string) => Promise<string>) => Body | Promise<Body>
}

/** The body of an update that makes the object, as the API returns it, differ from its spec. */
export type Drift = (object: Body) => Body

/** A value for a request, and the value that every response then shows. */
export interface Sample {
  readonly sent: unknown
  readonly returned: unknown
}

/** `first` goes into creates; `second`, which differs, into updates. */
export type Variant = 'first' | 'second'

export type MakeSample = (world: World, variant: Variant) => Promise<Sample> | Sample

/** An object that specs refer to: by the name of its resource, or by its id if it has none. */
export interface Referent {
  /** Where the API has it. */
  readonly collection: string
  readonly object: JsonObject & { readonly id: string }
  /** Its resource. */
  readonly resource?: { readonly name: string; readonly spec: Body }
}
