import { Writable } from 'node:stream'
import { type Terminals, terminalOf } from '../../src/cli/terminal/terminal.ts'

/** How a stream is shown. */
interface Shown {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** A stream that keeps what a command prints: by default no terminal, with lines of any length. */
export class CapturedText extends Writable {
  readonly isTTY: boolean
  readonly columns: number
  readonly rows: number
  #text = ''

  constructor({ isTTY = false, columns = Number.POSITIVE_INFINITY, rows = 24 }: Shown = {}) {
    super()
    this.isTTY = isTTY
    this.columns = columns
    this.rows = rows
  }

  override _write(part: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.#text += String(part)
    done()
  }

  override toString(): string {
    return this.#text
  }
}

/** Keeps what a command prints to standard output and standard error, as `output` and `errors`. */
export function capturedTerminals(shown: Shown = {}): Terminals & { readonly printed: () => Printed } {
  const [output, errors] = [new CapturedText(shown), new CapturedText(shown)]
  return {
    out: terminalOf(output),
    err: terminalOf(errors),
    printed: () => ({ output: String(output), errors: String(errors) }),
  }
}

/** What a command printed. */
export interface Printed {
  readonly output: string
  readonly errors: string
}
