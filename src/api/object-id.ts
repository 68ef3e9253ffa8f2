/**
 * Ids are strings of a few dozen characters (`management-api.md § Conventions`). They appear in paths, logs and
 * statuses, which take no longer ones.
 */
export const MAX_ID_LENGTH = 255

/**
 * Whether an id can be used in a path. A segment of dots would leave the collection, and an empty id would name the
 * collection itself; every other character with a meaning in URLs is encoded.
 */
export function fitsPath(id: string): boolean {
  return id !== '' && id !== '.' && !id.includes('..') && !/[/\\\p{Cc}]/u.test(id) && id.isWellFormed()
}
