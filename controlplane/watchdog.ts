import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { unrefStream } from './component.ts'

/**
 * A small process that briefly outlives this one: if this one ends without having cleaned up, it kills the control
 * plane's processes and removes the folder. `watchdog/main.go` is the other half.
 */
export class Watchdog {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid ?? 0
    this.#ended = new Promise((resolve) => child.once('exit', resolve))
  }

  /** Starts watching a folder that `createFolder` made. */
  static async start(program: string, folder: string): Promise<Watchdog> {
    // Detached: Ctrl-C at the terminal, or closing it, must not end the watchdog.
    const child = spawn(program, [folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    const watchdog = new Watchdog(child)
    await once(child, 'spawn')
    // A killed watchdog closes the pipe. Then only stop() cleans up.
    child.stdin?.on('error', () => {})
    child.unref()
    unrefStream(child.stdin)
    return watchdog
  }

  /** Adds a process to kill when this one has ended. */
  add(pid: number): void {
    this.#child.stdin?.write(`+${pid}\n`)
  }

  /** Removes a process that has ended, whose id may be reused. */
  remove(pid: number): void {
    this.#child.stdin?.write(`-${pid}\n`)
  }

  /** Everything is cleaned up: the watchdog ends without doing anything. */
  async dismiss(): Promise<void> {
    this.#child.ref()
    this.#child.stdin?.end('done\n')
    await this.#ended
  }
}
