import { createHash } from 'node:crypto'

/** Whether a value is an object with members: no list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The result of a JSON merge patch, word for word as in RFC 7396. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name)
    else if (value !== undefined) result.set(name, applyMergePatch(result.get(name), value))
  }
  return Object.fromEntries(result)
}

/** Deep equality of JSON values in which an absent field equals `undefined`. Key order does not matter. */
export function equalJSON(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (Array.isArray(left) || Array.isArray(right)) return isSameList(left, right)
  if (!isObject(left) || !isObject(right)) return false
  let fields = 0
  for (const key of Object.keys(left)) {
    const value = left[key]
    if (value === undefined) continue
    // Not what the prototype has under that name.
    if (!Object.hasOwn(right, key) || !equalJSON(value, right[key])) return false
    fields++
  }
  return fields === countFields(right)
}

function isSameList(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
  return left.every((value, index) => equalJSON(value, right[index]))
}

function countFields(object: Readonly<Record<string, unknown>>): number {
  let fields = 0
  for (const key of Object.keys(object)) if (object[key] !== undefined) fields++
  return fields
}

/**
 * A field of an object whose field names people choose: never an inherited one such as `constructor`.
 *
 * @returns undefined if the object has no such field of its own, or is null or undefined
 */
export function ownField<T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}

/**
 * The first hexadecimal digits, an even number, of the SHA-256 of a value as JSON. Not for secrets: it can be guessed.
 */
export function digestOf(value: unknown, digits = 32): string {
  // A slice of a string would keep the whole string in memory.
  return createHash('sha256')
    .update(JSON.stringify(value))
    .digest()
    .toString('hex', 0, digits / 2)
}
