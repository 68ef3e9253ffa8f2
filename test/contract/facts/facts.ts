/**
 * The vocabulary of the table of facts: what the contract says about each collection, as data.
 *
 * The rows are written from `docs/management-api.md` and `docs/api-decisions.md` alone. Both the emulator and the operator
 * are held against them, and neither is imported here (`docs/decisions/0001-facts-table.md`).
 */

/** JSON as it travels. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Whether the emulator and the operator must honour a row today, or when the collection's turn comes. */
export type Due = 'now' | 'later'

/** The largest length that is still accepted. `chars` counts Unicode code points, `bytes` counts UTF-8. */
export interface Limit {
  readonly max: number
  readonly unit: 'bytes' | 'chars'
}

/** Texts whose content is judged beyond their length. */
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
  /** A string holding the id of an object of one of the named collections. */
  | { readonly kind: 'id'; readonly to: readonly string[] }
  /** `{id, uri}` of an object of one of the named collections. */
  | { readonly kind: 'ref'; readonly to: readonly string[] }
  /** An object of `objects.ts`. */
  | { readonly kind: 'object'; readonly object: string }
  /** Any JSON object. */
  | { readonly kind: 'free-object' }

/** What a request may say about a field. */
export interface SentFact {
  readonly shape: Shape
  readonly create: 'mandatory' | 'optional' | 'refused'
  /** `fixed`: set at create, so a PATCH that carries it is a 400 naming it. */
  readonly update: 'mutable' | 'fixed'
  /** What an explicit null in PATCH does; `clears` puts back what `returned.absent` says. */
  readonly whenNull: 'clears' | 'refused'
  /** The response field that shows the value; undefined when no response does. */
  readonly shownAs?: string
  /** A field that may not be set in the same body. */
  readonly excludes?: string
  /** Another field and the one value of it that this field goes with; beside anything else it is refused. */
  readonly goesWith?: { readonly field: string; readonly value: string }
}

/** What a response says in a field. */
export interface ReturnedFact {
  readonly shape: Shape
  /** The value when nothing was set. Undefined: the service makes a value of its own. */
  readonly absent?: Json
  /** `create`: only the create response carries the value, later ones null. */
  readonly shown: 'always' | 'create'
}

export interface FieldFact {
  /** `<collection path>.<field>`, stable. */
  readonly id: string
  readonly name: string
  /** The section of the contract, as `management-api.md § Lists`. */
  readonly source: string
  /** Undefined: no request may carry it. */
  readonly sent?: SentFact
  /** Undefined: no response carries it under this name. */
  readonly returned?: ReturnedFact
}

/** An address under a resource that is not one of the five standard operations. */
export interface SubResourceFact {
  readonly id: string
  /** Below the resource's path; `{type}` stands for a value. */
  readonly path: string
  readonly source: string
  readonly methods: readonly ('GET' | 'PUT' | 'POST' | 'DELETE')[]
  /** The field of the resource it shows, replaces or clears. */
  readonly field: string
  readonly listKey?: string
}

export interface CollectionFact {
  /** Path below the base URL, without a leading slash. Also the stable id of the row. */
  readonly path: string
  readonly source: string
  /** Whether the emulator must serve the collection today. */
  readonly due: Due
  /** Whether a kind of the operator must manage it today; `now` unless the row says otherwise. */
  readonly operatorDue: Due
  readonly listKey: string
  readonly idPrefix: string
  /** The `<name>` in the event types `<name>_created.v0`, `<name>_updated.v0` and `<name>_deleted.v0`. */
  readonly eventName: string
  /** `path`: the resource's `uri` may be a path relative to the base address. */
  readonly uri: 'absolute' | 'path'
  /** Response fields whose value no other resource of the account may share. */
  readonly unique: readonly string[]
  readonly fields: readonly FieldFact[]
  readonly subResources: readonly SubResourceFact[]
}

/** What a rule's refusal looks like. */
interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503
  /** What the error must name: a field, a value or an id. */
  readonly names?: readonly string[]
}

/** How the operator keeps to a rule: tests of it, or why there is nothing to keep to. */
export type OperatorSide = { readonly tests: readonly string[] } | { readonly serverOnly: string }

/** A rule that no single field carries. */
export interface RuleFact {
  /** Stable; the contract suite takes the test's title from the row through it. */
  readonly id: string
  /** One sentence of behaviour. */
  readonly statement: string
  readonly source: string
  readonly due: Due
  /** Whether the operator must keep to it today; as `due` unless the row says otherwise. */
  readonly operatorDue?: Due
  /** Undefined only while the rule is not due: a rule that is due and says nothing here is a gap. */
  readonly operator?: OperatorSide
  readonly refusal?: Refusal
}
