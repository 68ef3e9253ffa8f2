import { abortable } from '../util/clock.ts'

/** At most `limit` holders at a time; waiters are served in the order they came. */
export class ConcurrencyLimit {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(limit: number) {
    this.#free = limit
  }

  /**
   * Resolves with the function that releases the slot; rejects with a signal's reason when one is aborted while
   * waiting.
   */
  async acquire(signals: readonly AbortSignal[] = []): Promise<() => void> {
    for (const signal of signals) signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signals)
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#release()
    }
  }

  #wait(signals: readonly AbortSignal[]): Promise<void> {
    return abortable(signals, (resolve) => {
      this.#waiting.add(resolve)
      return () => this.#waiting.delete(resolve)
    })
  }

  #release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
