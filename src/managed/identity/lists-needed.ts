/** What lists have said of an object so far. Times are of the monotonic clock, in milliseconds. */
export interface Misses {
  /** When complete lists began, in an unbroken row up to the last one and since the suspicion, that have not shown the object. */
  readonly misses: readonly number[]
  /** Lists that began before count for nothing. */
  readonly notBefore: number
  /** The two lists that settle it have to begin so far apart. */
  readonly pauseMs: number
  readonly now: number
}

export type ListsNeeded =
  /** The object is gone: two lists that count agree. */
  | { readonly type: 'none' }
  /** A list that begins at that time or later. */
  | { readonly type: 'next'; readonly at: number }

/**
 * The next list that is needed to know whether an object is gone. One is made at once, since it may show the object; while none counts
 * yet, each waits twice as long as the one before.
 */
export function nextList({ misses, notBefore, pauseMs, now }: Misses): ListsNeeded {
  const [first] = misses
  const last = misses.at(-1)
  if (first === undefined || last === undefined) return { type: 'next', at: now }
  const counting = misses.find((at) => at >= notBefore)
  if (counting === undefined) return { type: 'next', at: Math.min(notBefore, last + Math.max(pauseMs, last - first)) }
  return last - counting >= pauseMs ? { type: 'none' } : { type: 'next', at: counting + pauseMs }
}
