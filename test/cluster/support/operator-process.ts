import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROGRAM } from '../../builders/program.ts'
import { sumOfMetric } from './metric.ts'

/** Ends the operator when the channel to the test closes, however the test ended: an orphaned one would run forever. */
export const END_WITH_PARENT =
  'process.on("disconnect", () => process.kill(process.pid, "SIGKILL")); process.channel?.unref()'

/** Longer than a start takes on the busiest machine, including the Lease of a dead leader. */
const START_MS = 60_000

/** Code that shifts the wall clock of its process. */
function clockAheadBy(ms: number): string {
  return `const Real = Date
    globalThis.Date = class Date extends Real {
      constructor(...given) { if (given.length === 0) super(Real.now() + ${ms}); else super(...given) }
      static now() { return Real.now() + ${ms} }
    }`
}

export interface OperatorProcessOptions {
  readonly kubeconfig: string
  /** The operator's own namespace; it must exist. */
  readonly namespace: string
  /** Further flags; a later one replaces an earlier one of the same name. */
  readonly flags?: readonly string[]
  /** Whether it takes a Lease, which is the default for users. Default here: false. */
  readonly leaderElect?: boolean
  /**
   * How many milliseconds its wall clock is ahead of the machine's; negative to run at the time of a recording. Default
   * 0.
   */
  readonly clockOffsetMs?: number
  /** Whether plain http is allowed to every allowed host, as emulators need. Default: true. */
  readonly allowHTTP?: boolean
  /** What `start` waits for: that it reconciles (default), or only that it serves /healthz, as a standby does. */
  readonly until?: 'reconciling' | 'serving'
  /** Flags of its Node. Default: none. */
  readonly nodeFlags?: readonly string[]
}

/** A real `culvert operator` process, as a user starts it, with short intervals so that tests need not wait. */
export class OperatorProcess {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #serving = Promise.withResolvers<number>()
  readonly #reconciling = Promise.withResolvers<void>()
  readonly #lines: string[] = []

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exit = once(child, 'exit')
    for (const stage of [this.#serving, this.#reconciling]) {
      void this.#exit.then(() => stage.reject(new Error(`the operator ended before it was ready:\n${this.log}`)))
      stage.promise.catch(() => undefined)
    }
    if (child.stderr === null) throw new Error('the operator has no standard error')
    createInterface({ input: child.stderr }).on('line', (line) => this.#read(line))
  }

  /** Starts the process; resolves at the stage of `until`. @throws with its log if it does not get there in time */
  static async start(options: OperatorProcessOptions): Promise<OperatorProcess> {
    const { kubeconfig, namespace, flags = [], nodeFlags = [], leaderElect = false } = options
    const { clockOffsetMs = 0, until = 'reconciling' } = options
    const own = [
      '--kubeconfig',
      kubeconfig,
      '--namespace',
      namespace,
      ...(options.allowHTTP === false ? [] : ['--allow-http']),
    ]
    const times = [
      '--request-timeout',
      '1s',
      '--scan-pause',
      '200ms',
      '--read-lag',
      '500ms',
      '--listen',
      '127.0.0.1:0',
      '--log-level',
      'debug',
    ]
    const preload = [END_WITH_PARENT, ...(clockOffsetMs === 0 ? [] : [clockAheadBy(clockOffsetMs)])].flatMap((code) => {
      return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
    })
    const args = [
      ...nodeFlags,
      ...preload,
      PROGRAM,
      'operator',
      ...own,
      ...times,
      ...(leaderElect ? [] : ['--no-leader-elect']),
      ...flags,
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const operator = new OperatorProcess(child)
    await operator.#started(until)
    return operator
  }

  /** Ends it if it does not start: no caller has a handle to it. */
  async #started(until: 'reconciling' | 'serving'): Promise<void> {
    const over = new AbortController()
    const late = sleep(START_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error(`after ${START_MS} ms the operator is not yet ${until}:\n${this.log}`)
    })
    try {
      await Promise.race([until === 'serving' ? this.#serving.promise : this.#reconciling.promise, late])
    } catch (error) {
      await this.kill()
      throw error
    } finally {
      over.abort()
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Its whole log, one JSON object a line. */
  get log(): string {
    return this.#lines.join('\n')
  }

  /** Resolves once it reconciles; rejects if it ends before that. */
  async reconciling(): Promise<void> {
    await this.#reconciling.promise
  }

  /** Requests `/healthz`, `/readyz` or `/metrics` of its health server. */
  async ask(path: string, init: RequestInit = {}): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`${await this.healthURL()}${path}`, init)
    return { status: response.status, text: await response.text() }
  }

  /** The URL of its health server. */
  async healthURL(): Promise<string> {
    return `http://127.0.0.1:${await this.#serving.promise}`
  }

  /** Its metrics in the text format. */
  async metrics(): Promise<string> {
    return (await this.ask('/metrics')).text
  }

  /** Sum of a metric over all label sets that contain `labels` (`kind="Edge"`). */
  async metric(name: string, ...labels: readonly string[]): Promise<number> {
    return sumOfMetric(await this.metrics(), name, labels)
  }

  /** Stops it gracefully; resolves to its exit code. */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM')
    return this.#child.exitCode
  }

  /** Kills it at once, like a crash. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Pauses (SIGSTOP) or resumes (SIGCONT) it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Resolves to the exit code when it ends on its own. */
  async exited(): Promise<number | null> {
    await this.#exit
    return this.#child.exitCode
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    await this.#exit
  }

  #read(line: string): void {
    this.#lines.push(line)
    if (!line.startsWith('{')) return
    const entry = JSON.parse(line) as { readonly msg?: string; readonly port?: number }
    if (entry.msg === 'serving health and metrics' && entry.port !== undefined) this.#serving.resolve(entry.port)
    if (entry.msg === 'reconciling') this.#reconciling.resolve()
  }
}
