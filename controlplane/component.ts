import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { ControlPlaneError } from './errors.ts'

/** The component to start. */
export interface ComponentSpec {
  /** For messages. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /** Standard output and error are appended here. */
  readonly logFile: string
}

/**
 * Short, because an apiserver waits until every open watch has ended, and nothing is lost by killing one: everything
 * that it has acknowledged is in etcd.
 */
const STOP_GRACE_MILLISECONDS = 2_000
const LOG_TAIL_LINES = 25
const LOG_LINE_LENGTH = 400

/**
 * One running process of a control plane. A program of ours ends with this process for whatever reason, because its
 * standard input is a pipe that the kernel then closes; other programs are ended by the watchdog. It has its own
 * process group, so that Ctrl-C at the terminal reaches only the caller, which stops the components in order.
 */
export class Component {
  readonly name: string
  readonly pid: number
  /** Resolves once the process has ended, with the reason in words. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  readonly #logFile: string
  #endReason: string | undefined
  #askedToEnd = false

  private constructor(spec: ComponentSpec, child: ChildProcess, pid: number) {
    this.name = spec.name
    this.pid = pid
    this.#child = child
    this.#logFile = spec.logFile
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#endReason = signal === null ? `exit code ${code}` : `signal ${signal}`
        resolve(this.#endReason)
      })
    })
  }

  /** Starts the process; resolves once it runs, possibly before it is ready. */
  static async start(spec: ComponentSpec): Promise<Component> {
    const log = await open(spec.logFile, 'a')
    try {
      const child = spawn(spec.program, spec.args, {
        stdio: ['pipe', log.fd, log.fd],
        detached: true,
      })
      const pid = await startedPid(child, spec)
      // The pipe fails when the process is killed; `ended` reports that.
      child.stdin?.on('error', () => {})
      // A caller that has finished may exit without stopping the control plane, which ends with it.
      child.unref()
      unrefStream(child.stdin)
      return new Component(spec, child, pid)
    } finally {
      await log.close()
    }
  }

  /** Whether `stop` or `kill` was called: otherwise an end is a fault. */
  get askedToEnd(): boolean {
    return this.#askedToEnd
  }

  get running(): boolean {
    return this.#endReason === undefined
  }

  /**
   * Asks the process to terminate, kills it if it has not within `graceMilliseconds` (default 2 s), and waits for its
   * end.
   */
  async stop(graceMilliseconds: number = STOP_GRACE_MILLISECONDS): Promise<void> {
    if (!this.running) return
    this.#child.ref()
    this.#askedToEnd = true
    this.#child.kill('SIGTERM')
    const grace = setTimeout(() => this.#child.kill('SIGKILL'), graceMilliseconds)
    await this.ended
    clearTimeout(grace)
  }

  /** Kills the process at once, and waits for its end. */
  async kill(): Promise<void> {
    if (!this.running) return
    this.#child.ref()
    this.#askedToEnd = true
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** Lets the process do nothing until `resume`. */
  suspend(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** The end of its log. */
  async logTail(): Promise<string> {
    const lines = (await readFile(this.#logFile, 'utf8')).trimEnd().split('\n')
    return lines
      .slice(-LOG_TAIL_LINES)
      .map((line) => line.slice(0, LOG_LINE_LENGTH))
      .join('\n')
  }

  /**
   * Throws if the process has ended: `PORT_TAKEN` if that was the reason, otherwise `START_FAILED`, with the end of the
   * log.
   */
  async assertRunning(): Promise<void> {
    if (this.running) return
    const tail = await this.logTail()
    const code = /address already in use/.test(tail) ? 'PORT_TAKEN' : 'START_FAILED'
    throw new ControlPlaneError(code, `${this.name} ended with ${this.#endReason}. The end of its log:\n${tail}`)
  }
}

function startedPid(child: ChildProcess, spec: ComponentSpec): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0))
    child.once('error', (cause) =>
      reject(new ControlPlaneError('START_FAILED', `${spec.name} could not be started: ${cause.message}`, { cause })),
    )
  })
}

/**
 * Lets Node exit while this pipe to a child is open. Node implements pipes as sockets, although its types do not say
 * so.
 */
export function unrefStream(stream: NodeJS.WritableStream | null): void {
  if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}
