import type { Clock } from '../../src/util/clock.ts'
import { sleep } from '../../src/util/clock.ts'

/**
 * A process that may die at any moment: requests already sent still take effect, but no answer reaches it any more, so
 * that its code never continues.
 */
export class ModelProcess {
  readonly #clock: Clock
  #alive: boolean = true

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get alive(): boolean {
    return this.#alive
  }

  kill(): void {
    this.#alive = false
  }

  /**
   * A call of this process: `effect` happens at the server after `there`, its answer or error arrives after `back`.
   * Milliseconds.
   */
  async call<T>(there: number, back: number, effect: () => T): Promise<T> {
    await this.#orNever()
    await sleep(this.#clock, there)
    const settled = settle(effect)
    await sleep(this.#clock, back)
    await this.#orNever()
    if ('error' in settled) throw settled.error
    return structuredClone(settled.value)
  }

  /** Never resolves in a dead process. */
  async #orNever(): Promise<void> {
    if (!this.#alive) await new Promise(() => undefined)
  }
}

function settle<T>(effect: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: effect() }
  } catch (error) {
    return { error }
  }
}
