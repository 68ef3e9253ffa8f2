import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { ControlPlaneError } from './errors.ts'

/** What is started. */
export interface ComponentSpec {
  /** Argument that selects the component in the program. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /** Standard output and error are appended here. */
  readonly logFile: string
}

/**
 * Short, because an apiserver waits for every open watch to end by itself, and nothing is lost by killing one: what
 * it has answered is in etcd.
 */
const STOP_GRACE_MILLISECONDS = 2_000
const LOG_TAIL_LINES = 25
const LOG_LINE_LENGTH = 400

/**
 * One running process of a control plane. It ends with this process however this one ends: its standard input is a
 * pipe that the kernel closes then. It is in a process group of its own, so that Ctrl-C at the terminal reaches the
 * caller alone, who stops the components in their order.
 */
export class Component {
  readonly name: string
  readonly pid: number
  /** Resolves when the process has ended, with the reason in words. */
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

  /** Starts the process; it runs when this resolves, which is not to say that it is ready. */
  static async start(spec: ComponentSpec): Promise<Component> {
    const log = await open(spec.logFile, 'a')
    try {
      const child = spawn(spec.program, ['--die-with-parent', spec.name, ...spec.args], {
        stdio: ['pipe', log.fd, log.fd],
        detached: true,
      })
      const pid = await startedPid(child, spec)
      // The pipe ends with an error when the process is killed; `ended` is where that is heard of.
      child.stdin?.on('error', () => {})
      // A caller that has nothing more to do may end without stopping the control plane, which ends it.
      child.unref()
      unrefStream(child.stdin)
      return new Component(spec, child, pid)
    } finally {
      await log.close()
    }
  }

  /** Whether `stop` or `kill` was called: an end without that is a fault. */
  get askedToEnd(): boolean {
    return this.#askedToEnd
  }

  get running(): boolean {
    return this.#endReason === undefined
  }

  /** Asks the process to end, kills it when it has not within `graceMilliseconds` (default 2 s), and waits for its end. */
  async stop(graceMilliseconds: number = STOP_GRACE_MILLISECONDS): Promise<void> {
    if (!this.running) return
    this.#child.ref()
    this.#askedToEnd = true
    this.#child.kill('SIGTERM')
    const grace = setTimeout(() => this.#child.kill('SIGKILL'), graceMilliseconds)
    await this.ended
    clearTimeout(grace)
  }

  /** Ends the process at once, without its doing, and waits for its end. */
  async kill(): Promise<void> {
    if (!this.running) return
    this.#child.ref()
    this.#askedToEnd = true
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** The end of its log. */
  async logTail(): Promise<string> {
    const lines = (await readFile(this.#logFile, 'utf8')).trimEnd().split('\n')
    return lines
      .slice(-LOG_TAIL_LINES)
      .map((line) => line.slice(0, LOG_LINE_LENGTH))
      .join('\n')
  }

  /** Throws when the process has ended: `PORT_TAKEN` when that was why, else `START_FAILED`, with the log's tail. */
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

/** Lets Node end although this pipe to a child is open. Pipes are sockets to Node, which its types do not say. */
export function unrefStream(stream: NodeJS.WritableStream | null): void {
  if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}
