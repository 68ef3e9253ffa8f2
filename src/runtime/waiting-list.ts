import type { Clock } from '../util/clock.ts'

/** What to do about keys that wait for long. */
export interface LongWaits {
  /** How long a key waits before it is reported, in milliseconds. */
  readonly afterMs: number
  /** Reports that `key` waits; undefined when there is nothing to report. The promise must not reject. */
  readonly tell: (key: string) => Promise<void> | undefined
}

/**
 * Keys that wait, in the order in which they came. The first is reported when it has waited for long, then the next,
 * one at a time: there is one timer, and nothing iterates over all keys. Each wait is reported once.
 */
export class WaitingList {
  readonly #clock: Clock
  readonly #waits: LongWaits
  readonly #onReported: () => void
  /** Monotonic time since when each key that was not yet reported waits, in order of arrival. */
  readonly #since = new Map<string, number>()
  #held: string | undefined
  #telling: Promise<void> = Promise.resolve()
  #cancel: (() => void) | undefined

  /** @param onReported the key that was held is free again */
  constructor(clock: Clock, waits: LongWaits, onReported: () => void) {
    this.#clock = clock
    this.#waits = waits
    this.#onReported = onReported
  }

  /** The key that is being reported. It must not be worked on meanwhile. */
  get held(): string | undefined {
    return this.#held
  }

  /** `key` begins to wait. */
  add(key: string): void {
    this.#since.set(key, this.#clock.monotonic())
    if (this.#held === undefined && this.#cancel === undefined) this.#reportNext()
  }

  /** `key` no longer waits. */
  remove(key: string): void {
    this.#since.delete(key)
    if (this.#since.size === 0) this.#endTimer()
  }

  /** Stops all further reports. */
  clear(): void {
    this.#since.clear()
    this.#endTimer()
  }

  /** Resolves when the report in progress has ended. */
  settled(): Promise<void> {
    return this.#telling
  }

  #reportNext(): void {
    this.#endTimer()
    for (const [key, since] of this.#since) {
      const leftMs = since + this.#waits.afterMs - this.#clock.monotonic()
      if (leftMs > 0) {
        // The first key by then may have waited for less: the timer is set again.
        this.#cancel = this.#clock.setTimer(leftMs, () => this.#reportNext())
        return
      }
      this.#since.delete(key)
      const telling = this.#waits.tell(key)
      if (telling === undefined) continue
      this.#held = key
      this.#telling = telling.finally(() => this.#release())
      return
    }
  }

  #release(): void {
    this.#held = undefined
    this.#onReported()
    this.#reportNext()
  }

  #endTimer(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
