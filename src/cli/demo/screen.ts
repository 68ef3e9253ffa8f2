import { type Row, WAITING } from './rows.ts'
import { rowLine, tableLines } from './table.ts'

/** Where the demo writes: standard output, or a buffer in a test. */
export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

/** Shows the state of the resources repeatedly. */
export interface Screen {
  /** `rows`: always the same resources. `elapsedMs`: time since the resources were applied. */
  show(rows: readonly Row[], elapsedMs: number): void
}

/** A table redrawn in place if there is a terminal high enough for it; otherwise a line for each change. */
export function createScreen(output: Output, count: number): Screen {
  const fits = output.rows === undefined || count + 2 <= output.rows
  return output.isTTY === true && fits ? new LiveTable(output) : new ChangeLines(output)
}

const FALLBACK_COLUMNS = 120

class LiveTable implements Screen {
  readonly #output: Output
  #drawn = 0

  constructor(output: Output) {
    this.#output = output
  }

  show(rows: readonly Row[]): void {
    const lines = tableLines(rows, this.#output.columns ?? FALLBACK_COLUMNS)
    // Move up to the table's first line, then rewrite each line, cleared to its end.
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`
    this.#output.write(`${up}\r${lines.map((line) => `${line}\u001b[K\n`).join('')}`)
    this.#drawn = lines.length
  }
}

class ChangeLines implements Screen {
  readonly #output: Output
  /** The last line of each row: two namespaces may have resources of one name. */
  readonly #shown = new Map<number, string>()

  constructor(output: Output) {
    this.#output = output
  }

  show(rows: readonly Row[], elapsedMs: number): void {
    const time = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(7)
    for (const [index, row] of rows.entries()) {
      const line = rowLine(row)
      const before = this.#shown.get(index)
      // A resource that is not known yet is not worth a line.
      if (before === line || (before === undefined && row.state === WAITING)) continue
      this.#shown.set(index, line)
      this.#output.write(`${time}  ${line}\n`)
    }
  }
}
