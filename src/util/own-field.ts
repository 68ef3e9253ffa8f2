/**
 * A field of an object whose names people choose: never what every object inherits, such as `constructor`.
 *
 * @returns undefined where the object has no such field of its own, or is none
 */
export function ownField<T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}
