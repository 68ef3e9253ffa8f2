import type { OperatorProcess } from '../../../cluster/support/operator-process.ts'
import type { Stage } from '../../../cluster/support/stage.ts'

/** On a busy machine a process may lose its Lease before it has begun. */
const TRIES = 4

/** Keeps an operator running on a stage, as a kubelet does: one that ends because its Lease was lost on a busy machine is started again. */
export class Restarted implements AsyncDisposable {
  readonly #stage: Stage
  readonly #ended = new Set<OperatorProcess>()
  readonly #over = new AbortController()
  #starting: Promise<void> = Promise.resolve()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Starts one; it reconciles when this resolves. */
  async start(): Promise<void> {
    this.#starting = this.#start()
    await this.#starting
  }

  /** Ends the one that runs, as a crash would. */
  async kill(): Promise<void> {
    // One that has just been lost is on its way to being started again.
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
    // Whoever waits for the resources sees that none has come.
    await this.start().catch(() => undefined)
  }
}
