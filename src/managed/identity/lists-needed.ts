/** The evidence of lists about an object so far. Times are monotonic, in milliseconds. */
export interface Misses {
  /** Start times of the complete lists that have not shown the object, in an unbroken row since the suspicion. */
  readonly misses: readonly number[]
  /** Lists that began before this time do not count. */
  readonly notBefore: number
  /** Minimum time between the starts of the two lists that decide. */
  readonly pauseMs: number
  readonly now: number
}

export type ListsNeeded =
  /** The object is gone: two lists that count agree. */
  | { readonly type: 'none' }
  /** A list that begins at that time or later is needed. */
  | { readonly type: 'next'; readonly at: number }

/**
 * The next list needed to know whether an object is gone. The first is made at once, since it may show the object;
 * while none counts yet, each wait is twice the one before.
 */
export function nextList({ misses, notBefore, pauseMs, now }: Misses): ListsNeeded {
  const [first] = misses
  const last = misses.at(-1)
  if (first === undefined || last === undefined) return { type: 'next', at: now }
  const counting = misses.find((at) => at >= notBefore)
  if (counting === undefined) return { type: 'next', at: Math.min(notBefore, last + Math.max(pauseMs, last - first)) }
  return last - counting >= pauseMs ? { type: 'none' } : { type: 'next', at: counting + pauseMs }
}
