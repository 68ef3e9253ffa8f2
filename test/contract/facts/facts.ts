/**
 * The vocabulary of the table of facts: what the contract says about each collection, as data.
 *
 * The rows are written only from `docs/management-api.md` and `docs/api-decisions.md`. Both the emulator and the
 * operator are checked against them, and neither is imported here (`docs/decisions/0001-facts-table.md`).
 */

/** JSON as sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The largest accepted length. `chars` counts Unicode code points, `bytes` counts UTF-8. */
export interface Limit {
  readonly max: number
  readonly unit: 'bytes' | 'chars'
}

/** Texts whose content is validated beyond their length. */
type TextForm =
  | 'acl-rule'
  | 'cidr'
  | 'cel'
  | 'domain'
  | 'hostport'
  | 'event-type'
  | 'pem-ca'
  | 'public-key'
  | 'timestamp'

/** The type of a value on the wire. */
export type Shape =
  | {
      readonly kind: 'string'
      readonly limit?: Limit
      /** The closed list of accepted values. */
      readonly values?: readonly string[]
      readonly form?: TextForm
    }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'integer'
      readonly bits: 32 | 64
      readonly min?: number
      readonly max?: number
      readonly values?: readonly number[]
    }
  | { readonly kind: 'list'; readonly of: Shape; readonly singleAllowed?: boolean }
  | { readonly kind: 'map'; readonly of: Shape; readonly keys?: readonly string[] }
  /** A string with the id of an object of one of the named collections. */
  | { readonly kind: 'id'; readonly to: readonly string[] }
  /** `{id, uri}` of an object of one of the named collections. */
  | { readonly kind: 'ref'; readonly to: readonly string[] }
  /** An object of `objects.ts`. */
  | { readonly kind: 'object'; readonly object: string }
  /** Any JSON object. */
  | { readonly kind: 'free-object' }

/** What a request may contain in a field. */
export interface SentFact {
  readonly shape: Shape
  readonly create: 'mandatory' | 'optional' | 'refused'
  /** `fixed`: set at create, so a PATCH that contains it is a 400 naming it. */
  readonly update: 'mutable' | 'fixed'
  /** The effect of an explicit null in PATCH; `clears` restores the value in `returned.absent`. */
  readonly whenNull: 'clears' | 'refused'
  /** The response field that shows the value; undefined when no response does. */
  readonly shownAs?: string
  /** A field that must not be set in the same body. */
  readonly excludes?: string
  /** Another field and its only value that this field is allowed with; with any other it is refused. */
  readonly goesWith?: { readonly field: string; readonly value: string }
}

/** What a response contains in a field. */
export interface ReturnedFact {
  readonly shape: Shape
  /** The value if nothing was set. Undefined: the service chooses a value. */
  readonly absent?: Json
  /** `create`: only the create response contains the value, later ones null. */
  readonly shown: 'always' | 'create'
}

export interface FieldFact {
  /** `<collection path>.<field>`, stable. */
  readonly id: string
  readonly name: string
  /** The section of the contract, as `management-api.md § Lists`. */
  readonly source: string
  /** Undefined: no request may contain it. */
  readonly sent?: SentFact
  /** Undefined: no response contains it under this name. */
  readonly returned?: ReturnedFact
}

/** An address under a resource that is not one of the five standard operations. */
export interface SubResourceFact {
  readonly id: string
  /** Below the resource's path; `{type}` is replaced by a value. */
  readonly path: string
  readonly source: string
  readonly methods: readonly ('GET' | 'PUT' | 'POST' | 'DELETE')[]
  /** The field of the resource that it shows, replaces or clears. */
  readonly field: string
  readonly listKey?: string
}

export interface CollectionFact {
  /** Path below the base URL, without a leading slash. Also the stable id of the row. */
  readonly path: string
  readonly source: string
  readonly listKey: string
  readonly idPrefix: string
  /** The `<name>` in the event types `<name>_created.v0`, `<name>_updated.v0` and `<name>_deleted.v0`. */
  readonly eventName: string
  /** `path`: the resource's `uri` may be a path relative to the base address. */
  readonly uri: 'absolute' | 'path'
  /** Response fields whose values are unique in the account. */
  readonly unique: readonly string[]
  readonly fields: readonly FieldFact[]
  readonly subResources: readonly SubResourceFact[]
}

/** How the operator complies with a rule: files of its tests, or why it does not apply. */
export type OperatorSide = { readonly tests: readonly string[] } | { readonly serverOnly: string }

/** A rule that does not belong to a single field. */
interface RuleFact {
  /** One sentence of behaviour: the title of the test of the emulator. */
  readonly statement: string
  readonly source: string
  readonly operator: OperatorSide
}

/** Rules by their ids, which are stable. */
export type Rules = Readonly<Record<string, RuleFact>>
