import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PrintedLines } from '../builders/printed-lines.ts'
import { pathOfProgram } from '../builders/system-programs.ts'
import { containerConfig, type FileMount } from './container-config.ts'
import { runTool } from './image-store.ts'
import type { UnpackedImage } from './unpack.ts'

export interface ContainerOptions {
  readonly image: UnpackedImage
  readonly args: readonly string[]
  readonly files?: readonly FileMount[]
}

/** What a container runtime leaves a process between SIGTERM and SIGKILL. */
const GRACE_MS = 10_000

/** Removes the container when its standard input closes: when the test has ended, however it ended. */
const REMOVE_WITH_PARENT = 'cat >/dev/null; "$1" --root "$2" delete --force "$3" 2>/dev/null; rm -rf "$4"'

/** A container that runc runs from an unpacked image. */
export class Container implements AsyncDisposable {
  /** When the runtime was asked to run it, in the milliseconds of `performance.now()`. */
  readonly startedAt: number = performance.now()
  readonly #runc: readonly [program: string, ...flags: string[]]
  readonly #id: string
  readonly #process: ChildProcess
  readonly #remover: ChildProcess
  readonly #folder: string
  readonly #exit: Promise<number>
  readonly #printed: PrintedLines

  private constructor(folder: string, runc: string) {
    this.#folder = folder
    this.#id = `culvert-${randomUUID()}`
    this.#runc = [runc, '--root', join(folder, 'state')]
    const [, , state] = this.#runc
    this.#remover = spawn('sh', ['-c', REMOVE_WITH_PARENT, 'remover', runc, state ?? '', this.#id, folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    const run = [...this.#runc.slice(1), 'run', '--bundle', folder, '--pid-file', join(folder, 'pid'), this.#id]
    this.#process = spawn(runc, run, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#exit = once(this.#process, 'close').then(([code]) => code as number)
    this.#printed = new PrintedLines(this.#process)
  }

  /** Starts it; does not wait for anything that it does. */
  static async start({ image, args, files = [] }: ContainerOptions): Promise<Container> {
    const runc = await pathOfProgram('runc')
    if (runc === undefined) throw new Error('runc is missing')
    const folder = await mkdtemp(join(tmpdir(), 'culvert-container-'))
    const config = containerConfig({ image: image.config, rootfs: image.rootfs, args, files })
    await writeFile(join(folder, 'config.json'), JSON.stringify(config))
    return new Container(folder, runc)
  }

  /** Everything it printed. */
  get output(): string {
    return this.#printed.text
  }

  /**
   * Waits until it has printed a line that matches; returns the match. @throws Error with its output when it has ended.
   */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed.until(pattern)
  }

  /** The id that its first process has on this machine. */
  async pid(): Promise<number> {
    return Number(await readFile(join(this.#folder, 'pid'), 'utf8'))
  }

  async signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const [runc, ...flags] = this.#runc
    await runTool(runc, [...flags, 'kill', this.#id, signal])
  }

  /** Resolves to the exit code; 128 and the signal's number when a signal ended it. */
  exited(): Promise<number> {
    return this.#exit
  }

  /** As a container runtime does it: SIGTERM, and SIGKILL after ten seconds. Resolves to the exit code. */
  async stop(): Promise<number> {
    await this.signal('SIGTERM')
    const kill = setTimeout(() => void this.signal('SIGKILL').catch(() => undefined), GRACE_MS)
    try {
      return await this.#exit
    } finally {
      clearTimeout(kill)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) await this.signal('SIGKILL').catch(() => undefined)
    await this.#exit
    const removed = once(this.#remover, 'exit')
    this.#remover.stdin?.end()
    await removed
    await rm(this.#folder, { recursive: true, force: true })
  }
}
