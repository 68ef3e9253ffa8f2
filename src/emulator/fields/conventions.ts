import type { Choices } from '../choices/choices.ts'
import { isJsonObject, type JsonObject } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { type Field, optional } from './field.ts'
import { TEXT } from './json-schema.ts'
import { bytes, distinct, nonEmptyString, string } from './readers.ts'

/** `description` and `metadata` with the usual limits (`management-api.md § Conventions`). */
export const DESCRIBED = {
  description: optional(bytes(255), ''),
  metadata: optional(bytes(4096), ''),
} satisfies Record<string, Field>

/** The two fields as shown by every resource except bots. */
export const SHOWN_TEXTS = { description: TEXT, metadata: TEXT }

/** `description` and `metadata` of backends, for which no limits are stated; the body limit applies. */
export const DESCRIBED_WITHOUT_LIMITS = {
  description: optional(string, ''),
  metadata: optional(string, ''),
} satisfies Record<string, Field>

/** An id; whether it exists is checked where the account is known. */
export const id = nonEmptyString
/** Distinct ids. */
export const ids = distinct(nonEmptyString)

/** Refuses a body in which one of these members is an empty list or map. */
export function refuseEmpty(body: JsonObject, members: readonly string[]): void {
  for (const name of members) {
    const value = body[name]
    const entries = Array.isArray(value) ? value : isJsonObject(value) ? Object.keys(value) : undefined
    if (entries?.length === 0) throw invalid(name, 'must not be empty')
  }
}

/**
 * Of the policies to which an object refers, those that another list of it may name: all, since a deleted one counts as
 * a policy with zero rules (`management-api.md § States and transitions`); or, as chosen, those that exist alone.
 */
export function keptPolicies(held: readonly string[], choices: Choices): readonly string[] {
  return choices['deleted-policies'] === 'kept' ? held : []
}

/** Region identifiers (`management-api.md § Domains, addresses, ingress`). */
export const REGIONS = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'] as const
