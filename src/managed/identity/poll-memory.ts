/** When one CR is to be read again, as its last reconcile concluded. */
export class PollMemory {
  /** Monotonic time of the next poll that readiness asked for. */
  at?: number | undefined
  /**
   * Wall time minus monotonic time when the next poll was scheduled, in milliseconds; undefined if it was not scheduled
   * by wall time.
   */
  clockOffset?: number | undefined

  /** What the last reconcile concluded. */
  scheduled({ at, clockOffset }: Pick<PollMemory, 'at' | 'clockOffset'>): void {
    this.at = at
    this.clockOffset = clockOffset
  }

  /** What the service reports of the object has changed: its next reconcile reads it. `now` is monotonic time. */
  readNow(now: number): void {
    this.at = now
  }

  /** The older state asks for polls of its own. A clock that was set meanwhile was set for it too. */
  rollBack(): void {
    this.at = undefined
  }
}
