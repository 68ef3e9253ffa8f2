import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PROGRAM } from './program.ts'

/** `culvert emulator` in its own process. */
export class EmulatorProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly #lines: readonly string[]

  private constructor(child: ChildProcess, url: string, lines: readonly string[]) {
    this.child = child
    this.url = url
    this.#lines = lines
  }

  /** Its standard output. */
  get output(): string {
    return this.#lines.join('\n')
  }

  /**
   * Resolves once it listens on a free port. With `fileBlocks`, no file may exceed that many blocks of 1 KiB. `env` is
   * added to the environment.
   *
   * @throws Error with its standard error and exit code if it ends before that
   */
  static async start(flags: readonly string[], fileBlocks?: number, env?: NodeJS.ProcessEnv): Promise<EmulatorProcess> {
    const args = [PROGRAM, 'emulator', '--listen', '127.0.0.1:0', ...flags]
    const limited = ['-c', `ulimit -S -f ${fileBlocks}; exec "$@"`, 'bash', process.execPath, ...args]
    const [command, all] = fileBlocks === undefined ? [process.execPath, args] : ['bash', limited]
    const child = spawn(command, all, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    const lines: string[] = []
    const errors: string[] = []
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
    const url = await new Promise<string>((resolve, reject) => {
      child.once('close', (code) => reject(new Error(`the emulator ended with exit code ${code}: ${errors.join('')}`)))
      createInterface(child.stdout).on('line', (line) => {
        lines.push(line)
        const address = /^emulator listening on (\S+)$/.exec(line)?.[1]
        if (address !== undefined) resolve(address)
      })
    })
    return new EmulatorProcess(child, url, lines)
  }

  /** Stops it; resolves to its exit code, or null after a signal that it did not handle. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
    return child.exitCode
  }
}
