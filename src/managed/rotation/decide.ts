/**
 * What is known when it is decided whether an object gives way to a new one of the same spec. Times in milliseconds.
 */
export interface RotationFacts {
  /** Wall time. */
  readonly now: number
  /** Wall time from which a new object is to take the place; undefined: never by itself. */
  readonly dueAt: number | undefined
  /** A person has asked for it. */
  readonly requested: boolean
  /** A former object is still there: another beside it would be the third. */
  readonly hasFormer: boolean
  /** How long the last failure still has to be waited out. */
  readonly pauseMs: number
}

export type RotationStep =
  /** Nothing asks for a new object, now or later. */
  | { readonly type: 'none' }
  /** Its time has not come. */
  | { readonly type: 'early'; readonly ms: number }
  /** Its time has come, but the former object has to go first. */
  | { readonly type: 'former' }
  /** Its time has come, but it failed a moment ago. */
  | { readonly type: 'pause'; readonly ms: number }
  | { readonly type: 'due' }

/** Whether a new object is made now. There are never more than two: the one in use, and the one before or after it. */
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

/** How long to wait after so many failures in a row, in milliseconds: each time twice as long, ten minutes at most. */
export function pauseAfterFailures(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
}
