import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { unrefStream } from './component.ts'

/**
 * A small process that outlives this one for a moment: when this one ends without having cleaned up, it kills the
 * control plane's processes and removes the folder. `watchdog/main.go` is the other half.
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

  /** Starts watching over a folder that `createFolder` made. */
  static async start(program: string, folder: string): Promise<Watchdog> {
    // Detached: Ctrl-C at the terminal, or its closing, must not take the watchdog along.
    const child = spawn(program, [folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    const watchdog = new Watchdog(child)
    await once(child, 'spawn')
    // A watchdog that was killed closes the pipe. What it guards is then cleaned up by stop() alone.
    child.stdin?.on('error', () => {})
    child.unref()
    unrefStream(child.stdin)
    return watchdog
  }

  /** A process to kill when this one is gone. */
  add(pid: number): void {
    this.#child.stdin?.write(`+${pid}\n`)
  }

  /** A process that has ended, whose id may become somebody else's. */
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
