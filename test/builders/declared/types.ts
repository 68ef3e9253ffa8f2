export type Body = Readonly<Record<string, unknown>>

/** A reference of a spec: by name or by id. */
export interface Ref {
  readonly name?: string
  readonly id?: string
}

/** A value of a Secret or ConfigMap that a spec names. */
export interface KeyRef {
  readonly name: string
  readonly key: string
}

/** What a spec refers to, looked up at both servers and nowhere else. */
export interface Resolved {
  /** Id of what a reference means. */
  id(kind: string, ref: Ref): string
  /** Field of the object of a reference. */
  field(kind: string, ref: Ref, field: string): unknown
  /** Value from a Secret or ConfigMap. */
  input(source: 'Secret' | 'ConfigMap', ref: KeyRef): string
}

/** A part of an object: as the spec declares it, and as the API has it, in one form. */
export type Declared = readonly [part: string, wanted: unknown, found: unknown]

/** What the API has of one object. */
export interface Held {
  /** As the API shows it. */
  readonly object: Body
  /** As the API keeps it, with what no answer shows. */
  readonly stored: Body
  /** Objects that are a part of it: the rules of a policy. */
  readonly children: readonly Body[]
}
