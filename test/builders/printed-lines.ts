import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { until } from '../cluster/support/wait.ts'

/** The lines that a child process prints to both of its streams. */
export class PrintedLines {
  readonly #child: ChildProcess
  readonly #lines: string[] = []

  constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#lines.push(line))
    }
  }

  /** Everything it printed. */
  get text(): string {
    return this.#lines.join('\n')
  }

  /**
   * Waits until it has printed a line that matches; returns the match. @throws Error with its output if it has ended
   */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => {
      const found = this.#lines.map((line) => pattern.exec(line)).find((match) => match !== null)
      if (found === undefined && this.#child.exitCode !== null) throw new Error(`it has ended:\n${this.text}`)
      return found ?? undefined
    }
    return until(`the process prints ${pattern}`, look, { timeoutMs: 60_000, describe: () => this.#lines.slice(-40) })
  }
}
