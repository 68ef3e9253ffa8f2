const NUMERIC = /^\d+$/

/**
 * Whether `incoming` comes after `known` in the history of one resource type. API servers use integers beyond 2^53 as
 * resourceVersions; one that is not a number says nothing about order and counts as newer.
 */
export function isNewer(incoming: string, known: string): boolean {
  if (incoming === known) return false
  if (!NUMERIC.test(incoming) || !NUMERIC.test(known)) return true
  return BigInt(incoming) > BigInt(known)
}

/** Whether `incoming` is `known` or comes after it. */
export function isSameOrNewer(incoming: string, known: string): boolean {
  return incoming === known || isNewer(incoming, known)
}
