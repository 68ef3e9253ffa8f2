import { ApiError } from '../../api/errors.ts'

/**
 * How often something that got lost was recently created again. Kept in memory: a restart resets it, which costs one
 * more repeat.
 */
export interface Repeats {
  readonly count: number
  /** Monotonic time of the last repeat. */
  readonly at: number
}

/** How the pauses between repeats grow, in milliseconds. */
export interface RepeatPace {
  /** The pause after the first repeat. Each further one is twice as long. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

/**
 * How long to wait before something that got lost is created again, in milliseconds. The first repeat is immediate;
 * while it keeps getting lost, each wait is twice the one before: a minute at first and an hour at most, unless the
 * pace says otherwise.
 */
export function pauseBeforeNext(before: Repeats | undefined, now: number, pace: RepeatPace = {}): number {
  if (before === undefined) return 0
  return Math.max(0, before.at + pauseAfter(before.count, pace) - now)
}

/** Counts one more repeat. The count starts over when nothing got lost for twice the pause. */
export function countedRepeat(before: Repeats | undefined, now: number, pace: RepeatPace = {}): Repeats {
  const calm = before === undefined || now - before.at > 2 * pauseAfter(before.count, pace)
  return { count: calm ? 1 : before.count + 1, at: now }
}

function pauseAfter(count: number, { firstPauseMs = 60_000, longestPauseMs = 3_600_000 }: RepeatPace): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (count - 1))
}

/** An answer that came and cannot be used will not heal by itself: as rare as the reissue of a token. */
const UNUSABLE: RepeatPace = { firstPauseMs: 60_000, longestPauseMs: 3_600_000 }
/** An API that fails may work again at any time: as for any other failed call. */
const UNANSWERED: RepeatPace = { firstPauseMs: 5_000, longestPauseMs: 300_000 }

/**
 * Creates of one CR and of one sort that failed with an unknown outcome. Lists show that they made nothing, and the
 * next one follows: at once after the first failure, then after pauses that double, since nothing else slows them down.
 * In memory only: a new process counts from zero.
 */
export class FailedCreates {
  #failed: ApiError | undefined
  #repeats: Repeats | undefined

  /** The last failure with an unknown outcome; undefined if there was none since a create succeeded. */
  get failure(): ApiError | undefined {
    return this.#failed
  }

  /** How long the next create must wait, in milliseconds. */
  pauseMs(now: number): number {
    return pauseBeforeNext(this.#repeats, now, this.#pace())
  }

  /** Sends a create and counts it, if it repeats one that failed. @throws what `send` throws */
  async send<T>(now: number, send: () => Promise<T>): Promise<T> {
    if (this.#failed !== undefined) this.#repeats = countedRepeat(this.#repeats, now, this.#pace())
    try {
      return await send()
    } catch (error) {
      if (error instanceof ApiError && !error.definite && !ELSEWHERE.has(error.code)) this.#failed = error
      throw error
    }
  }

  /** A create was carried out, with or without an answer. */
  succeeded(): void {
    this.#failed = undefined
    this.#repeats = undefined
  }

  #pace(): RepeatPace {
    return this.#failed?.code === 'InvalidResponse' ? UNUSABLE : UNANSWERED
  }
}

/** Failures that say nothing about the API. */
const ELSEWHERE: ReadonlySet<string> = new Set(['NotLeader', 'Aborted', 'Suspended'])
