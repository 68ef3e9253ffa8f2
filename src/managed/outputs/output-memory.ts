import { countedRepeat, pauseBeforeNext, type Repeats } from '../run/damping.ts'

/** What this process knows of the outputs of one CR. */
export class OutputMemory {
  /** Name of the Secret in which this process last knew the token to be. */
  tokenSecret?: string | undefined
  /** A companion that the spec does not ask for was searched for and does not exist. */
  dismissed?: boolean | undefined
  #reissues: Repeats | undefined

  /** How long to wait before a token that keeps being lost is issued again, in milliseconds. */
  pauseBeforeReissue(now: number): number {
    return pauseBeforeNext(this.#reissues, now)
  }

  /** A lost token was issued again. */
  reissued(now: number): void {
    this.#reissues = countedRepeat(this.#reissues, now)
  }

  /**
   * The older state may have a companion. Secrets are where they were, and tokens that keep being lost keep being lost
   * whatever the CR says.
   */
  rollBack(): void {
    this.dismissed = undefined
  }
}
