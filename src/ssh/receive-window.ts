/** Before its reader has shown that it keeps up, a stream may be sent this many bytes. */
export const LEAST_WINDOW = 64 * 1024
/** What a stream whose reader keeps up may be sent: enough for 300 Mbit/s over 50 ms. */
export const MOST_WINDOW = 2 * 1024 * 1024

/** What all streams of a process share: by how much their windows may exceed the least. */
export class WindowBudget {
  #left: number

  /** @param bytes for all windows together, beyond `LEAST_WINDOW` for each */
  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Takes up to that many bytes, and returns how many. */
  take(bytes: number): number {
    const taken = Math.min(bytes, this.#left)
    this.#left -= taken
    return taken
  }

  giveBack(bytes: number): void {
    this.#left += bytes
  }
}

/**
 * How much the far side of one stream may send (RFC 4254 § 5.2). It may only send more once the reader has taken what
 * came, so that a reader that is slow, or takes nothing, costs no more than the window. A window begins small, and
 * doubles each time the reader has taken half of it and left nothing waiting, for as long as the budget lasts.
 */
export class ReceiveWindow {
  readonly #budget: WindowBudget
  #size = LEAST_WINDOW
  /** What the far side may still send. */
  #open = LEAST_WINDOW
  /** Received, and not yet taken by the reader. */
  #waiting = 0
  /** Taken by the reader, and not yet granted again. */
  #taken = 0

  constructor(budget: WindowBudget) {
    this.#budget = budget
  }

  /** What the far side may have sent and the reader has not taken, at most. */
  get size(): number {
    return this.#size
  }

  /** Notes what has arrived; false if it is more than was granted. */
  receive(bytes: number): boolean {
    if (bytes > this.#open) return false
    this.#open -= bytes
    this.#waiting += bytes
    return true
  }

  /** Notes how much still waits for the reader, and returns how much more the far side may send; often 0. */
  grant(waiting: number): number {
    this.#taken += this.#waiting - waiting
    this.#waiting = waiting
    if (this.#taken < this.#size / 2) return 0
    const more = waiting === 0 ? this.#budget.take(Math.min(this.#size, MOST_WINDOW - this.#size)) : 0
    const granted = this.#taken + more
    this.#size += more
    this.#open += granted
    this.#taken = 0
    return granted
  }

  /** The stream has ended: others may have what it had of the budget. */
  release(): void {
    this.#budget.giveBack(this.#size - LEAST_WINDOW)
    this.#size = LEAST_WINDOW
  }
}
