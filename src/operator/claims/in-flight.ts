/** Counts what is in progress for each account, and tells when nothing is any more. */
export class InFlight {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()

  /** Runs `work`, which counts for that account until it ends. */
  async count<T>(account: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(account, (this.#counts.get(account) ?? 0) + 1)
    try {
      return await work()
    } finally {
      this.#leave(account)
    }
  }

  /** Resolves when nothing is in progress for that account. */
  ended(account: string): Promise<void> {
    if (!this.#counts.has(account)) return Promise.resolve()
    const waiting = this.#waiting.get(account) ?? Promise.withResolvers<void>()
    this.#waiting.set(account, waiting)
    return waiting.promise
  }

  #leave(account: string): void {
    const left = (this.#counts.get(account) ?? 1) - 1
    if (left > 0) {
      this.#counts.set(account, left)
      return
    }
    this.#counts.delete(account)
    this.#waiting.get(account)?.resolve()
    this.#waiting.delete(account)
  }
}
