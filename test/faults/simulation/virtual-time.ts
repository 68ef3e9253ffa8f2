import { setImmediate as turn } from 'node:timers/promises'

interface Timer {
  readonly due: number
  readonly sequence: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * Time that a simulation advances. Timers fire in the order of their times, and those of one moment in the order in
 * which they were set; before the next one fires, everything that the previous one caused has finished, including
 * answers computed by real code.
 */
export class VirtualTime {
  #now = 0
  #sequence = 0
  #outstanding = 0
  /** A binary heap: the earliest first. */
  readonly #heap: Timer[] = []

  /** Milliseconds since the simulation began. */
  get now(): number {
    return this.#now
  }

  /** Runs `callback` once after `ms`. Returns a function that cancels it. */
  setTimer(ms: number, callback: () => void): () => void {
    const timer: Timer = { due: this.#now + Math.max(0, ms), sequence: this.#sequence++, callback, cancelled: false }
    this.#push(timer)
    return () => {
      timer.cancelled = true
    }
  }

  /** Time does not pass until the promise has settled. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.#outstanding += 1
    try {
      return await work
    } finally {
      this.#outstanding -= 1
    }
  }

  /** Advances by `ms`. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.#settle()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#now = timer.due
      timer.callback()
      await this.#settle()
    }
    this.#now = end
  }

  /** Advances until `holds`, checked after each timer; false if that takes more than `ms`. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms
    await this.#settle()
    while (!holds()) {
      const timer = this.#next(end)
      if (timer === undefined) return false
      this.#now = timer.due
      timer.callback()
      await this.#settle()
    }
    return true
  }

  async #settle(): Promise<void> {
    do await turn()
    while (this.#outstanding > 0)
  }

  #next(end: number): Timer | undefined {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined) return undefined
      if (!first.cancelled && first.due > end) return undefined
      this.#pop()
      if (!first.cancelled) return first
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Timer
      if (!isEarlier(timer, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Timer
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isEarlier(heap[child + 1] as Timer, heap[child] as Timer)) child += 1
      if (!isEarlier(heap[child] as Timer, last)) break
      heap[at] = heap[child] as Timer
      at = child
    }
    heap[at] = last
  }
}

function isEarlier(left: Timer, right: Timer): boolean {
  return left.due < right.due || (left.due === right.due && left.sequence < right.sequence)
}
