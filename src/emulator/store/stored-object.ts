import type { JsonObject } from '../values/json.ts'

/** An API object as stored: body fields in the form they were sent in, plus internal state. */
export interface StoredObject extends JsonObject {
  id: string
  created_at: string
}

/** A link to another object; see `links` in the schema. */
export interface Link {
  readonly target: string
  readonly onDelete: 'restrict' | 'cascade'
}

/** A value that must be unique within its scope. */
export interface Claim {
  readonly scope: string
  readonly value: string
}

export interface ObjectKey {
  readonly account: string
  readonly collection: string
  readonly id: string
}
