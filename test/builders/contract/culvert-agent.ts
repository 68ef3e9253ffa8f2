import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { vi } from 'vitest'
import { PROGRAM } from '../program.ts'
import type { SshGateway, SshKeyFile } from './ssh-agent.ts'

/** A line of its log. */
interface LogLine {
  readonly msg: string
  readonly code?: string
  readonly port?: number
}

/** `culvert agent` in its own process, with its health on a free port. */
export class CulvertAgent {
  readonly #child: ReturnType<typeof spawn>
  readonly #exited: Promise<unknown>
  #said = ''

  private constructor(child: ReturnType<typeof spawn>) {
    this.#child = child
    this.#exited = once(child, 'exit')
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString()
    })
  }

  /** Starts one with the flags given, and no others. */
  static spawn(...flags: readonly string[]): CulvertAgent {
    return new CulvertAgent(
      spawn(process.execPath, [PROGRAM, 'agent', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] }),
    )
  }

  /** Starts one with that key. @param forwards as `--forward` takes them, and further flags */
  static connect(gateway: SshGateway, key: SshKeyFile, ...forwards: readonly string[]): CulvertAgent {
    const { host, port, hostKey } = gateway
    return CulvertAgent.spawn(
      ...['--gateway', `${host}:${port}`, '--host-key', hostKey, '--key', key.path, '--listen', '127.0.0.1:0'],
      ...forwards.flatMap((each) => (each.startsWith('--') ? each.split(' ') : ['--forward', each])),
    )
  }

  /** Everything that it wrote to standard error. */
  get said(): string {
    return this.#said
  }

  /** Its log so far. */
  get log(): readonly LogLine[] {
    const lines = this.#said.split('\n').slice(0, -1)
    return lines.filter((line) => line.startsWith('{')).map((line): LogLine => JSON.parse(line))
  }

  /** Resolves to the first line of the log that `matches`. */
  async logged(matches: (line: LogLine) => boolean): Promise<LogLine> {
    return await vi.waitFor(
      () => {
        const found = this.log.find(matches)
        if (found === undefined) throw new Error(`it has not logged that yet: ${this.#said}`)
        return found
      },
      { timeout: 25_000, interval: 20 },
    )
  }

  /** Resolves once all forwards are bound. */
  async online(): Promise<this> {
    await this.logged(({ msg }) => msg === 'all forwards are bound')
    return this
  }

  /** The message of the first failure with that code. */
  async failure(code: string): Promise<string> {
    return (await this.logged((line) => line.code === code)).msg
  }

  /** Requests a page of its health server. */
  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const { port } = await this.logged(({ msg }) => msg === 'serving health and metrics')
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves to the exit code when it has ended. */
  async exited(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#exited
    return this.#child.exitCode
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited()
  }
}
