/** Ids are strings of a few dozen characters (`management-api.md § Conventions`); they stand in paths, logs, and statuses, which take no longer ones. */
export const MAX_ID_LENGTH = 255

/**
 * Whether an id can stand in a path. A segment of dots would climb out of the collection, and an empty id would name the
 * collection itself; everything else that means something in a URL is encoded.
 */
export function fitsPath(id: string): boolean {
  return id !== '' && id !== '.' && !id.includes('..') && !/[/\\\p{Cc}]/u.test(id) && id.isWellFormed()
}
