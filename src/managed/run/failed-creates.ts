import { ApiError } from '../../api/errors.ts'
import { countedRepeat, pauseBeforeNext, type RepeatPace, type Repeats } from './damping.ts'

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
