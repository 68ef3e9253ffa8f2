import { countedRepeat, pauseBeforeNext, type Repeats } from '../run/damping.ts'

interface Contest {
  /** The number that the Deployment was to have last. */
  wanted: number
  repeats: Repeats | undefined
  /** Whether these repeats were reported. */
  isTold: boolean
}

/** What becomes of the number of agents in the Deployment of a Tunnel now. */
export interface Scale {
  /** How long another client's number is left as it is, in milliseconds; undefined if it is not. */
  readonly leftMs: number | undefined
  /** Whether someone has to be told of that, for the first time. */
  readonly isNew: boolean
}

/**
 * Decides when the number of agents that another client gave a Deployment is set back. A client that sets its number
 * again and again, as a HorizontalPodAutoscaler does every 15 seconds, would otherwise be answered with a write each
 * time, and Pods would come and go. What a Tunnel's own spec asks for is never delayed. Kept in memory: a restart costs
 * one more write.
 */
export class Scaling {
  readonly #contests = new Map<string, Contest>()

  /**
   * @param tunnel UID of the Tunnel
   * @param wanted number of agents that its spec asks for
   * @param stored number that its Deployment has; undefined if there is none
   * @param now monotonic time in milliseconds
   */
  decide(tunnel: string, wanted: number, stored: number | undefined, now: number): Scale {
    const asSpecified: Scale = { leftMs: undefined, isNew: false }
    const contest = this.#contests.get(tunnel)
    if (contest === undefined || contest.wanted !== wanted) {
      this.#contests.set(tunnel, { repeats: contest?.repeats, isTold: contest?.isTold ?? false, wanted })
      return asSpecified
    }
    if (stored === undefined || stored === wanted) return asSpecified
    const pause = pauseBeforeNext(contest.repeats, now)
    if (pause > 0) {
      const isNew = !contest.isTold
      contest.isTold = true
      return { leftMs: pause, isNew }
    }
    contest.repeats = countedRepeat(contest.repeats, now)
    if (contest.repeats.count === 1) contest.isTold = false
    return asSpecified
  }

  /** The Tunnel is gone. */
  forget(tunnel: string): void {
    this.#contests.delete(tunnel)
  }
}
