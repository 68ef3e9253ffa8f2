/**
 * Whether an object that the API server has stored says all that is wanted of it: it may have more fields, which are
 * defaults, and more keys of maps, but lists have exactly the wanted entries. Null is wanted of a field to be absent.
 */
export function covers(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(stored) &&
      stored.length === wanted.length &&
      wanted.every((entry, index) => covers(stored[index], entry))
    )
  }
  if (wanted === null) return stored === undefined || stored === null
  if (typeof wanted !== 'object') return stored === wanted
  if (typeof stored !== 'object' || stored === null) return Object.keys(wanted).length === 0 && stored === undefined
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(stored, name), value))
}
