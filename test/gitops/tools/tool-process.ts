import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { PrintedLines } from '../../builders/printed-lines.ts'

/** A program of a GitOps tool. It ends with this process, however that ends. */
export class ToolProcess implements AsyncDisposable {
  readonly printed: PrintedLines
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exit = once(child, 'close')
    this.printed = new PrintedLines(child)
  }

  /**
   * Starts it; resolves once it has printed a line that matches.
   *
   * @param env added to the caller's
   */
  static async start(
    [program = '', ...args]: readonly string[],
    { env = {}, ready }: { readonly env?: NodeJS.ProcessEnv; readonly ready: RegExp },
  ): Promise<ToolProcess> {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    const started = new ToolProcess(child)
    try {
      await started.printed.until(ready)
    } catch (error) {
      await started[Symbol.asyncDispose]()
      throw error
    }
    return started
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL')
    await this.#exit
  }
}
