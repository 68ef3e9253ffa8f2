/** How long work continues before it yields to timers, sockets and probes, in milliseconds. */
const TURN_MS = 10

/** Does something for each item, with other work between two of them where `turns` asks for that. */
export async function eachInTurns<T>(
  turns: Pick<Turns, 'next'> | undefined,
  items: Iterable<T>,
  each: (item: T) => void,
): Promise<void> {
  for (const item of items) {
    each(item)
    const turn = turns?.next()
    if (turn !== undefined) await turn
  }
}

/**
 * Ends the turn of the event loop when work has taken it for long. Work that never waits for the outside would keep it:
 * ten thousand reconciles that find nothing to do follow each other for seconds, in which no Lease is renewed and no
 * probe answered. Simulations have none: there, time stands still while anything runs.
 */
export class Turns {
  readonly #now: () => number
  #began: number | undefined
  #next: Promise<void> | undefined

  /** @param now milliseconds of real time; only differences mean something */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Resolves in the next turn; undefined while the present one is short, so that nothing waits in vain. */
  next(): Promise<void> | undefined {
    const now = this.#now()
    if (this.#began === undefined) {
      this.#began = now
      setImmediate(() => {
        this.#began = undefined
      })
    }
    if (now - this.#began < TURN_MS) return undefined
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined
        resolve()
      })
    })
    return this.#next
  }
}
