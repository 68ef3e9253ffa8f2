import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { environmentForLoopback } from '../../config.ts'

export interface CulvertProcessOptions {
  /** The program of this process, which also has the command. */
  readonly entryPoint: string
  readonly command: 'operator' | 'agent'
  readonly args: readonly string[]
  /** File to which its log is appended. */
  readonly logFile: string
}

/**
 * Stops the process when the channel to its parent closes, however the parent ended. The channel itself must not keep
 * it running.
 */
const END_WITH_PARENT = 'process.on("disconnect", () => process.kill(process.pid, "SIGTERM")); process.channel?.unref()'

/** Longer than an operator needs for its writes in flight. */
const STOP_GRACE_MS = 10_000

/** An operator or agent in a process of its own, as a user would start it. */
export class CulvertProcess implements AsyncDisposable {
  /** Resolves to the reason, as text, when the process has ended. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
    this.ended = once(child, 'exit').then(([code, signal]) =>
      code === null ? `signal ${signal}` : `exit code ${code}`,
    )
  }

  static async start({ entryPoint, command, args, logFile }: CulvertProcessOptions): Promise<CulvertProcess> {
    const log = await open(logFile, 'a')
    try {
      const preload = `data:text/javascript,${encodeURIComponent(END_WITH_PARENT)}`
      const child = spawn(process.execPath, ['--import', preload, entryPoint, command, ...args], {
        stdio: ['ignore', log.fd, log.fd, 'ipc'],
        env: environmentForLoopback(),
        // Ctrl-C in the terminal reaches only the demo, which stops everything in order.
        detached: true,
      })
      await once(child, 'spawn')
      return new CulvertProcess(child)
    } finally {
      await log.close()
    }
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** Asks the process to stop, and kills it if it does not. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM')
    const grace = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS)
    await this.ended
    clearTimeout(grace)
  }
}
