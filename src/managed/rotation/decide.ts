/** The facts that decide whether an object is replaced by a new one of the same spec. Times in milliseconds. */
export interface RotationFacts {
  /** Wall time. */
  readonly now: number
  /** Wall time from which the object must be replaced; undefined: never by itself. */
  readonly dueAt: number | undefined
  /** A person has requested it. */
  readonly requested: boolean
  /** A superseded object still exists: a new one would be the third. */
  readonly hasFormer: boolean
  /** How long to wait after the last failure. */
  readonly pauseMs: number
}

export type RotationStep =
  /** No new object is needed, now or later. */
  | { readonly type: 'none' }
  /** It is too early. */
  | { readonly type: 'early'; readonly ms: number }
  /** It is due, but the superseded object must be deleted first. */
  | { readonly type: 'former' }
  /** It is due, but it failed a moment ago. */
  | { readonly type: 'pause'; readonly ms: number }
  | { readonly type: 'due' }

/**
 * Decides whether a new object is created now. There are never more than two: the one in use, and its predecessor or
 * successor.
 */
export function decideRotation({ now, dueAt, requested, hasFormer, pauseMs }: RotationFacts): RotationStep {
  if (!requested) {
    if (dueAt === undefined) return { type: 'none' }
    if (dueAt > now) return { type: 'early', ms: dueAt - now }
  }
  if (hasFormer) return { type: 'former' }
  return pauseMs > 0 ? { type: 'pause', ms: pauseMs } : { type: 'due' }
}

const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 600_000

/**
 * How long to wait after that many failures in a row, in milliseconds: exponential backoff up to ten minutes.
 */
export function pauseAfterFailures(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
}
