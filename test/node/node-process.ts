import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../cluster/support/wait.ts'
import { NodeError } from './errors.ts'
import type { NodeFolder } from './folder.ts'
import { environment, type NodeNamespace, onlyChildOf } from './namespace.ts'

/** A program to start in a node's namespaces. */
export interface NodeProcessSpec {
  /** For messages and the name of the log. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
}

const STOP_GRACE_MS = 10_000
/** Generous, because cores may be shared with whole test suites; the end of a process is noticed at once. */
const START_TIMEOUT_MS = 180_000
const LOG_TAIL_LINES = 25

/** One running component of a node, until it is disposed of. */
export class NodeProcess implements AsyncDisposable {
  readonly #name: string
  readonly #logFile: string
  /** `nsenter`, the component's parent, which lives as long as the component. */
  readonly #entered: ChildProcess
  readonly #ended: Promise<void>
  #endReason: string | undefined

  private constructor(name: string, logFile: string, entered: ChildProcess) {
    this.#name = name
    this.#logFile = logFile
    this.#entered = entered
    this.#ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#endReason = reason
        resolve()
      }
      entered.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
      entered.once('error', (error) => end(error.message))
    })
  }

  /** Starts it; it may not be ready yet. */
  static async start(
    namespace: NodeNamespace,
    folder: NodeFolder,
    { name, program, args }: NodeProcessSpec,
  ): Promise<NodeProcess> {
    const logFile = join(folder.logFolder, `${name}.log`)
    const log = await open(logFile, 'a')
    try {
      const [command, ...rest] = namespace.command(program, args)
      const entered = spawn(command, rest, {
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
        env: environment(),
      })
      return new NodeProcess(name, logFile, entered)
    } finally {
      await log.close()
    }
  }

  /** Waits for a condition. @throws NodeError with the end of the log if the process ends first; Error on timeout */
  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const ask = async (): Promise<boolean> => {
      if (this.#endReason === undefined) return isSo()
      throw new NodeError('START_FAILED', `${this.#name} ended (${this.#endReason}):\n${await this.logTail()}`)
    }
    await until(what, ask, { timeoutMs: START_TIMEOUT_MS, describe: () => this.logTail() })
  }

  /** The end of its log. */
  async logTail(): Promise<string> {
    return (await readFile(this.#logFile, 'utf8')).trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
  }

  /** Terminates it, kills it if that does not help, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#endReason !== undefined) return
    const pid = await onlyChildOf(this.#entered.pid ?? 0).catch(() => 0)
    if (pid === 0) return
    const signal = (name: NodeJS.Signals): void => {
      if (this.#endReason === undefined) process.kill(pid, name)
    }
    signal('SIGTERM')
    const grace = setTimeout(() => signal('SIGKILL'), STOP_GRACE_MS)
    await this.#ended
    clearTimeout(grace)
  }
}
