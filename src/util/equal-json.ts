import { isDeepStrictEqual } from 'node:util'

/** Deep equality of JSON values in which an absent field equals `undefined`. Key order does not matter. */
export function equalJSON(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(compact(left), compact(right))
}

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.map(([key, field]) => [key, compact(field)]))
}
