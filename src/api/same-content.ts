import { isObject } from '../util/json.ts'

/**
 * Whether two JSON values mean the same to the API: the order of members does not matter, that of lists does, and a
 * null member equals an omitted one (`management-api.md § Conventions`).
 */
export function sameContent(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameContent(item, b[i]))
    )
  }
  if (!isObject(a) || !isObject(b)) return false
  return covers(a, b) && covers(b, a)
}

type Members = Readonly<Record<string, unknown>>

/** Whether every member of `a` that is not null is in `b` with the same content. */
function covers(a: Members, b: Members): boolean {
  return Object.keys(a).every((key) => {
    const other = Object.hasOwn(b, key) ? b[key] : undefined
    return sameContent(a[key] ?? undefined, other ?? undefined)
  })
}
