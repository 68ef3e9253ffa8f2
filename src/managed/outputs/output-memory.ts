import { countedRepeat, pauseBeforeNext, type Repeats } from '../reconcile/damping.ts'

/** What this process knows of the outputs of one CR. */
export class OutputMemory {
  /** Name of the Secret in which this process last knew the token to be. */
  tokenSecret?: string | undefined
  /** Id of the object of a create whose answer must not be used, while it is being deleted. */
  refusing?: string | undefined
  /** A companion that the spec does not ask for was searched for and does not exist. */
  dismissed?: boolean | undefined
  #reissues: Repeats | undefined
  #refusals: (Repeats & { readonly problem: string }) | undefined

  /** How long to wait before a token that keeps being lost is issued again, in milliseconds. */
  pauseBeforeReissue(now: number): number {
    return pauseBeforeNext(this.#reissues, now)
  }

  /** A lost token was issued again. */
  reissued(now: number): void {
    this.#reissues = countedRepeat(this.#reissues, now)
  }

  /** How long to wait before another create after refused answers, in milliseconds. */
  pauseAfterRefusal(now: number): number {
    return pauseBeforeNext(this.#refusals, now)
  }

  /** The problem of the last refused answer; undefined if none was refused since a create succeeded. */
  get refusedFor(): string | undefined {
    return this.#refusals?.problem
  }

  /**
   * The object of a refused answer is deleted. Counts consecutive refusals; time without one does not reset the count,
   * since nothing was created.
   */
  refused(problem: string, now: number): void {
    this.refusing = undefined
    this.#refusals = { count: (this.#refusals?.count ?? 0) + 1, at: now, problem }
  }

  /** The CR has an object that may be used. */
  accepted(): void {
    this.#refusals = undefined
  }

  /**
   * The older state may have a companion. Secrets are where they were, and what keeps failing at the API keeps failing
   * whatever the CR says.
   */
  rollBack(): void {
    this.dismissed = undefined
  }
}
