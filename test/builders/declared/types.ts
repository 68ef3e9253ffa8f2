export type Body = Readonly<Record<string, unknown>>

/** A reference of a spec: by name or by id. */
export interface Ref {
  readonly name?: string
  readonly id?: string
}

/** A value of a Secret or ConfigMap that a spec refers to. */
export interface KeyRef {
  readonly name: string
  readonly key: string
}

/** The dependencies of a spec, read from both servers and nowhere else. */
export interface Resolved {
  /** Id of the referenced object. */
  id(kind: string, ref: Ref): string
  /** Field of the referenced object. */
  field(kind: string, ref: Ref, field: string): unknown
  /** Value from a Secret or ConfigMap. */
  input(source: 'Secret' | 'ConfigMap', ref: KeyRef): string
}

/** A part of an object as the spec declares it and as the API has it, in one form. */
export type Declared = readonly [part: string, wanted: unknown, found: unknown]

/** The API's state of one object. */
export interface Held {
  /** As the API shows it. */
  readonly object: Body
  /** As the API stores it, with what no answer shows. */
  readonly stored: Body
  /** Objects that are part of it: the rules of a policy. */
  readonly children: readonly Body[]
}
