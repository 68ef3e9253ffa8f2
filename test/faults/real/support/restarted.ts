import type { OperatorProcess } from '../../../cluster/support/operator-process.ts'
import type { Stage } from '../../../cluster/support/stage.ts'

/** On a busy machine a process may lose its Lease before it has begun. */
const TRIES = 4

/**
 * Keeps an operator running on a stage, as a kubelet does: if it ends because a busy machine cost it its Lease, it is
 * restarted.
 */
export class Restarted implements AsyncDisposable {
  readonly #stage: Stage
  readonly #ended = new Set<OperatorProcess>()
  readonly #over = new AbortController()
  #starting: Promise<void> = Promise.resolve()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Starts one; resolves once it reconciles. */
  async start(): Promise<void> {
    this.#starting = this.#start()
    await this.#starting
  }

  /** Kills the running one, as a crash would. */
  async kill(): Promise<void> {
    // One that has just ended is already being restarted.
    await this.#starting
    const { operator } = this.#stage.world
    this.#ended.add(operator)
    await operator.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#starting.catch(() => undefined)
  }

  async #start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#stage.startOperator()
        break
      } catch (error) {
        if (tries === TRIES || this.#over.signal.aborted) throw error
      }
    }
    void this.#follow(this.#stage.world.operator)
  }

  async #follow(operator: OperatorProcess): Promise<void> {
    await operator.exited()
    if (this.#over.signal.aborted || this.#ended.has(operator)) return
    // The caller that waits for resources notices that none is reconciled.
    await this.start().catch(() => undefined)
  }
}
