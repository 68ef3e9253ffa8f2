import type { Choices } from '../choices/choices.ts'
import { invalid } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { distinct, nonEmptyString } from './readers.ts'

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
