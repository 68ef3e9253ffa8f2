/**
 * A field of an object whose field names people choose: never an inherited one such as `constructor`.
 *
 * @returns undefined if the object has no such field of its own, or is null or undefined
 */
export function ownField<T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}
