import { isObject } from '../../util/json.ts'
import { rfc3339Of } from '../../util/time.ts'

/**
 * Reads API responses without trusting them: null means absent, unknown fields are ignored, and a single object counts
 * as a list of one where the contract leaves that open (`api-decisions.md`).
 */

/** An object's fields, or undefined if the value is not an object. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined
}

/** A list as it is, one object as a list of one, anything else as an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return objectOf(value) === undefined ? [] : [value]
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * A text of at most `max` UTF-16 code units. A longer one counts as absent, for fields where a part of it would be
 * worse.
 */
export function wholeText(value: unknown, max: number): string | undefined {
  const text = textOf(value)
  return text === undefined || text.length > max || !text.isWellFormed() ? undefined : text
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** A map of texts: null is the empty text, since the key is there; entries of another type are left out. */
export function textMapOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(objectOf(value) ?? {}).map(([key, text]) => [key, text ?? ''])
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string'))
}

/** The id in a Ref `{id, uri}` (`management-api.md § Conventions`). */
export function refId(value: unknown): string | undefined {
  return textOf(objectOf(value)?.id)
}

/** The address in a Ref. */
export function refURI(value: unknown): string | undefined {
  return textOf(objectOf(value)?.uri)
}

export function refIds(value: unknown): readonly string[] {
  return listOf(value)
    .map(refId)
    .filter((id) => id !== undefined)
}

/** Maximum length of an id in a status, in characters. */
export const ID_LENGTH = 255

/** Maximum length of an API address in a status, in characters. */
export const URI_LENGTH = 2048

/** The first `max` ids, for a bounded list in a status; ids that are too long are left out. */
export function shownIds(ids: readonly string[], max: number): readonly string[] {
  return shownTexts(ids, { max, length: ID_LENGTH })
}

/** The first `max` texts, for a bounded list in a status; texts that are too long are left out. */
export function shownTexts(texts: readonly string[], { max, length }: ListBounds): readonly string[] {
  return texts.filter((text) => wholeText(text, length) !== undefined).slice(0, max)
}

interface ListBounds {
  /** Entries of the list. */
  readonly max: number
  /** Characters of an entry. */
  readonly length: number
}

/** An RFC 3339 time in the form that the apiserver reads, or undefined for anything else. */
export function timeOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text === undefined ? undefined : rfc3339Of(text)
}

/** Texts in a fixed order, each once, for comparing sets. */
export function sorted(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareTexts)
}

/** An order of texts that does not depend on the locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/**
 * Names of the fields that are not undefined: what a descriptor's `setBy` returns, given values of the spec by API
 * name.
 */
export function namesOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(given(fields))
}

/** `fields` without those that are undefined. */
export function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
