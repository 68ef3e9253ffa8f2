import { type Clock, sleep } from '../util/clock.ts'

/** Signs that come within this time lead to one list of everything. Milliseconds. */
const PAUSE_MS = 30_000

export interface RelistOptions {
  readonly clock: Clock
  /** Nothing is listed once it is aborted. */
  readonly signal: AbortSignal
  /** Lists what was not listed since that monotonic time. */
  readonly refresh: (since: number) => Promise<void>
}

/**
 * Lists everything again when one watch has seen that the cluster's history is another one, since etcd was restored.
 * Others may notice nothing: a watch resumes where it was, and by its first bookmark the new history may be as long as
 * the former.
 */
export class Relist {
  readonly #options: RelistOptions
  /** The latest sign that nothing was listed for. */
  #since: number | undefined

  constructor(options: RelistOptions) {
    this.#options = options
  }

  /** @param since monotonic time of the sign: what was listed later is not listed again */
  request(since: number): void {
    const isDue = this.#since !== undefined
    this.#since = since
    if (!isDue) void this.#list()
  }

  async #list(): Promise<void> {
    const { clock, signal, refresh } = this.#options
    await sleep(clock, PAUSE_MS, signal).catch(() => undefined)
    const since = this.#since
    this.#since = undefined
    if (!signal.aborted && since !== undefined) await refresh(since)
  }
}
