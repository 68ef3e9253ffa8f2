/** What JSON.parse can return. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON that this program wrote itself (a stored row); anything but an object means a damaged store. */
export function parseStoredObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (!isJsonObject(value)) throw new Error('the emulator store holds a row that is not a JSON object')
  return value
}

/** RFC 3339 in UTC with whole seconds, like every timestamp of the API (`api-decisions.md § Values`). */
export function rfc3339(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** A string member of a stored object, which the fields of the collection guarantee. */
export function textOf(object: JsonObject, name: string): string {
  const value: Json | undefined = object[name]
  if (typeof value !== 'string') throw new Error(`${name} of ${String(object.id)} is not a string`)
  return value
}

/** The strings of a stored list; anything else in it is skipped. */
export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
