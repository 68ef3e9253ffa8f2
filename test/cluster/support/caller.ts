/** A connection that a {@link Caller} made. Times in milliseconds of `performance.now()`. */
export interface Call {
  readonly began: number
  readonly ended: number
  /** What came back, or the code of the error. */
  readonly answer: string
}

/** Connections of one client at a time, at most: on a busy machine it connects less often, and loads it no further. */
const MOST_OPEN = 4

/** A client that connects again and again, and keeps how each connection went. */
export class Caller {
  readonly calls: Call[] = []
  readonly #connect: () => Promise<string>
  readonly #timer: NodeJS.Timeout
  readonly #open = new Set<Promise<void>>()

  /** @param connect resolves to what came back, whatever happened */
  constructor(everyMs: number, connect: () => Promise<string>) {
    this.#connect = connect
    this.#timer = setInterval(() => {
      if (this.#open.size === MOST_OPEN) return
      const call = this.#call().finally(() => this.#open.delete(call))
      this.#open.add(call)
    }, everyMs)
  }

  /** Resolves when its last connection has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }

  async #call(): Promise<void> {
    const began = performance.now()
    const answer = await this.#connect()
    this.calls.push({ began, ended: performance.now(), answer })
  }
}
